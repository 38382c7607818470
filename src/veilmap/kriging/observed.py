"""What kriging starts from: the mean signal at some places, each of so many values."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Observed:
    """Means of k values each, at places in metres."""

    xy_m: NDArray[np.float64]
    mean_db: NDArray[np.float64]
    k: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.k)

    @property
    def extent_m(self) -> float:
        """The longer side of the box around the places."""
        return float(np.ptp(self.xy_m, axis=0).max())

    def take(self, rows: NDArray[np.intp]) -> "Observed":
        """The chosen places."""
        return Observed(self.xy_m[rows], self.mean_db[rows], self.k[rows])
