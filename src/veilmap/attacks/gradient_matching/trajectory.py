"""One dummy location on its way, and the rules by which the way ends."""

from dataclasses import dataclass
from math import hypot, isfinite, nan

from veilmap.attacks.reconstruction import Outcome

# Long against a jump to and fro over a crease, which takes a few iterations.
CIRCLING_ITERATIONS = 500


@dataclass(frozen=True)
class Rest:
    """When a walk is over.

    Attributes:
        scale_m: metres per standardised unit, by axis.
        still_m: a step shorter than this is no step.
        still_iterations: so many of them in a row are rest.
        max_iterations: m of Algorithm 2.
        middle_std: the middle of the area, standardised.
        far_m: a location farther from it than this is given up.
        circling_m: a location whose mean over 500 iterations is nearer than this to the mean over
            the 500 before circles; None lets it go on, as the algorithm is written.
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


class Walker:
    """Where a dummy location is, and how it got there.

    Attributes:
        xy_std: the location.
        cosine: there, once the walk is over.
        iterations: the steps made.
        seconds: that they took.
        walking: whether it is still on its way.
        outcome: how the way ended.
        path_std: all locations from the start on, if asked for.
    """

    def __init__(self, xy_std: tuple[float, float], rest: Rest, *, keep_path: bool = False) -> None:
        self.xy_std, self.cosine = xy_std, nan
        self.iterations, self.seconds = 0, 0.0
        self.walking, self.outcome = True, Outcome.OUT_OF_ITERATIONS
        self.path_std = [xy_std] if keep_path else None
        self._rest, self._still = rest, 0
        self._window = _Window(rest)

    def move(self, x: float, y: float) -> None:
        """One iteration's step to (x, y), which may be the last."""
        step_m = self._rest.distance_m((x, y), self.xy_std)
        self._still = self._still + 1 if step_m < self._rest.still_m else 0
        self.xy_std = (x, y)
        self.iterations += 1
        if self.path_std is not None:
            self.path_std.append(self.xy_std)
        ended = self._ended()
        if ended is not None:
            self.walking, self.outcome = False, ended

    def _ended(self) -> Outcome | None:
        """The first of the rules that holds."""
        rest = self._rest
        if not (isfinite(self.xy_std[0]) and isfinite(self.xy_std[1])):
            return Outcome.NOT_FINITE
        if rest.distance_m(self.xy_std, rest.middle_std) > rest.far_m:
            return Outcome.FAR_AWAY
        if self._still >= rest.still_iterations:
            return Outcome.CONVERGED
        if rest.circling_m is not None and self._window.circles(self.xy_std, rest.circling_m):
            return Outcome.CIRCLING
        return Outcome.OUT_OF_ITERATIONS if self.iterations >= rest.max_iterations else None


class _Window:
    """The mean location over the iterations so far, and over as many before them."""

    def __init__(self, rest: Rest) -> None:
        self._rest, self._before = rest, (nan, nan)
        self._count, self._x, self._y = 0, 0.0, 0.0

    def circles(self, xy_std: tuple[float, float], circling_m: float) -> bool:
        """Whether this location fills a window whose mean is that of the window before."""
        self._count, self._x, self._y = self._count + 1, self._x + xy_std[0], self._y + xy_std[1]
        if self._count < CIRCLING_ITERATIONS:
            return False
        before, self._before = self._before, (self._x / self._count, self._y / self._count)
        self._count, self._x, self._y = 0, 0.0, 0.0
        return self._rest.distance_m(before, self._before) < circling_m
