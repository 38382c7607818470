"""Algorithm 2 of the paper, the DLG attack, for many updates and starts."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, get_args

from veilmap.attacks.attack import AttackInput, not_positive, reads_gradients
from veilmap.attacks.gradient_matching.optimisers import OPTIMISERS, OptimiserName
from veilmap.attacks.gradient_matching.starts import PreviousResult, RandomStarts, Start
from veilmap.attacks.reconstruction import Reconstruction
from veilmap.errors import Checked, UserError, not_among
from veilmap.model.device import DeviceName

# An update takes weights and gradient in float64, 2.3 MB for the paper's network; a GPU has memory
# for many, and needs many to be busy.
UPDATES_AT_ONCE: dict[DeviceName, int] = {"cpu": 64, "cuda": 4096}
PrecisionName = Literal["double", "single"]


@dataclass(frozen=True)
class Dlg(Checked):
    """The DLG attack of Algorithm 2.

    Attributes:
        start: where the dummy location begins.
        optimiser: ``sgd`` as the algorithm is written, or ``adam``.
        learning_rate: η of the attack; by default one that suits the optimiser.
        max_iterations: m.
        still_m: the location rests while it moves less than this per iteration, in metres.
        still_iterations: it has converged after so many iterations at rest.
        far: a location more than so many times the area's diagonal away is abandoned; infinity
            disables the criterion, as the algorithm is written.
        circling_m: a location whose mean over 500 iterations is closer than so many metres to the
            mean over the previous 500 is abandoned; None disables the criterion, as the algorithm
            is written. Adam's steps hardly shrink, so a location that meets a crease, where a ReLU
            switches, or the line F(x') = y' jumps back and forth across it forever.
        label_dbm: y'_0; by default the public mean.
        weights: where gradients are compared: at the weights ``before`` the update or ``after``.
        precision: of the slopes; ``single`` is faster. Final cosines are computed in ``double``.
        keep_path: keep the dummy location of every iteration.
    """

    start: Start = field(default_factory=RandomStarts)
    optimiser: OptimiserName = "adam"
    learning_rate: float | None = None
    max_iterations: int = 400_000
    still_m: float = 0.01
    still_iterations: int = 10
    far: float = 10.0
    circling_m: float | None = None
    label_dbm: float | None = None
    weights: Literal["before", "after"] = "before"
    precision: PrecisionName = "double"
    keep_path: bool = False
    name = "dlg"
    oracle_text = "the start of dlg"
    reads = staticmethod(reads_gradients)

    def _faults(self) -> Iterator[UserError]:
        yield from not_among("optimiser", self.optimiser, OPTIMISERS)
        yield from not_among("weights", self.weights, ("before", "after"))
        yield from not_among("precision", self.precision, get_args(PrecisionName))
        yield from not_positive(
            learning_rate=self.learning_rate,
            max_iterations=self.max_iterations,
            still_m=self.still_m,
            far=min(self.far, 1e9),
            circling_m=self.circling_m,
            still_iterations=self.still_iterations,
        )

    @property
    def oracle(self) -> bool:
        """Whether the attack uses what no server has."""
        return self.start.oracle

    @property
    def all_at_once(self) -> bool:
        """Strategy (iii) needs the results of earlier rounds."""
        return isinstance(self.start, PreviousResult)

    def attack(self, given: AttackInput) -> list[Reconstruction]:
        """One reconstruction per update and start; on a GPU all of them descend together."""
        from veilmap.attacks.gradient_matching.descents import run_dlg

        return run_dlg(self, given)
