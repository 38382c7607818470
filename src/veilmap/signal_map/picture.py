"""A picture of the map, with colour bar and scale bar, that map software can also place."""

from dataclasses import dataclass

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from numpy.typing import NDArray

from veilmap.canvas import DPI, as_written, blank_sheet, colour_range, png, scale_bar
from veilmap.signal_map.raster import Raster

LEFT, RIGHT, TOP, BOTTOM = 0.25, 1.25, 0.75, 0.45  # margins in inches, RIGHT for a colour bar
_LONGER_SIDE, _SHORTEST_SIDE = 6.0, 1.5  # of a map, in inches
_NO_DATA = "0.88"
_VISITED = "visited square"


@dataclass(frozen=True)
class _Sheet:
    """Maps of ``wide`` x ``high`` inches side by side, each with its colour bar."""

    wide: float
    high: float
    maps: int

    @property
    def size(self) -> tuple[float, float]:
        return LEFT + self.maps * (self.wide + RIGHT), self.high + TOP + BOTTOM

    def left(self, number: int) -> float:
        """Where a map begins, in inches from the paper's edge."""
        return LEFT + number * (self.wide + RIGHT)

    def box(self, left: float, wide: float) -> tuple[float, float, float, float]:
        """A box as high as the map, ``left`` inches from the paper's edge, in its fractions."""
        width, height = self.size
        return left / width, BOTTOM / height, wide / width, self.high / height


def picture(raster: Raster, title: str) -> tuple[bytes, str]:
    """The PNG's bytes and its world file's text, which places the first map in metres.

    Beside the signal stands its uncertainty, where the map knows it.
    """
    scale = _LONGER_SIDE / max(raster.width_m, raster.height_m)
    wide, high = (
        max(side_m * scale, _SHORTEST_SIDE) for side_m in (raster.width_m, raster.height_m)
    )
    sheet = _Sheet(wide, high, maps=1 if raster.std_db is None else 2)
    figure = blank_sheet(sheet.size)
    low, high = colour_range(*(raster.range_dbm or (0.0, 0.0)))
    _draw(figure, sheet, 0, raster, raster.rsrp_dbm, "predicted RSRP in dBm", "viridis", low, high)
    if raster.std_db is not None:
        known_db = raster.std_db[~np.isnan(raster.std_db)]
        span_db = (float(known_db.min()), float(known_db.max())) if len(known_db) else (0.0, 1.0)
        label = "uncertainty in dB (± holds 68 %)"
        _draw(figure, sheet, 1, raster, raster.std_db, label, "magma_r", *span_db)
    _write_title(figure, sheet, title, raster)
    _write_legend(figure, raster)
    return png(figure), _world_file(raster, sheet)


def _draw(
    figure: Figure,
    sheet: _Sheet,
    number: int,
    raster: Raster,
    values: NDArray[np.float32],
    label: str,
    colours: str,
    low: float,
    high: float,
) -> None:
    """A map with its colour bar; pixels without data are grey, visited squares dotted."""
    right_m, bottom_m = raster.x_min_m + raster.width_m, raster.y_max_m - raster.height_m
    extent = (raster.x_min_m, right_m, bottom_m, raster.y_max_m)
    axes = figure.add_axes(sheet.box(sheet.left(number), sheet.wide))
    axes.imshow(np.zeros((1, 1)), extent=extent, cmap=ListedColormap([_NO_DATA]), aspect="auto")
    image = axes.imshow(values, extent=extent, cmap=colours, aspect="auto", vmin=low, vmax=high)
    if raster.visits is not None:
        _draw_visits(axes, sheet, raster, raster.visits)
    axes.set_axis_off()
    _draw_scale_bar(axes, raster)
    bar = figure.add_axes(sheet.box(sheet.left(number) + sheet.wide + 0.15, 0.18))
    figure.colorbar(image, cax=bar, label=label)


def _draw_visits(axes: Axes, sheet: _Sheet, raster: Raster, visits: NDArray[np.int64]) -> None:
    """A dot in each pixel of a visited square, a third of the pixel wide."""
    row, column = np.nonzero(visits)
    x_m = raster.x_min_m + (column + 0.5) * raster.resolution_m
    y_m = raster.y_max_m - (row + 0.5) * raster.resolution_m
    pixel_points = 72 * sheet.wide / raster.rsrp_dbm.shape[1]
    size = min(max(pixel_points / 3, 0.8), 4) ** 2
    axes.scatter(x_m, y_m, s=size, c="white", edgecolors="black", linewidths=0.3)


def _write_legend(figure: Figure, raster: Raster) -> None:
    """What dots and grey mean, where there are some."""
    marks: list[Artist] = []
    if raster.visits is not None and raster.visits.any():
        dot = Line2D([], [], color="white", markeredgecolor="black", linestyle="none")
        dot.set(marker="o", markersize=4, markeredgewidth=0.5, label=_VISITED)
        marks.append(dot)
    if raster.known_share < 1:
        share = f"{1 - raster.known_share:.0%} of the area"
        marks.append(Patch(facecolor=_NO_DATA, label=f"no data: too far from any visit, {share}"))
    if marks:
        width, height = figure.get_size_inches()
        corner = (LEFT / width, 0.08 / height)
        figure.legend(
            handles=marks, loc="lower left", bbox_to_anchor=corner, ncols=2, frameon=False,
            fontsize=9, borderaxespad=0, borderpad=0, handletextpad=0.3,
        )  # fmt: skip


def _write_title(figure: Figure, sheet: _Sheet, title: str, raster: Raster) -> None:
    width, height = sheet.size
    span = (
        "no data" if raster.range_dbm is None else "{:.1f} to {:.1f} dBm".format(*raster.range_dbm)
    )
    facts = f"{span}, {raster.resolution_m:g} m per pixel, EPSG:{raster.projection.epsg}"
    figure.text(
        LEFT / width, 1 - 0.3 / height, as_written(title), fontsize=12, weight="bold", va="center"
    )
    figure.text(LEFT / width, 1 - 0.55 / height, facts, fontsize=9, color="0.35", va="center")


def _draw_scale_bar(axes: Axes, raster: Raster) -> None:
    length_m, text = scale_bar(raster.width_m)
    x, y = raster.x_min_m + 0.04 * raster.width_m, raster.y_max_m - 0.95 * raster.height_m
    thick = 0.012 * raster.height_m
    axes.add_patch(Rectangle((x, y), length_m, thick, facecolor="white", edgecolor="black", lw=0.8))
    backing = {"facecolor": "white", "alpha": 0.7, "lw": 0, "pad": 1.5}
    axes.text(
        x + length_m / 2, y + 2 * thick, text, ha="center", va="bottom", fontsize=9, bbox=backing
    )


def _world_file(raster: Raster, sheet: _Sheet) -> str:
    """Metres per pixel and the position of the upper left pixel's centre (ESRI world file)."""
    x_step, y_step = raster.width_m / (sheet.wide * DPI), raster.height_m / (sheet.high * DPI)
    left_m = raster.x_min_m + (0.5 - LEFT * DPI) * x_step
    top_m = raster.y_max_m - (0.5 - TOP * DPI) * y_step
    return "".join(f"{value:.9f}\n" for value in (x_step, 0, 0, -y_step, left_m, top_m))
