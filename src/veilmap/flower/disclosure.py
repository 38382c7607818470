"""What a server learns about its nodes, in sentences."""

from collections.abc import Iterator

from veilmap.federation.map_family import Additive
from veilmap.flower.campaign import Campaign


def what_the_server_sees(campaign: Campaign) -> Iterator[str]:
    """The sentences for the report of a run."""
    yield "The server sees which nodes are connected, from which address, and when each answers."
    yield from _SENTENCES[isinstance(campaign.map, Additive), campaign.secure_aggregation]
    if campaign.secure_aggregation:
        yield (
            "A server that relays false keys, or that runs all other nodes itself, sees the "
            "remaining update."
        )
    yield "The server sees, if a node declines, which of its requirements was not met."
    if isinstance(campaign.map, Additive):
        yield "The server does not see measurements, positions within a square, or times."
    else:
        yield "The server does not see measurements or positions."


# By whether messages are only added up, and whether in a secure sum.
_SENTENCES = {
    (False, False): (
        "The server sees each node's update in every round, its number of points, and which nodes "
        "sent none.",
        "Attacks can recover positions from the updates. Try it: veilmap attack RUN",
    ),
    (False, True): (
        "The server sees the weighted sum of a round's updates and their number of points.",
        "The server does not see any single update, its number of points, or which nodes measured "
        "at all.",
        "Every attack works on the sum as on one user with all points; if only one node measured, "
        "the sum is that node's update. Try it: veilmap attack RUN",
    ),
    (True, False): (
        "The server sees which squares each node visited in every round, with the signal there, "
        "and which nodes sent none.",
        "No attack is needed to place a node to a square. Try it: veilmap attack RUN",
    ),
    (True, True): (
        "The server sees in every round which squares were visited, by how many nodes, and the sum "
        "of the signals there.",
        "The server does not see which node visited a square, or which nodes measured at all.",
        "Squares that only one node visited show its signals, and together its path, without its "
        "name; if only one node measured, the sum is its message. Try it: veilmap attack RUN",
    ),
}
