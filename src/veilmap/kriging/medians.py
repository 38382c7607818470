"""Medians by group."""

import numpy as np
from numpy.typing import NDArray


def medians(values: NDArray[np.float64], group: NDArray[np.int64]) -> NDArray[np.float64]:
    """The median of each group's values; groups are numbered from 0, and none is empty."""
    ordered = values[np.lexsort((values, group))]
    counts = np.bincount(group)
    first = np.cumsum(counts) - counts
    middle: NDArray[np.float64] = (
        ordered[first + (counts - 1) // 2] + ordered[first + counts // 2]
    ) / 2
    return middle
