"""Figures of several seeds at each of some places, beside those of the paper."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from veilmap.errors import UserError

THE_PAPER = "the paper"

Seeds = Sequence[Sequence[float]]  # at each place those of all seeds; none where nothing is known
Paper = Sequence[float | None]


def faults(name: str, places: int, values: Seeds, paper: Paper) -> Iterator[UserError]:
    """What is wrong with a series: its length, or figures that cannot be drawn."""
    if len(values) != places or len(paper) not in (0, places):
        yield UserError(
            f"series {name!r} must have figures for each of its {places} places, got "
            f"{len(values)}, and {len(paper)} of the paper; give () where there are none"
        )
    known = (*(each for seeds in values for each in seeds), *known_of(paper))
    wrong = [each for each in known if not np.isfinite(each)]
    if wrong:
        yield UserError(
            f"figures of series {name!r} must be finite, got {wrong[0]!r} ({len(wrong)} of "
            f"{len(known)}); leave out the seeds that have none"
        )


def reference_faults(title: str, reference: float | None) -> Iterator[UserError]:
    """What is wrong with the figure that a panel holds its own against."""
    if reference is not None and not np.isfinite(reference):
        yield UserError(
            f"the reference of panel {title!r} must be finite, got {reference!r}; leave it out"
        )


def means(values: Seeds) -> NDArray[np.float64]:
    """NaN, which breaks a line, where nothing is known."""
    return np.array([np.mean(seeds) if len(seeds) else np.nan for seeds in values], np.float64)


def reach(values: Seeds) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The least and the most at each place, NaN where nothing is known."""
    low = [min(seeds, default=np.nan) for seeds in values]
    high = [max(seeds, default=np.nan) for seeds in values]
    return np.array(low, np.float64), np.array(high, np.float64)


def known_of(paper: Paper) -> tuple[float, ...]:
    """The paper's figures, where it gives one."""
    return tuple(each for each in paper if each is not None)


def has_figures(values: Seeds, paper: Paper) -> bool:
    """Whether there is anything to draw."""
    return any(map(len, values)) or bool(known_of(paper))
