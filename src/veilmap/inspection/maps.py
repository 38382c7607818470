"""Measurements prepared for maps: frames, and dots that stand for millions of points."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from veilmap.area import Area
from veilmap.measurements import Measurements
from veilmap.wording import counted

# Of the distinct places along each axis; a few far ones would shrink all others to a spot.
_STRAY_SHARE = 0.005
_LEAST_SIDE_M = 200.0
_WIDEST = 1.8  # a frame's longer side over its shorter
_MARGIN = 0.04
_DOTS_PER_SIDE = 400


@dataclass(frozen=True)
class MapPanel:
    """One map: dots in metres from the centre, coloured by the mean RSRP of their points."""

    title: str
    frame: Area
    xy_m: NDArray[np.float64]
    rsrp_dbm: NDArray[np.float64]
    points: int
    outside: int


@dataclass(frozen=True)
class Maps:
    """Maps that share their centre and colour scale."""

    panels: tuple[MapPanel, ...]
    range_dbm: tuple[float, float]


def overview(data: Measurements, most_users: int = 2) -> Maps:
    """All users, then the densest ones, all in one frame (fig:density_maps_uci)."""
    if len(data.users) == 1:
        return each_user(data)
    frame = frame_around(data.xy_m)
    everybody = _panel(f"all {counted(len(data.users), 'user')}", data, frame, frame)
    densest = [_panel(title, mine, frame, frame) for title, mine in _densest(data, most_users)]
    return Maps((everybody, *densest), _range_dbm(data))


def each_user(data: Measurements, most_users: int = 8) -> Maps:
    """The densest users, each in a square frame of its own (fig:radio_cell_x455_user_stats)."""
    whole = frame_around(data.xy_m)
    panels = [
        _panel(title, mine, frame_around(mine.xy_m, widest=1.0), whole)
        for title, mine in _densest(data, most_users)
    ]
    return Maps(tuple(panels), _range_dbm(data))


def _densest(data: Measurements, most_users: int) -> Iterator[tuple[str, Measurements]]:
    for user in data.users[:most_users]:
        yield f"user {user}", data.keep(pl.col("user") == user)


def frame_around(xy_m: NDArray[np.float64], widest: float = _WIDEST) -> Area:
    """A rectangle that holds all points, or nearly all where a few lie far away."""
    places = np.unique(xy_m[:, 0] + 1j * xy_m[:, 1])
    x_m, y_m = _bounds(places.real), _bounds(places.imag)
    sides_m = np.maximum([np.ptp(x_m), np.ptp(y_m)], _LEAST_SIDE_M)
    sides_m = np.maximum(sides_m, sides_m.max() / widest) * (1 + 2 * _MARGIN)
    low_m = np.array([x_m.mean(), y_m.mean()]) - sides_m / 2
    return Area.around(np.array([low_m, low_m + sides_m]))


def _bounds(along_m: NDArray[np.float64]) -> NDArray[np.float64]:
    ends = np.array([along_m.min(), along_m.max()])
    most = np.quantile(along_m, [_STRAY_SHARE, 1 - _STRAY_SHARE])
    return most if np.ptp(ends) > 2 * np.ptp(most) > 0 else ends


def dots(
    xy_m: NDArray[np.float64], rsrp_dbm: NDArray[np.float64], frame: Area
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The means of position and signal over small squares, no finer than the eye resolves."""
    side_m = max(frame.width_m, frame.height_m) / _DOTS_PER_SIDE
    column, row = np.floor((xy_m - [frame.x_min_m, frame.y_min_m]) / side_m).T
    _, square, count = np.unique(column + 1j * row, return_inverse=True, return_counts=True)
    means = [np.bincount(square, values) / count for values in (*xy_m.T, rsrp_dbm)]
    return np.column_stack(means[:2]), means[2]


def _panel(title: str, data: Measurements, frame: Area, whole: Area) -> MapPanel:
    """The dots in ``frame``, relative to the centre of ``whole``."""
    xy_m, middle_m = data.xy_m, whole.centre_m
    inside = frame.contains(xy_m)
    dot_xy_m, dot_dbm = dots(xy_m[inside], data.table["rsrp_dbm"].to_numpy()[inside], frame)
    corners_m = np.array([[frame.x_min_m, frame.y_min_m], [frame.x_max_m, frame.y_max_m]])
    return MapPanel(
        title=title,
        frame=Area.around(corners_m - middle_m),
        xy_m=dot_xy_m - middle_m,
        rsrp_dbm=dot_dbm,
        points=len(data),
        outside=int((~inside).sum()),
    )


def _range_dbm(data: Measurements) -> tuple[float, float]:
    """Without the outermost hundredths, which would use up the colour scale."""
    low, high = np.quantile(data.table["rsrp_dbm"].to_numpy(), [0.01, 0.99])
    return float(low), float(high)
