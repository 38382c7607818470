"""A figure that a panel holds its own against, as a dashed line."""

from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from veilmap.canvas import as_written
from veilmap.errors import UserError

DASHES = ((0, (5, 3)), (0, (1.5, 2)), (0, (6, 2, 1.5, 2)))


class Compared:
    """A panel; ``reference`` is a figure to compare its own with, such as of random guesses."""

    title: str
    reference: float | None
    reference_name: str

    def reference_faults(self) -> Iterator[UserError]:
        """What is wrong with the reference."""
        if self.reference is not None and not np.isfinite(self.reference):
            yield UserError(
                f"the reference of panel {self.title!r} must be finite, got {self.reference!r}; "
                "leave it out"
            )


def draw_references(
    grid: Sequence[Axes], panels: Sequence[Compared], *, upright: bool = False
) -> list[Line2D]:
    """One line per panel, the same for a name in all of them; gives the legend entries."""
    drawn = [
        (axes, panel.reference, panel.reference_name)
        for axes, panel in zip(grid, panels, strict=True)
        if panel.reference is not None
    ]
    names = dict.fromkeys(name for _, _, name in drawn)
    looks: dict[str, dict[str, Any]] = {
        name: {"color": "0.25", "linewidth": 1.0, "linestyle": dashes}
        for name, dashes in zip(names, cycle(DASHES), strict=False)
    }
    for axes, reference, name in drawn:
        draw = axes.axvline if upright else axes.axhline
        draw(reference, **looks[name], zorder=1.5)
    return [Line2D([], [], label=as_written(name), **look) for name, look in looks.items() if name]
