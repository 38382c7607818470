"""Figures of several seeds at each of some places, beside those of the paper."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from veilmap.errors import UserError

THE_PAPER = "the paper"


class Series:
    """What a bar's and a line's figures have in common.

    ``values`` are at each place those of all seeds, none if not known; ``paper`` are the paper's
    own at the same places, None where it gives none.
    """

    name: str
    values: tuple[tuple[float, ...], ...]
    paper: tuple[float | None, ...]

    @property
    def of_paper(self) -> tuple[float, ...]:
        """The paper's figures, where it gives one."""
        return tuple(each for each in self.paper if each is not None)

    @property
    def figures(self) -> tuple[float, ...]:
        """All drawn figures, of our seeds and of the paper."""
        return (*(each for seeds in self.values for each in seeds), *self.of_paper)

    @property
    def is_drawn(self) -> bool:
        return bool(self.figures)

    @property
    def means(self) -> NDArray[np.float64]:
        """NaN, which breaks a line, where nothing is known."""
        return np.array([np.mean(seeds) if seeds else np.nan for seeds in self.values], np.float64)

    @property
    def reach(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least and the most at each place, NaN where nothing is known."""
        low = [min(seeds, default=np.nan) for seeds in self.values]
        high = [max(seeds, default=np.nan) for seeds in self.values]
        return np.array(low, np.float64), np.array(high, np.float64)

    def faults(self, places: int) -> Iterator[UserError]:
        """What is wrong with it: its length, or figures that cannot be drawn."""
        if len(self.values) != places or len(self.paper) not in (0, places):
            yield UserError(
                f"series {self.name!r} must have figures for each of its {places} places, got "
                f"{len(self.values)}, and {len(self.paper)} of the paper; give () where there are "
                "none"
            )
        wrong = [each for each in self.figures if not np.isfinite(each)]
        if wrong:
            yield UserError(
                f"figures of series {self.name!r} must be finite, got {wrong[0]!r} ({len(wrong)} "
                f"of {len(self.figures)}); leave out the seeds that have none"
            )
