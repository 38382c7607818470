"""The trajectory of one dummy location, and the criteria that stop it."""

from dataclasses import dataclass
from math import hypot, isfinite, nan

from veilmap.attacks.reconstruction import Outcome

# Long compared with jumping back and forth across a crease, which takes a few iterations.
CIRCLING_ITERATIONS = 500


@dataclass(frozen=True)
class StoppingCriteria:
    """When a descent stops.

    Attributes:
        scale_m: metres per standardised unit, by axis.
        still_m: the location rests during a step shorter than this.
        still_iterations: it has converged after so many such steps in a row.
        max_iterations: m of Algorithm 2.
        middle_std: the middle of the area, standardised.
        far_m: a location farther from the middle than this is abandoned.
        circling_m: a location circles if its mean over 500 iterations is closer than this to the
            mean over the previous 500; None disables the criterion, as the algorithm is written.
    """

    scale_m: tuple[float, float]
    still_m: float
    still_iterations: int
    max_iterations: int
    middle_std: tuple[float, float]
    far_m: float
    circling_m: float | None = None

    def distance_m(self, one_std: tuple[float, float], other_std: tuple[float, float]) -> float:
        """Between two standardised places."""
        return hypot(
            (one_std[0] - other_std[0]) * self.scale_m[0],
            (one_std[1] - other_std[1]) * self.scale_m[1],
        )


class Trajectory:
    """A dummy location and how it got there.

    Attributes:
        xy_std: the current location.
        cosine: at the final location.
        iterations: the steps made so far.
        seconds: the time they took.
        running: whether it has not stopped yet.
        outcome: why it stopped.
        path_std: all locations from the start on, if they are kept.
    """

    def __init__(
        self, xy_std: tuple[float, float], criteria: StoppingCriteria, *, keep_path: bool = False
    ) -> None:
        self.xy_std, self.cosine = xy_std, nan
        self.iterations, self.seconds = 0, 0.0
        self.running, self.outcome = True, Outcome.OUT_OF_ITERATIONS
        self.path_std = [xy_std] if keep_path else None
        self._criteria, self._still = criteria, 0
        self._window = _Window(criteria)

    def move(self, x: float, y: float) -> None:
        """One iteration to (x, y); it may be the last."""
        step_m = self._criteria.distance_m((x, y), self.xy_std)
        self._still = self._still + 1 if step_m < self._criteria.still_m else 0
        self.xy_std = (x, y)
        self.iterations += 1
        if self.path_std is not None:
            self.path_std.append(self.xy_std)
        ended = self._ended()
        if ended is not None:
            self.running, self.outcome = False, ended

    def _ended(self) -> Outcome | None:
        """The first criterion that is met."""
        criteria = self._criteria
        if not (isfinite(self.xy_std[0]) and isfinite(self.xy_std[1])):
            return Outcome.NOT_FINITE
        if criteria.distance_m(self.xy_std, criteria.middle_std) > criteria.far_m:
            return Outcome.FAR_AWAY
        if self._still >= criteria.still_iterations:
            return Outcome.CONVERGED
        if criteria.circling_m is not None and self._window.circles(
            self.xy_std, criteria.circling_m
        ):
            return Outcome.CIRCLING
        return Outcome.OUT_OF_ITERATIONS if self.iterations >= criteria.max_iterations else None


class _Window:
    """The mean location of the current window of iterations, and of the previous one."""

    def __init__(self, criteria: StoppingCriteria) -> None:
        self._criteria, self._before = criteria, (nan, nan)
        self._count, self._x, self._y = 0, 0.0, 0.0

    def circles(self, xy_std: tuple[float, float], circling_m: float) -> bool:
        """Whether this location completes a window whose mean is close to the previous one's."""
        self._count, self._x, self._y = self._count + 1, self._x + xy_std[0], self._y + xy_std[1]
        if self._count < CIRCLING_ITERATIONS:
            return False
        before, self._before = self._before, (self._x / self._count, self._y / self._count)
        self._count, self._x, self._y = 0, 0.0, 0.0
        return self._criteria.distance_m(before, self._before) < circling_m
