"""What a server learns about its nodes, in words."""

from collections.abc import Iterator

from veilmap.flower.campaign import Campaign


def what_the_server_sees(campaign: Campaign) -> Iterator[str]:
    """The sentences for the report of a run."""
    yield "which nodes are connected, from which address, and when each answers"
    if campaign.secure_aggregation:
        yield "of a round the weighted sum of all updates and the number of points together"
        yield "neither anybody's update nor anybody's number of points, nor who measured at all"
        yield (
            "with the sum every attack still works as on one user with everybody's points, and "
            "where one node alone measured it is that node's update: veilmap attack RUN"
        )
        yield (
            "a server that relays false keys, or that runs all other nodes itself, sees the "
            "remaining update"
        )
    else:
        yield "of every round each node's update, the number of points in it, and who sent none"
        yield "whatever an attack makes of the updates: veilmap attack RUN"
    yield "of a node that keeps out, which of its demands was not met"
    yield "no measurement and no position"
