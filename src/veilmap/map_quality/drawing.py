"""The picture of a comparison: measured, predicted, error and uncertainty, and the curve."""

from collections.abc import Mapping, Sequence
from itertools import cycle

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from veilmap.canvas import as_written, colour_range, fitted_sheet, scale_bar
from veilmap.map_quality.learning_curve import draw_curve
from veilmap.map_quality.narrative import called
from veilmap.map_quality.rows import CurvePoint, QualityRow
from veilmap.map_quality.sheet import MapPanels, Sheet, Values
from veilmap.map_quality.summary import summarise
from veilmap.report.sheet import COLOURS, LABEL, TICK, TITLE
from veilmap.square_grid import SquareGrid

_PANEL = 2.7  # the longer side of a map, in inches
_LABELS, _HEAD, _BARS = 0.5, 0.6, 0.6  # room for them, in inches
_NARROWEST = 1.9
_NOTHING = "0.9"  # where nothing was measured
_LEAST_ERROR_DB = 10.0
_SIGNAL, _ERROR, _DOUBT = "viridis", "RdBu_r", "magma_r"


def draw_sheet(
    sheet: Sheet, rows: Sequence[QualityRow], curve: Sequence[CurvePoint], title: str
) -> Figure:
    """A line of panels for central kriging, then one for each federated map."""
    wide, high = _panel_size(sheet.grid)
    lines = len(sheet.maps)
    size = (4 * (wide + 0.15), lines * (high + _LABELS) + _HEAD + _BARS)
    figure = fitted_sheet(size, pad=0.04)
    grid = figure.subplots(lines, 4, squeeze=False)
    figure.suptitle(as_written(title) + "\n", fontsize=TITLE + 1, x=0.01, ha="left", weight="bold")
    scales = _Scales(sheet)
    colours_of = dict(
        zip(dict.fromkeys(point.predictor for point in curve), cycle(COLOURS), strict=False)
    )
    _first_column(grid[:, 0], sheet, scales)
    if colours_of and lines > 1:
        _draw_curve(grid[1, 0], rows, curve, colours_of, high / wide)
    for axes, panels in zip(grid[:, 1:], sheet.maps, strict=True):
        colour = colours_of.get(panels.predictor, "black")
        _draw_map(axes, panels, sheet.grid, rows, scales, colour)
    bars = (
        (grid[:, :2], scales.signal, _SIGNAL, "RSRP in dBm", "both"),
        (grid[:, 2:3], scales.error, _ERROR, "predicted − measured, in dB", "both"),
        (grid[:, 3:], scales.doubt, _DOUBT, "uncertainty, in dB", "max"),
    )
    for axes, scale, colours, label, extend in bars:
        bar = figure.colorbar(
            ScalarMappable(scale, colours), ax=axes, location="bottom", label=label,
            extend=extend, shrink=0.8 if axes.shape[1] == 1 else 0.55, aspect=22, pad=0.02,
        )  # fmt: skip
        bar.ax.tick_params(labelsize=TICK)
        bar.ax.xaxis.label.set_fontsize(LABEL)
        bar.outline.set_linewidth(0.4)
    return figure


class _Scales:
    """One scale of colours for each kind of panel, the same in all lines."""

    def __init__(self, sheet: Sheet) -> None:
        self.signal = Normalize(*colour_range(*_most(sheet.measured_dbm, 0.01, 0.99)))
        # Of central kriging: a bad map would make the errors of all others look small.
        reach = max(_most(np.abs(sheet.maps[0].error_db), 0, 0.95)[1], _LEAST_ERROR_DB)
        self.error = Normalize(-reach, reach)
        doubts = [each.std_db.ravel() for each in sheet.maps if each.std_db is not None]
        self.doubt = Normalize(0, max(_most(np.concatenate(doubts), 0, 0.99)[1], 1.0))


def _most(values: Values, low: float, high: float) -> tuple[float, float]:
    """The ends of the scale, without the outermost values, which would use it up."""
    known = values[np.isfinite(values)]
    ends = np.quantile(known, [low, high]) if len(known) else (0, 0)
    return float(ends[0]), float(ends[1])


