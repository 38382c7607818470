"""The audit's own files: styles and scripts, in the order in which they build on each other."""

from functools import cache
from importlib.resources import files

from veilmap.report.frame import assets

_FOLDER = files(__package__) / "assets"
_LEAFLET = "vendor/leaflet-1.9.4"

_STYLES = (
    f"{_LEAFLET}/leaflet.css",
    "styles/sorting.css",
    "styles/charts.css",
    "styles/map.css",
    "styles/audit_print.css",
)
_SCRIPTS = (
    "figures",
    "colours",
    "decoding",
    "selection",
    "table",
    "configurations",
    "downloads",
    "scales",
    "label_places",
    "chart",
    "tradeoff",
    "round_charts",
    "costs",
    "canvas_layer",
    "point_layers",
    "heat_layer",
    "found_layer",
    "home_layer",
    "signal_layer",
    "switches",
    "caption",
    "map",
    "round_control",
    "main",
)


@cache
def style() -> str:
    """All styles as one."""
    return assets.style(*(_text(name) for name in _STYLES))


@cache
def leaflet() -> str:
    """The library of the map, without the address of a file that is not in the page."""
    return _text(f"{_LEAFLET}/leaflet.js").partition("//# sourceMappingURL")[0]


@cache
def leaflet_licence() -> str:
    """It asks to go with every copy."""
    return _text(f"{_LEAFLET}/LICENSE")


@cache
def script() -> str:
    """All our scripts."""
    return assets.script(*(_text(f"scripts/{name}.js") for name in _SCRIPTS))


@cache
def template() -> str:
    """The page itself, for Jinja."""
    return _text("page.html.jinja")


def _text(name: str) -> str:
    return assets.text(_FOLDER, name)
