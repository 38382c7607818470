"""Where Algorithm 2 starts: the strategies (i), (ii) and (iii) of the paper."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from veilmap.area import Area
from veilmap.attacks.attack import not_positive
from veilmap.errors import refuse
from veilmap.streams import stream

Points = NDArray[np.float64]


class Start(Protocol):
    """Dummy locations x'_0 in metres for each update."""

    oracle: bool
    """Whether it uses the truth, which no server has."""

    def points(self, area: Area, round_: int, previous_m: Points | None) -> Points:
        """One row per start; ``previous_m`` is the result of the user's previous round."""


@dataclass(frozen=True)
class RandomStarts:
    """Strategy (i): uniform in the area."""

    count: int = 1
    seed: int = 0
    oracle = False

    def __post_init__(self) -> None:
        refuse(not_positive(count=self.count))

    def points(self, area: Area, round_: int, previous_m: Points | None) -> Points:
        """The same numbers for the same seed and round."""
        draw = stream(self.seed, "dlg start", round_).random((self.count, 2))
        return np.array([area.x_min_m, area.y_min_m]) + draw * [area.width_m, area.height_m]


@dataclass(frozen=True)
class GridStarts:
    """Strategy (i): centres of the squares of a grid, ``count`` of them at random, or all."""

    side_m: float = 350.0
    count: int | None = None
    seed: int = 0
    oracle = False

    def __post_init__(self) -> None:
        refuse(not_positive(side_m=self.side_m, count=self.count))

    def points(self, area: Area, round_: int, previous_m: Points | None) -> Points:
        """The same squares in every round, as in the paper's study of several rounds."""
        centres = area.centres_m(self.side_m)
        if self.count is None or self.count >= len(centres):
            return centres
        chosen = stream(self.seed, "dlg grid").choice(len(centres), self.count, replace=False)
        return centres[np.sort(chosen)]


@dataclass(frozen=True)
class NearCentroid:
    """Strategy (ii), the paper's default: the round's true centroid plus Gaussian noise."""

    centroids_m: Mapping[int, Points]
    std_m: float = 100.0
    count: int = 1
    seed: int = 0
    oracle = True

    def __post_init__(self) -> None:
        refuse(not_positive(std_m=self.std_m, count=self.count))

    def points(self, area: Area, round_: int, previous_m: Points | None) -> Points:
        """Around the centroid of this round."""
        noise = stream(self.seed, "dlg noise", round_).standard_normal((self.count, 2))
        return np.asarray(self.centroids_m[round_]) + self.std_m * noise


@dataclass(frozen=True)
class PreviousResult:
    """Strategy (iii): close to the middle of the area, then the previous round's result."""

    oracle = False

    def points(self, area: Area, round_: int, previous_m: Points | None) -> Points:
        """A result outside the area is replaced by the middle.

        Not exactly the middle: with zero biases and a scaler from the area all units switch there,
        and the gradient is zero.
        """
        if previous_m is None or not area.contains(previous_m):
            previous_m = area.centre_m + 0.01 * np.array([area.width_m, area.height_m])
        return previous_m.reshape(1, 2)
