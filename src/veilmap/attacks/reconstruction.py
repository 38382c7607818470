"""The result of an attack on one update."""

from dataclasses import dataclass
from enum import Enum
from math import nan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from veilmap.errors import UserError, shown
from veilmap.federation.observation import Observation


class Outcome(Enum):
    """How an attack ended; the value explains it, with the cure where there is one."""

    CONVERGED = "the location stayed still for the required number of iterations"
    OUT_OF_ITERATIONS = "max_iterations was reached; raise it, learning_rate or still_m"
    FAR_AWAY = "the location left the area for good; raise far to follow it longer"
    CIRCLING = "the location kept jumping around one place; lower circling_m to let it continue"
    NOT_FINITE = "the location became NaN or infinite; lower learning_rate"
    SOLVED = "found without iterations"
    NO_SIGNAL = "what it reads of the update is zero, which says nothing about a location"


_ALL = np.ones(1)
_ALL.flags.writeable = False  # many clouds have it


@dataclass(frozen=True)
class Cloud:
    """A distribution of places: positions in metres and their shares, which sum to 1."""

    xy_m: NDArray[np.float64]
    weights: NDArray[np.float64]

    @classmethod
    def at(cls, xy_m: NDArray[np.float64]) -> "Cloud":
        """All weight at one place."""
        return cls(np.asarray(xy_m, np.float64).reshape(1, 2), _ALL)

    @property
    def mean_m(self) -> NDArray[np.float64]:
        mean: NDArray[np.float64] = self.weights @ self.xy_m
        return mean


@dataclass(frozen=True)
class Reconstruction:
    """Where one attack places the user of one update.

    Attributes:
        round: t.
        user: whose update it was.
        start_s: when the round began.
        n: the points the user trained on.
        xy_m: x_DLG, the one location found; NaN if there is none.
        cosine: of the leaked gradient and the one that the result explains it by; NaN if the attack
            does not explain the update.
        iterations: of the optimiser; 0 where there is none.
        seconds: spent on this attack; the time of a batch is divided equally.
        outcome: how it ended.
        cloud: the whole distribution found; a single location if the method finds no more.
        start: its number among several starts of the same update.
        path_m: the dummy location at every iteration, if it was kept.
    """

    round: int
    user: str
    start_s: float
    n: int
    xy_m: NDArray[np.float64]
    cosine: float
    iterations: int
    seconds: float
    outcome: Outcome
    cloud: Cloud
    start: int = 0
    path_m: NDArray[np.float64] | None = None

    @classmethod
    def of(
        cls,
        observation: Observation,
        xy_m: ArrayLike,
        *,
        cosine: float = nan,
        seconds: float = 0.0,
        outcome: Outcome = Outcome.SOLVED,
        cloud: Cloud | None = None,
        iterations: int = 0,
        start: int = 0,
        path_m: NDArray[np.float64] | None = None,
    ) -> "Reconstruction":
        """Of an observed update; without a cloud all weight is at the location found.

        Raises:
            UserError: that is not one location.
        """
        whose = observation.round, observation.user, observation.start_s, observation.n
        given, xy_m = xy_m, np.asarray(xy_m, np.float64)
        if xy_m.shape != (2,):
            raise UserError(f"xy_m must be one location (x, y) in metres, got {shown(given)}")
        cloud = Cloud.at(xy_m) if cloud is None else cloud
        return cls(*whose, xy_m, cosine, iterations, seconds, outcome, cloud, start, path_m)

    @classmethod
    def nothing(cls, observation: Observation) -> "Reconstruction":
        """For an update that is zero in everything that an attack reads."""
        return cls.of(observation, (nan, nan), cosine=0.0, outcome=Outcome.NO_SIGNAL)
