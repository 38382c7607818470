"""Degenerate data, on which a run succeeds and nothing is learned."""

from collections.abc import Iterator

from veilmap.area import Area
from veilmap.study.prepare import Prepared

ONE_SIGNAL = (
    "the signal is the same in all measurements of the cell: a constant is exact, and there is no "
    "map to learn"
)
ONE_PLACE = (
    "the area is a single place: there is no map to learn, and the area alone reveals where its "
    "users were, without any attack"
)


def degenerate(prepared: Prepared) -> Iterator[str]:
    """What makes the figures of a run mean little."""
    if prepared.data.table["rsrp_dbm"].n_unique() == 1:
        yield ONE_SIGNAL
    if is_one_place(prepared.plan.area):
        yield ONE_PLACE


def is_one_place(area: Area) -> bool:
    """Whether it has neither width nor height."""
    return area.width_m == 0 and area.height_m == 0
