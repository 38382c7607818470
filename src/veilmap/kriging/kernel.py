"""How the signal at one place tells of that at another: two exponential scales and noise."""

from collections.abc import Iterator
from dataclasses import astuple, dataclass
from math import hypot, isfinite

import numpy as np
from numpy.typing import NDArray

from veilmap.errors import Checked, UserError, out_of_range

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Kernel(Checked):
    """C(d) = s₁² e^(−d/l₁) + s₂² e^(−d/l₂), and noise τ²/k on the mean of k values.

    The short scale is what buildings and streets do to the signal, the long one the distance to
    the tower. The defaults are the public kernel, for maps with few squares.
    """

    short_db: float = 4.0
    short_m: float = 80.0
    long_db: float = 9.0
    long_m: float = 800.0
    noise_db: float = 4.0

    def _faults(self) -> Iterator[UserError]:
        for name, value in vars(self).items():
            if not (isfinite(value) and value > 0):
                yield out_of_range(name, "a finite number above 0", value)

    def covariance(self, distance_m: Vector) -> Vector:
        """C(d), element by element."""
        found: Vector = np.exp(distance_m * (-1 / self.short_m))
        found *= self.short_db**2
        found += self.long_db**2 * np.exp(distance_m * (-1 / self.long_m))
        return found

    @property
    def std_db(self) -> float:
        """The standard deviation of the signal where nothing is known."""
        return hypot(self.short_db, self.long_db)

    def logs(self) -> Vector:
        """The five numbers as their logarithms, as they are fitted."""
        return np.log(astuple(self))

    @classmethod
    def of_logs(cls, logs: Vector) -> "Kernel":
        """The inverse of ``logs``."""
        return cls(*np.exp(logs).tolist())


PUBLIC = Kernel()
