"""From a server's settings to a campaign: values that only data could give must be set."""

from collections.abc import Iterator
from typing import cast

import numpy as np

from veilmap.errors import UserError, refuse
from veilmap.flower.campaign import Campaign, unknown_to_nodes
from veilmap.geo import Projection
from veilmap.maps.families import is_own
from veilmap.rounds import parse_interval
from veilmap.sources.timestamps import parse_moment
from veilmap.study.settings import RunSettings

Box = tuple[float, float, float, float]


def campaign_for(
    settings: RunSettings, *, first: str, rounds: int, secure_aggregation: bool = False
) -> Campaign:
    """The campaign of a server without its users' data.

    Args:
        settings: as for a run in one process; its test split plays no part.
        first: when round 1 begins, such as 2024-01-01 or 2024-01-01T08:00+02:00; in UTC unless it
            has an offset.
        rounds: R, the number of rounds.
        secure_aggregation: whether the server sees sums only.
    """
    refuse(_faults(settings))
    task = settings.task
    west, south, east, north = cast(Box, task.area)
    projection = Projection.utm_for(np.array([south, north]), np.array([west, east]))
    offset = task.label_offset_dbm
    return Campaign(
        cell=cast(str, task.cell),
        area=projection.area_of_box(west, south, east, north),
        epsg=projection.epsg,
        interval_s=parse_interval(task.interval),
        first_s=parse_moment(first, "UTC").timestamp(),
        rounds=rounds,
        label_offset_dbm=0.0 if isinstance(offset, str) else offset,
        map=settings.map,
        training=settings.training,
        defence=settings.protection.texts,
        secure_aggregation=secure_aggregation,
        seed=task.seed,
    )


def _faults(settings: RunSettings) -> Iterator[UserError]:
    """The settings that a simulation takes from all data, and a server cannot."""
    task, protection = settings.task, settings.protection
    if task.cell is None:
        yield UserError("the server does not know the cells; name one with --cell")
    if task.area is None:
        yield UserError("the area must be public; give it with --area WEST SOUTH EAST NORTH")
    if task.label_offset_dbm == "mean":
        yield UserError(
            "the server does not know the mean of the signal; give a public guess with "
            "--label-offset -95, or --label-offset none"
        )
    if task.scaler != "area":
        yield UserError("a scaler that is fitted needs all users' positions; leave out --scaler")
    if not is_own(settings.map):
        yield unknown_to_nodes(settings.map)
    if protection.defended:
        yield UserError("nodes decide for themselves; leave out --defended")
    if protection.oracle:
        yield UserError("nodes have no sample of others' data; choose learns_from=past")
