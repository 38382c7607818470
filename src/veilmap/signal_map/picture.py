"""A picture of the map, with colour bar and scale bar, that map software can also place."""

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from veilmap.canvas import DPI, as_written, blank_sheet, colour_range, png, scale_bar
from veilmap.signal_map.raster import Raster

LEFT, RIGHT, TOP, BOTTOM = 0.25, 1.25, 0.75, 0.25  # margins in inches
_LONGER_SIDE, _SHORTEST_SIDE = 7.0, 1.5  # of the map, in inches


@dataclass(frozen=True)
class _Sheet:
    """The sheet: a map of ``wide`` x ``high`` inches inside the margins."""

    wide: float
    high: float

    @property
    def size(self) -> tuple[float, float]:
        return self.wide + LEFT + RIGHT, self.high + TOP + BOTTOM

    def box(self, left: float, wide: float) -> tuple[float, float, float, float]:
        """A box as high as the map, ``left`` inches from the paper's edge, in its fractions."""
        width, height = self.size
        return left / width, BOTTOM / height, wide / width, self.high / height


def picture(raster: Raster, title: str) -> tuple[bytes, str]:
    """The PNG's bytes and its world file's text, which places the picture in metres."""
    scale = _LONGER_SIDE / max(raster.width_m, raster.height_m)
    sides = (max(side_m * scale, _SHORTEST_SIDE) for side_m in (raster.width_m, raster.height_m))
    sheet = _Sheet(*sides)
    figure = blank_sheet(sheet.size)
    axes = figure.add_axes(sheet.box(LEFT, sheet.wide))
    right_m, bottom_m = raster.x_min_m + raster.width_m, raster.y_max_m - raster.height_m
    extent = (raster.x_min_m, right_m, bottom_m, raster.y_max_m)
    low, high = colour_range(float(raster.rsrp_dbm.min()), float(raster.rsrp_dbm.max()))
    image = axes.imshow(
        raster.rsrp_dbm, extent=extent, cmap="viridis", aspect="auto", vmin=low, vmax=high
    )
    axes.set_axis_off()
    _draw_scale_bar(axes, raster)
    bar = figure.add_axes(sheet.box(LEFT + sheet.wide + 0.2, 0.18))
    figure.colorbar(image, cax=bar, label="predicted RSRP in dBm")
    _write_title(figure, sheet, title, raster)
    return png(figure), _world_file(raster, sheet)


def _write_title(figure: Figure, sheet: _Sheet, title: str, raster: Raster) -> None:
    width, height = sheet.size
    low, high = raster.rsrp_dbm.min(), raster.rsrp_dbm.max()
    facts = (
        f"{low:.1f} to {high:.1f} dBm, {raster.resolution_m:g} m per pixel, "
        f"EPSG:{raster.projection.epsg}"
    )
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
