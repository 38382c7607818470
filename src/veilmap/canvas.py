"""What all pictures share: figures without a window, reproducible files, escaped text."""

import warnings
from io import BytesIO
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

DPI = 150
_LEAST_SPAN_DB = 10.0
_SCALE_BARS_M = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)


def blank_sheet(size: tuple[float, float]) -> Figure:
    """An empty figure of this size in inches, outside pyplot: no window, no global state."""
    figure = Figure(figsize=size, dpi=DPI)
    FigureCanvasAgg(figure)
    return figure


def fitted_sheet(size: tuple[float, float], pad: float = 0.1) -> Figure:
    """An empty figure whose panels make room for their own labels, ``pad`` inches apart."""
    figure = blank_sheet(size)
    figure.set_layout_engine(ConstrainedLayoutEngine(w_pad=pad, h_pad=pad))
    return figure


def png(figure: Figure) -> bytes:
    """The figure as a PNG file."""
    return _saved(figure, "png")


def pdf(figure: Figure) -> bytes:
    """The figure as a PDF file, without the date, which would differ every time."""
    return _saved(figure, "pdf", metadata={"CreationDate": None})


def _saved(figure: Figure, kind: str, **options: Any) -> bytes:
    file = BytesIO()
    with warnings.catch_warnings():
        # Letters that the font lacks are drawn as boxes, which needs no warning.
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        figure.savefig(file, format=kind, dpi=DPI, **options)
    return file.getvalue()


def colour_range(low_dbm: float, high_dbm: float) -> tuple[float, float]:
    """At least ``_LEAST_SPAN_DB`` wide, so that a flat map looks flat."""
    missing = max(_LEAST_SPAN_DB - (high_dbm - low_dbm), 0)
    return low_dbm - missing / 2, high_dbm + missing / 2


def scale_bar(width_m: float) -> tuple[int, str]:
    """Length in metres and label of the scale bar for a map of this width."""
    length_m = max((each for each in _SCALE_BARS_M if each <= width_m / 3), default=10)
    return length_m, f"{length_m:g} m" if length_m < 1000 else f"{length_m / 1000:g} km"


def as_written(text: str) -> str:
    """Escape a name for matplotlib, so that dollar signs in it do not start a formula."""
    return text.replace("$", r"\$")
