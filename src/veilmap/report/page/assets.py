"""The audit's own files: styles in the order in which they build on each other, and scripts."""

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


def style() -> str:
    """All styles as one."""
    return assets.style(*(_text(name) for name in _STYLES))


def leaflet() -> str:
    """The library of the map, without the address of a file that is not in the page."""
    return _text(f"{_LEAFLET}/leaflet.js").partition("//# sourceMappingURL")[0]


def leaflet_licence() -> str:
    """It asks to go with every copy."""
    return _text(f"{_LEAFLET}/LICENSE")


def script() -> str:
    """All our scripts; ``main.js`` starts the others, whose order does not matter."""
    names = {each.name for each in (_FOLDER / "scripts").iterdir() if each.name.endswith(".js")}
    ordered = [*sorted(names - {"main.js"}), "main.js"]
    return assets.script(*(_text(f"scripts/{name}") for name in ordered))


def template() -> str:
    """The page itself, for Jinja."""
    return _text("page.html.jinja")


def _text(name: str) -> str:
    return assets.text(_FOLDER, name)
