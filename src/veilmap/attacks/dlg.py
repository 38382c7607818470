"""Algorithm 2 of the paper, the DLG attack, for many updates and starts.

The dummy label y' is updated as well, by a gradient that is zero wherever it exists: cos(∇w, ∇w')
depends on y' only through the sign of F(x') − y'. So y' stays where it starts, and what it decides
is that sign. Tests hold this to the line-by-line version in ``reference``.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import hypot, isfinite
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from veilmap.attacks.matching import Matching, leaked_gradient
from veilmap.attacks.optimisers import OPTIMISERS, Optimiser, OptimiserName
from veilmap.attacks.reconstruction import Reconstruction
from veilmap.attacks.starts import PreviousResult, RandomStarts, Start
from veilmap.attacks.updates import same_start
from veilmap.attacks.walk import walk
from veilmap.attacks.walker import Rest, Walker
from veilmap.errors import UserError, out_of_range, refuse, unknown_choice
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header, SideKnowledge
from veilmap.local_data import Scaler
from veilmap.model.device import DeviceName, torch_device

# Each update takes weights and gradient in float64, 2.3 MB for the paper's network; a GPU has room
# for many, and needs them.
UPDATES_AT_ONCE: dict[DeviceName, int] = {"cpu": 64, "cuda": 4096}
# Of a cosine loss that varies by a thousandth over the whole map, in standardised units.
LEARNING_RATES: dict[OptimiserName, float] = {"sgd": 100.0, "adam": 0.02}
PrecisionName = Literal["double", "single"]
_PRECISIONS: dict[PrecisionName, torch.dtype] = {"double": torch.float64, "single": torch.float32}
# Where the network learns raw dBm and nobody gave a mean: about that of LTE in a city.
TYPICAL_RSRP_DBM = -95.0


@dataclass(frozen=True)
class Dlg:
    """The DLG attack of Algorithm 2.

    Attributes:
        start: where the dummy location begins.
        optimiser: ``sgd`` as the algorithm is written, or ``adam``.
        learning_rate: η of the attack; by default one that suits the optimiser.
        max_iterations: m.
        still_m: the location rests while it moves less than this per iteration, in metres.
        still_iterations: rest for so many iterations is convergence.
        far: a location so many times the area's diagonal away is given up; infinity never gives up,
            as the algorithm is written.
        circling_m: a location whose mean over 500 iterations is nearer than so many metres to the
            mean over the 500 before is given up; None never gives up, as the algorithm is written.
            With Adam's steps of one size a location that meets a crease, where a ReLU switches, or
            the line F(x') = y' jumps to and fro over it for ever.
        label_dbm: y'_0; by default the public mean.
        weights: where gradients are compared: at the weights ``before`` the update or ``after``.
        precision: of the slopes; ``single`` takes less time, and what is found is compared in
            ``double`` all the same.
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

    def __post_init__(self) -> None:
        refuse(self._faults())

    def _faults(self) -> Iterator[UserError]:
        if self.optimiser not in OPTIMISERS:
            yield unknown_choice("optimiser", self.optimiser, OPTIMISERS)
        if self.weights not in ("before", "after"):
            yield unknown_choice("weights", self.weights, ("before", "after"))
        if self.precision not in _PRECISIONS:
            yield unknown_choice("precision", self.precision, _PRECISIONS)
        positive = {
            "learning_rate": 1.0 if self.learning_rate is None else self.learning_rate,
            "max_iterations": self.max_iterations,
            "still_m": self.still_m,
            "far": min(self.far, 1e9),
            "circling_m": 1.0 if self.circling_m is None else self.circling_m,
            "still_iterations": self.still_iterations,
        }
        for name, value in positive.items():
            if not (isfinite(value) and value > 0):
                yield out_of_range(name, "above 0", value)

    @property
    def oracle(self) -> bool:
        """Whether the attack uses what no server has."""
        return self.start.oracle

    def attack(
        self,
        header: Header,
        observations: Sequence[Observation],
        on_done: Callable[[int], None] = lambda count: None,
        device: DeviceName = "cpu",
    ) -> list[Reconstruction]:
        """One reconstruction per update and start, in the order of the updates.

        ``on_done`` is told how many more updates are finished. On a GPU all locations walk
        together.
        """
        on = torch_device(device)
        found: dict[int, list[Reconstruction]] = {}
        last: dict[str, NDArray[np.float64]] = {}
        for wave in self._waves(observations, UPDATES_AT_ONCE[device]):
            chosen = [observations[i] for i in wave]
            attacked = self._attack_together(header, chosen, last, on_done, on)
            last |= {each[-1].user: each[-1].xy_m for each in attacked}
            found |= dict(zip(wave, attacked, strict=True))
        return [each for place in sorted(found) for each in found[place]]

    def _waves(self, observations: Sequence[Observation], most: int) -> Iterator[list[int]]:
        """Updates that can be attacked together: strategy (iii) needs a user's round before."""
        places = list(range(len(observations)))
        if not isinstance(self.start, PreviousResult):
            yield from (places[i : i + most] for i in places[::most])
            return
        while places:
            first = {observations[place].user: place for place in reversed(places)}
            yield sorted(first.values())
            places = [place for place in places if place not in first.values()]

    def _attack_together(
        self,
        header: Header,
        observations: Sequence[Observation],
        last: dict[str, NDArray[np.float64]],
        on_done: Callable[[int], None],
        device: torch.device,
    ) -> list[list[Reconstruction]]:
        """The reconstructions of each update, one per start."""
        known = header.side_knowledge
        scaler = known.scaler
        starts_m = np.stack(
            [
                self.start.points(known.area, each.round, last.get(each.user))
                for each in observations
            ]
        )
        walked = walk(
            self._matching(header, observations, device),
            torch.from_numpy(scaler.finely(starts_m)).to(_PRECISIONS[self.precision]),
            self._label_dbm(known.label_offset_dbm) - known.label_offset_dbm,
            self._optimiser,
            self._rest(known),
            keep_path=self.keep_path,
            on_rest=on_done,
        )
        return [
            [_reconstruction(scaler, each, walker, start) for start, walker in enumerate(walkers)]
            for each, walkers in zip(observations, walked, strict=True)
        ]

    def _optimiser(self) -> Optimiser:
        return OPTIMISERS[self.optimiser](self.learning_rate or LEARNING_RATES[self.optimiser])

    def _rest(self, known: SideKnowledge) -> Rest:
        centre_m, diagonal_m = known.area.centre_m, hypot(known.area.width_m, known.area.height_m)
        return Rest(
            scale_m=known.scaler.scale_m,
            still_m=self.still_m,
            still_iterations=self.still_iterations,
            max_iterations=self.max_iterations,
            middle_std=tuple(known.scaler.finely(centre_m)),
            far_m=self.far * max(diagonal_m, 1.0),
            circling_m=self.circling_m,
        )

    def _matching(
        self, header: Header, observations: Sequence[Observation], device: torch.device
    ) -> Matching:
        weights = [
            each.weights_before if self.weights == "before" else each.weights_after
            for each in observations
        ]
        together = all(same_start(each, observations[0]) for each in observations)
        if self.weights == "before" and together:
            weights = weights[:1]
        gradients = [leaked_gradient(each) for each in observations]
        return Matching.of(header.network, weights, gradients, device)

    def _label_dbm(self, label_offset_dbm: float) -> float:
        if self.label_dbm is not None:
            return self.label_dbm
        return label_offset_dbm or TYPICAL_RSRP_DBM


def _reconstruction(
    scaler: Scaler, observation: Observation, walker: Walker, start: int
) -> Reconstruction:
    if not leaked_gradient(observation).any():
        return replace(Reconstruction.nothing(observation), start=start)
    with np.errstate(over="ignore"):  # far beyond any map
        xy_m = scaler.metres(np.array(walker.xy_std))
        path_m = None if walker.path_std is None else scaler.metres(np.array(walker.path_std))
    return Reconstruction.of(
        observation,
        xy_m,
        # A location that is no number explains nothing; every other start is better.
        cosine=walker.cosine if isfinite(walker.cosine) else -1.0,
        iterations=walker.iterations,
        seconds=walker.seconds,
        outcome=walker.outcome,
        start=start,
        path_m=path_m,
    )
