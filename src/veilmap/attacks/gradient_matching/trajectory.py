"""The trajectory of one dummy location, and the criteria that stop it."""

from dataclasses import dataclass
from math import hypot, isfinite, nan

from veilmap.attacks.reconstruction import Outcome

# Long compared with jumping back and forth across a crease, which takes a few iterations.
CIRCLING_ITERATIONS = 500

Location = tuple[float, float]


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

    scale_m: Location
    still_m: float
    still_iterations: int
    max_iterations: int
    middle_std: Location
    far_m: float
    circling_m: float | None = None

    def distance_m(self, one_std: Location, other_std: Location) -> float:
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
        self, xy_std: Location, criteria: StoppingCriteria, *, keep_path: bool = False
    ) -> None:
        self.xy_std, self.cosine = xy_std, nan
        self.iterations, self.seconds = 0, 0.0
        self.running, self.outcome = True, Outcome.OUT_OF_ITERATIONS
        self.path_std = [xy_std] if keep_path else None
        self._criteria, self._still = criteria, 0
        # The sum of the locations in this window of iterations, and the mean over the previous one.
        self._sum, self._before = (0.0, 0.0), (nan, nan)

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
        if criteria.circling_m is not None and self._moved_m() < criteria.circling_m:
            return Outcome.CIRCLING
        return Outcome.OUT_OF_ITERATIONS if self.iterations >= criteria.max_iterations else None

    def _moved_m(self) -> float:
        """How far the mean over a window has moved; NaN while the window is not complete."""
        x, y = self._sum[0] + self.xy_std[0], self._sum[1] + self.xy_std[1]
        if self.iterations % CIRCLING_ITERATIONS:
            self._sum = x, y
            return nan
        before, self._before = self._before, (x / CIRCLING_ITERATIONS, y / CIRCLING_ITERATIONS)
        self._sum = 0.0, 0.0
        return self._criteria.distance_m(before, self._before)
