"""What a server learns about its nodes, in sentences."""

from collections.abc import Iterator

from veilmap.flower.campaign import Campaign


def what_the_server_sees(campaign: Campaign) -> Iterator[str]:
    """The sentences for the report of a run."""
    yield "The server sees which nodes are connected, from which address, and when each answers."
    if campaign.secure_aggregation:
        yield "The server sees the weighted sum of a round's updates and their number of points."
        yield (
            "The server does not see any single update, its number of points, or which nodes "
            "measured at all."
        )
        yield (
            "Every attack works on the sum as on one user with all points; if only one node "
            "measured, the sum is that node's update. Try it: veilmap attack RUN"
        )
        yield (
            "A server that relays false keys, or that runs all other nodes itself, sees the "
            "remaining update."
        )
    else:
        yield (
            "The server sees each node's update in every round, its number of points, and which "
            "nodes sent none."
        )
        yield "Attacks can recover positions from the updates. Try it: veilmap attack RUN"
    yield "The server sees, if a node declines, which of its requirements was not met."
    yield "The server does not see measurements or positions."
