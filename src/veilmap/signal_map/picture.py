"""A picture of the map, with colour bar and scale bar, that map software can also place."""

from io import BytesIO

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from veilmap.signal_map.raster import Raster

DPI = 150
_LONGER_SIDE_INCHES = 7.0
_MARGIN_INCHES = {"left": 0.25, "right": 1.25, "top": 0.75, "bottom": 0.25}


def picture(raster: Raster, title: str) -> tuple[bytes, str]:
    """The PNG's bytes and its world file's text, which places the picture in metres."""
    scale = _LONGER_SIDE_INCHES / max(raster.width_m, raster.height_m)
    # A strip of an area still gets a readable picture.
    wide, high = (max(side * scale, 1.5) for side in (raster.width_m, raster.height_m))
    figure, axes = _figure(wide, high)
    extent = (
        raster.x_min_m,
        raster.x_min_m + raster.width_m,
        raster.y_max_m - raster.height_m,
        raster.y_max_m,
    )
    image = axes.imshow(raster.rsrp_dbm, extent=extent, cmap="viridis", aspect="auto")
    axes.set_axis_off()
    _draw_scale_bar(axes, raster)
    height = figure.get_figheight()
    bar = figure.add_axes(
        (
            (_MARGIN_INCHES["left"] + wide + 0.2) / figure.get_figwidth(),
            _MARGIN_INCHES["bottom"] / height,
            0.18 / figure.get_figwidth(),
            high / height,
        )
    )
    figure.colorbar(image, cax=bar, label="predicted RSRP in dBm")
    figure.text(_MARGIN_INCHES["left"] / figure.get_figwidth(), 1 - 0.3 / height, title,
                fontsize=12, weight="bold", va="center")  # fmt: skip
    figure.text(_MARGIN_INCHES["left"] / figure.get_figwidth(), 1 - 0.55 / height,
                f"{raster.resolution_m:g} m per pixel, EPSG:{raster.projection.epsg}",
                fontsize=9, color="0.35", va="center")  # fmt: skip
    file = BytesIO()
    figure.savefig(file, format="png", dpi=DPI)
    return file.getvalue(), _world_file(raster, wide, high)


def _figure(wide: float, high: float) -> tuple[Figure, Axes]:
    """A figure whose axes are exactly ``wide`` x ``high`` inches, inside the margins."""
    margin = _MARGIN_INCHES
    width = wide + margin["left"] + margin["right"]
    height = high + margin["top"] + margin["bottom"]
    figure = Figure(figsize=(width, height), dpi=DPI)
    FigureCanvasAgg(figure)
    box = (margin["left"] / width, margin["bottom"] / height, wide / width, high / height)
    return figure, figure.add_axes(box)


def _draw_scale_bar(axes: Axes, raster: Raster) -> None:
    choices = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
    length_m = max((each for each in choices if each <= raster.width_m / 3), default=10)
    x, y = raster.x_min_m + 0.04 * raster.width_m, raster.y_max_m - 0.95 * raster.height_m
    thick = 0.012 * raster.height_m
    axes.add_patch(Rectangle((x, y), length_m, thick, facecolor="white", edgecolor="black", lw=0.8))
    text = f"{length_m:g} m" if length_m < 1000 else f"{length_m / 1000:g} km"
    backing = {"facecolor": "white", "alpha": 0.7, "lw": 0, "pad": 1.5}
    axes.text(
        x + length_m / 2, y + 2 * thick, text, ha="center", va="bottom", fontsize=9, bbox=backing
    )


def _world_file(raster: Raster, wide: float, high: float) -> str:
    """Metres per pixel and the position of the upper left pixel's centre (ESRI world file)."""
    x_step = raster.width_m / (wide * DPI)
    y_step = raster.height_m / (high * DPI)
    left = raster.x_min_m + (0.5 - _MARGIN_INCHES["left"] * DPI) * x_step
    top = raster.y_max_m - (0.5 - _MARGIN_INCHES["top"] * DPI) * y_step
    return "".join(f"{value:.9f}\n" for value in (x_step, 0, 0, -y_step, left, top))
