"""The report of an audit as one HTML file that needs nothing else, not even a network."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from veilmap.files import OPEN, PRIVATE, write_whole
from veilmap.report.frame.frame import framed
from veilmap.report.frame.policy import tile_origin
from veilmap.report.page import assets
from veilmap.report.page.content import Content
from veilmap.report.page.encoding import script_json
from veilmap.report.page.payload import payload


def write_page(content: Content, path: str | Path, *, tiles: str | None = None) -> None:
    """Write the report; with ``tiles``, a URL template, the map asks that server for a background.

    Without, the page makes no request at all.
    """
    write_whole(Path(path), page_html(content, tiles).encode(), page_mode(content))


def page_mode(content: Content) -> int:
    """A page with a map has positions in it."""
    return OPEN if content.ground is None else PRIVATE


def page_html(content: Content, tiles: str | None = None) -> str:
    """The page as text; every string of the content is escaped."""
    scripts = [assets.script()] if content.ground is None else [assets.leaflet(), assets.script()]
    host = None if tiles is None else tile_origin(tiles).partition("://")[2].removeprefix("*.")
    return framed(
        assets.template(),
        assets.style(),
        scripts,
        tiles=tiles,
        title=content.title,
        kind="audit",
        content=content,
        tile_host=host,
        leaflet_licence=assets.leaflet_licence(),
        payload=script_json(payload(content, tiles)),
        in_words=_in_words,
    )


def _in_words(fact: Any) -> str:
    if isinstance(fact, Mapping):
        return "; ".join(f"{name}: {_in_words(each)}" for name, each in fact.items()) or "none"
    return f"{fact:,}" if isinstance(fact, int) else str(fact)
