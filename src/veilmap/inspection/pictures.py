"""The pictures of a measurement file, one PNG each."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

from veilmap.canvas import png
from veilmap.files import PRIVATE, write_whole
from veilmap.inspection.labels import labels
from veilmap.inspection.maps import draw_maps, each_user, overview
from veilmap.inspection.similarity import draw_similarity, similarity
from veilmap.inspection.top_cells import draw_top_cells, top_cells
from veilmap.measurements import Measurements


def write_pictures(data: Measurements, folder: Path) -> Iterator[Path]:
    """Draw and write all pictures; yields each path as soon as the file is written."""
    data = _shortly_named(data)
    for name, draw in PICTURES.items():
        path = folder / name
        write_whole(path, png(draw(data)), PRIVATE)
        yield path


def picture_of_data(name: str, data: Measurements) -> Figure:
    """One of the pictures, by the name of its file."""
    return PICTURES[name](_shortly_named(data))


def _shortly_named(data: Measurements) -> Measurements:
    short = pl.col("user").replace_strict(labels(data.users), return_dtype=pl.String)
    return replace(data, table=data.table.with_columns(user=short))


def _draw_overview(data: Measurements) -> Figure:
    return draw_maps(overview(data), data, "Where users measured, and how strong the signal was")


def _draw_users(data: Measurements) -> Figure:
    return draw_maps(each_user(data), data, "The densest users, each in its own frame")


# File name → the function that draws it.
PICTURES: dict[str, Callable[[Measurements], Figure]] = {
    "map.png": _draw_overview,
    "users.png": _draw_users,
    "top-cells.png": lambda data: draw_top_cells(top_cells(data)),
    "similarity.png": lambda data: draw_similarity(similarity(data)),
}
