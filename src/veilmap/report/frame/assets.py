"""Styles and scripts: those of all pages first, then a page's own, which build on them."""

from importlib.resources import files
from importlib.resources.abc import Traversable

_FOLDER = files(__package__) / "assets"
_STYLES = ("palette", "page", "parts", "tables", "print")
_SCRIPTS = ("elements", "theme", "copying")


def style(*own: str) -> str:
    """All styles as one."""
    return "\n".join([*(text(_FOLDER, f"styles/{name}.css") for name in _STYLES), *own])


def script(*own: str) -> str:
    """All scripts in one scope, so that nothing of theirs is global."""
    parts = "\n".join([*(text(_FOLDER, f"scripts/{name}.js") for name in _SCRIPTS), *own])
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


def frame() -> str:
    """The template around every page, for Jinja."""
    return text(_FOLDER, "frame.html.jinja")


def text(folder: Traversable, name: str) -> str:
    """A file of a package."""
    return folder.joinpath(name).read_text(encoding="utf-8")
