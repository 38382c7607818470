"""Small labels beside marks, placed where they cover nothing, else left out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.path import Path
from matplotlib.patheffects import withStroke
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from veilmap.canvas import as_written

_SIZE = 6.5
_HALO = [withStroke(linewidth=1.6, foreground="white")]  # read also where a line is crossed
_MARK = 4.0  # half the side of a mark, in points
# East, west, north, south, then the corners: the way from the mark to the text.
_WAYS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))
_ALIGNED = {-1: ("right", "top"), 0: ("center", "center"), 1: ("left", "bottom")}

Pixels = NDArray[np.float64]  # a position or a size


@dataclass(frozen=True)
class Mark:
    """A position in the units of the axes, and its label."""

    x: float
    y: float
    text: str
    colour: str


def label_marks(figure: Figure, axes: Axes, marks: Sequence[Mark]) -> None:
    """Write the labels that fit, the first ones first.

    The layout of ``figure`` must be done already. A text never covers another one or a mark, and
    crosses as few lines of the panel as it can.
    """
    scale = figure.dpi / 72  # pixels per point
    places = axes.transData.transform(np.array([(each.x, each.y) for each in marks]).reshape(-1, 2))
    taken = [Bbox([place - _MARK * scale, place + _MARK * scale]) for place in places]
    ways = [axes.transData.transform_path(path) for path in _paths(axes)]
    for mark, place in zip(marks, places, strict=True):
        room = _write(axes, mark, place, taken, ways, scale) if mark.text else None
        if room is not None:
            taken.append(room)


def _paths(axes: Axes) -> Iterator[Path]:
    """All drawn lines, with their error bars."""
    for line in axes.lines:
        yield line.get_path()
    for each in axes.collections:
        if isinstance(each, LineCollection):
            yield from each.get_paths()


def _write(
    axes: Axes, mark: Mark, place: Pixels, taken: Sequence[Bbox], ways: Sequence[Path], scale: float
) -> Bbox | None:
    """The box of the placed text, or None if there was no room."""
    text = axes.annotate(
        as_written(mark.text), (mark.x, mark.y), (0, 0), textcoords="offset points",
        fontsize=_SIZE, color=mark.colour, path_effects=_HALO,
    )  # fmt: skip
    # The layout is done: a text inside a panel must not move it again.
    text.set_in_layout(False)
    size = np.array(text.get_window_extent().size)
    rooms = [
        (sum(way.intersects_bbox(room, filled=False) for way in ways), index, room)
        for index, room in enumerate(_rooms(place, size, scale))
        if _is_free(room, axes.bbox, taken)
    ]
    if not rooms:
        text.remove()
        return None
    _, index, room = min(rooms, key=lambda each: each[:2])
    east, north = _WAYS[index]
    text.xyann = ((_MARK + 1) * east, (_MARK + 1) * north)
    text.set(ha=_ALIGNED[east][0], va=_ALIGNED[north][1])
    return room


def _rooms(place: Pixels, size: Pixels, scale: float) -> Iterator[Bbox]:
    """The boxes of the text on each side of its mark, in pixels."""
    for way in np.array(_WAYS):
        centre = place + way * ((_MARK + 1) * scale + size / 2)
        yield Bbox([centre - size / 2, centre + size / 2])


def _is_free(room: Bbox, panel: Bbox, taken: Sequence[Bbox]) -> bool:
    inside = panel.contains(*room.min) and panel.contains(*room.max)
    return inside and room.count_overlaps(taken) == 0