def _panel_size(grid: SquareGrid) -> tuple[float, float]:
    scale = _PANEL / max(grid.width_m, grid.height_m)
    return max(grid.width_m * scale, _NARROWEST), grid.height_m * scale


def _first_column(column: np.ndarray, sheet: Sheet, scales: _Scales) -> None:
    """What was measured; below it there is room for the curve."""
    measured, *below = column
    _squares(measured, sheet.measured_dbm, sheet.grid, scales.signal, _SIGNAL)
    _title(measured, "measured", f"mean in squares of {sheet.grid.side_m:g} m")
    _scale_bar(measured, sheet.grid)
    for axes in below:
        axes.set_axis_off()


def _draw_curve(
    axes: Axes,
    rows: Sequence[QualityRow],
    curve: Sequence[CurvePoint],
    colours: Mapping[str, str],
    aspect: float,
) -> None:
    """As large as a map."""
    axes.set_axis_on()
    axes.set_box_aspect(aspect)
    draw_curve(axes, rows, curve, colours)
    _title(axes, "learning curve", "skill by place after each round")


def _draw_map(
    axes: np.ndarray,
    panels: MapPanels,
    grid: SquareGrid,
    rows: Sequence[QualityRow],
    scales: _Scales,
    colour: str,
) -> None:
    """The colour of the name is that of the map's learning curve."""
    predicted, error, doubt = axes
    own = [row for row in rows if row.predictor == panels.predictor]
    name = called(summarise(own)[0])
    first = own[0]
    _squares(predicted, panels.predicted_dbm, grid, scales.signal, _SIGNAL)
    _title(predicted, as_written(name), "predicted", colour)
    _squares(error, panels.error_db, grid, scales.error, _ERROR)
    skill = "" if first.skill_by_place is None else f", skill {first.skill_by_place:.2f}"
    _title(error, "error on the test data", f"by place {first.rmse_by_place_db:.1f} dB{skill}")
    if panels.std_db is None:
        doubt.set_axis_off()
        doubt.text(
            0.5, 0.5, "this map states\nno uncertainty", ha="center", va="center",
            transform=doubt.transAxes, fontsize=LABEL, color="0.45",
        )  # fmt: skip
    else:
        _squares(doubt, panels.std_db, grid, scales.doubt, _DOUBT)
        of_what = "± holds 68 % of reported medians" if panels.is_calibrated else "not calibrated"
        _title(doubt, "uncertainty", of_what)


def _squares(axes: Axes, values: Values, grid: SquareGrid, scale: Normalize, colours: str) -> None:
    extent = (0.0, grid.width_m, 0.0, grid.height_m)
    axes.set_facecolor(_NOTHING)
    axes.imshow(
        values, norm=scale, cmap=colours, origin="lower", extent=extent, interpolation="nearest"
    )
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set(color="0.7", linewidth=0.5)


def _title(axes: Axes, name: str, note: str, colour: str = "black") -> None:
    axes.set_title(name, fontsize=TITLE, weight="bold", loc="left", pad=14, color=colour)
    axes.annotate(
        note, (0, 1), (0, 4), xycoords="axes fraction", textcoords="offset points",
        fontsize=TICK, color="0.35",
    )  # fmt: skip


def _scale_bar(axes: Axes, grid: SquareGrid) -> None:
    length_m, text = scale_bar(grid.width_m)
    width_m, height_m = grid.width_m, grid.height_m
    x, y = 0.04 * width_m, 0.03 * height_m
    thick = 0.012 * max(width_m, height_m)
    axes.add_patch(Rectangle((x, y), length_m, thick, facecolor="black", linewidth=0))
    backing = {"facecolor": "white", "alpha": 0.9, "linewidth": 0, "pad": 1.0}
    axes.text(
        x + length_m / 2, y + 1.8 * thick, text, ha="center", va="bottom", fontsize=TICK,
        bbox=backing,
    )  # fmt: skip
