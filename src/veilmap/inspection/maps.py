"""Dot maps side by side: frames, and dots that stand for millions of points."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from veilmap.area import Area
from veilmap.canvas import as_written, colour_range, fitted_sheet
from veilmap.geo import Floats
from veilmap.inspection.labels import shortened
from veilmap.measurements import Measurements
from veilmap.wording import counted

# Of the distinct places along each axis; a few far ones would shrink all others to a spot.
_STRAY_SHARE = 0.005
_LEAST_SIDE_M = 200.0
_WIDEST = 1.8  # a frame's longer side over its shorter
_MARGIN = 0.04
_DOTS_PER_SIDE = 400
_COLUMNS = 4
_PANEL = 3.2  # the longer side of a map, in inches
_TITLES, _LABELS, _COLOUR_BAR = 0.7, 0.9, 0.9  # room for them, in inches
_NARROWEST = 6.0


@dataclass(frozen=True)
class MapPanel:
    """One map: dots in metres from the centre, coloured by the mean RSRP of their points."""

    title: str
    frame: Area
    xy_m: Floats
    rsrp_dbm: Floats
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


def frame_around(xy_m: Floats, widest: float = _WIDEST) -> Area:
    """A rectangle that holds all points, or nearly all where a few lie far away."""
    places = np.unique(xy_m[:, 0] + 1j * xy_m[:, 1])
    x_m, y_m = _bounds(places.real), _bounds(places.imag)
    sides_m = np.maximum([np.ptp(x_m), np.ptp(y_m)], _LEAST_SIDE_M)
    sides_m = np.maximum(sides_m, sides_m.max() / widest) * (1 + 2 * _MARGIN)
    low_m = np.array([x_m.mean(), y_m.mean()]) - sides_m / 2
    return Area.around(np.array([low_m, low_m + sides_m]))


def _bounds(along_m: Floats) -> Floats:
    ends = np.array([along_m.min(), along_m.max()])
    most = np.quantile(along_m, [_STRAY_SHARE, 1 - _STRAY_SHARE])
    return most if np.ptp(ends) > 2 * np.ptp(most) > 0 else ends


def dots(xy_m: Floats, rsrp_dbm: Floats, frame: Area) -> tuple[Floats, Floats]:
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
    return MapPanel(
        title=title,
        frame=Area.around(frame.corners_m - middle_m),
        xy_m=dot_xy_m - middle_m,
        rsrp_dbm=dot_dbm,
        points=len(data),
        outside=int((~inside).sum()),
    )


def _range_dbm(data: Measurements) -> tuple[float, float]:
    """Without the outermost hundredths, which would use up the colour scale."""
    low, high = np.quantile(data.table["rsrp_dbm"].to_numpy(), [0.01, 0.99])
    return float(low), float(high)


def draw_maps(maps: Maps, data: Measurements, heading: str) -> Figure:
    """All maps on one sheet, with one colour bar."""
    columns = min(len(maps.panels), _COLUMNS)
    rows = ceil(len(maps.panels) / columns)
    figure = fitted_sheet(_sheet_size(maps.panels[0], columns, rows))
    grid = figure.subplots(rows, columns, squeeze=False)
    # Large enough to be seen if few, small enough not to overlap if many.
    most = max(len(panel.xy_m) for panel in maps.panels)
    size = float(np.clip(20_000 / max(most, 1), 3.0, 20.0))  # in square points
    colours = Normalize(*colour_range(*maps.range_dbm))
    for axes, panel in zip(grid.flat, maps.panels, strict=False):
        x_km, y_km = panel.xy_m.T / 1000
        axes.scatter(x_km, y_km, size, panel.rsrp_dbm, norm=colours, cmap="viridis", linewidths=0)
        _label(axes, panel)
    for axes in grid.flat[len(maps.panels) :]:
        axes.set_axis_off()
    scale = ScalarMappable(colours, "viridis")
    figure.colorbar(scale, ax=grid, label="RSRP in dBm", extend="both", aspect=15 * rows + 5)
    counts = ((len(data), "measurement"), (len(data.users), "user"), (len(data.cells), "cell"))
    facts = ", ".join(counted(*each) for each in counts)
    figure.suptitle(f"{heading}\n{as_written(shortened(data.source, 40))}: {facts}", fontsize=11)
    return figure


def _sheet_size(panel: MapPanel, columns: int, rows: int) -> tuple[float, float]:
    """In inches; all maps of a sheet have the shape of the first."""
    scale = _PANEL / max(panel.frame.width_m, panel.frame.height_m)
    wide, high = panel.frame.width_m * scale, panel.frame.height_m * scale
    return (
        max(columns * (wide + _LABELS) + _COLOUR_BAR, _NARROWEST),
        rows * (high + _LABELS) + _TITLES,
    )


def _label(axes: Axes, panel: MapPanel) -> None:
    frame = panel.frame
    facts = counted(panel.points, "measurement")
    if panel.outside:
        facts += f", {panel.outside:,} outside the frame"
    axes.set_title(f"{as_written(panel.title)}\n{facts}", fontsize=9)
    axes.set_xlim(frame.x_min_m / 1000, frame.x_max_m / 1000)
    axes.set_ylim(frame.y_min_m / 1000, frame.y_max_m / 1000)
    axes.set_aspect("equal")
    step_km = round_step(max(frame.width_m, frame.height_m) / 1000)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MultipleLocator(step_km))
    axes.set_xlabel("km east of the middle", fontsize=8)
    axes.set_ylabel("km north of the middle", fontsize=8)
    axes.tick_params(labelsize=8)


def round_step(side_km: float) -> float:
    """The tick step: the smallest of 1, 2, 5, 10 … that gives at most five intervals."""
    power = 10.0 ** floor(log10(side_km / 5))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= side_km / 5)
