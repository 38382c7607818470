"""Medians and mean positions by group; groups are numbered from 0, and none is empty."""

import numpy as np
from numpy.typing import NDArray


def medians(values: NDArray[np.float64], group: NDArray[np.int64]) -> NDArray[np.float64]:
    """Of each group's values."""
    ordered = values[np.lexsort((values, group))]
    counts = np.bincount(group)
    first = np.cumsum(counts) - counts
    middle: NDArray[np.float64] = (
        ordered[first + (counts - 1) // 2] + ordered[first + counts // 2]
    ) / 2
    return middle


def mean_positions(xy_m: NDArray[np.float64], group: NDArray[np.int64]) -> NDArray[np.float64]:
    """Of each group's points."""
    counts = np.bincount(group)
    return np.column_stack([np.bincount(group, axis) / counts for axis in xy_m.T])
