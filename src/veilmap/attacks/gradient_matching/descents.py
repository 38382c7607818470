"""How ``Dlg`` works: Algorithm 2 for many updates and starts at once.

The algorithm also updates the dummy label y', by a gradient that is zero wherever it exists:
cos(∇w, ∇w') depends on y' only through the sign of F(x') − y'. So y' keeps its initial value, which
decides that sign. Tests compare this with the line-by-line version in ``reference``.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import hypot, isfinite

import numpy as np
import torch
from numpy.typing import NDArray

from veilmap.attacks.attack import AttackInput
from veilmap.attacks.gradient_matching.descent import descend
from veilmap.attacks.gradient_matching.dlg import UPDATES_AT_ONCE, Dlg, PrecisionName
from veilmap.attacks.gradient_matching.matching import Objective
from veilmap.attacks.gradient_matching.objective import objective
from veilmap.attacks.gradient_matching.optimisers import OPTIMISERS, OptimiserName
from veilmap.attacks.gradient_matching.starts import PreviousResult
from veilmap.attacks.gradient_matching.trajectory import StoppingCriteria, Trajectory
from veilmap.attacks.leak import leaked_gradient, starting_weights
from veilmap.attacks.reconstruction import Reconstruction
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import SideKnowledge
from veilmap.local_data import Scaler
from veilmap.model.device import torch_device

# For a cosine loss that varies by a thousandth over the whole map, in standardised units.
LEARNING_RATES: dict[OptimiserName, float] = {"sgd": 100.0, "adam": 0.02}
_PRECISIONS: dict[PrecisionName, torch.dtype] = {"double": torch.float64, "single": torch.float32}
# The start of y' for raw labels without a public mean: typical of LTE in a city.
TYPICAL_RSRP_DBM = -95.0


def run_dlg(dlg: Dlg, given: AttackInput) -> list[Reconstruction]:
    """The reconstructions of each update, one per start, in the order of the updates."""
    descents = _Descents(dlg, given)
    found: dict[int, list[Reconstruction]] = {}
    last: dict[str, NDArray[np.float64]] = {}
    for wave in descents.waves():
        attacked = descents.attack_together([given.observations[i] for i in wave], last)
        last |= {each[-1].user: each[-1].xy_m for each in attacked}
        found |= dict(zip(wave, attacked, strict=True))
    return [each for number in sorted(found) for each in found[number]]


@dataclass(frozen=True)
class _Descents:
    """All descents of one attack."""

    dlg: Dlg
    given: AttackInput

    def waves(self) -> Iterator[list[int]]:
        """Numbers of updates that can be attacked together.

        Strategy (iii) needs the result of the user's previous round.
        """
        observations, most = self.given.observations, UPDATES_AT_ONCE[self.given.device]
        left = list(range(len(observations)))
        if not isinstance(self.dlg.start, PreviousResult):
            yield from (left[i : i + most] for i in left[::most])
            return
        while left:
            first = {observations[number].user: number for number in reversed(left)}
            yield sorted(first.values())
            left = [number for number in left if number not in first.values()]

    def attack_together(
        self, observations: Sequence[Observation], last: Mapping[str, NDArray[np.float64]]
    ) -> list[list[Reconstruction]]:
        """The reconstructions of each update, one per start; ``last`` are the users' latest."""
        known, dlg = self.given.header.side_knowledge, self.dlg
        scaler, offset_dbm = known.scaler, known.label_offset_dbm
        label_dbm = offset_dbm or TYPICAL_RSRP_DBM if dlg.label_dbm is None else dlg.label_dbm
        rate = dlg.learning_rate or LEARNING_RATES[dlg.optimiser]
        starts_m = np.stack(
            [dlg.start.points(known.area, each.round, last.get(each.user)) for each in observations]
        )
        finished = descend(
            self._matching(observations),
            torch.from_numpy(scaler.finely(starts_m)).to(_PRECISIONS[dlg.precision]),
            label_dbm - offset_dbm,
            partial(OPTIMISERS[dlg.optimiser], rate),
            self._criteria(known),
            keep_path=dlg.keep_path,
            on_done=self.given.on_done,
        )
        return [
            [_reconstruction(scaler, each, *found) for found in enumerate(trajectories)]
            for each, trajectories in zip(observations, finished, strict=True)
        ]

    def _criteria(self, known: SideKnowledge) -> StoppingCriteria:
        centre_m, diagonal_m = known.area.centre_m, hypot(known.area.width_m, known.area.height_m)
        return StoppingCriteria(
            scale_m=known.scaler.scale_m,
            still_m=self.dlg.still_m,
            still_iterations=self.dlg.still_iterations,
            max_iterations=self.dlg.max_iterations,
            middle_std=tuple(known.scaler.finely(centre_m)),
            far_m=self.dlg.far * max(diagonal_m, 1.0),
            circling_m=self.dlg.circling_m,
        )

    def _matching(self, observations: Sequence[Observation]) -> Objective:
        if self.dlg.weights == "before":
            weights = starting_weights(observations)
        else:
            weights = [each.weights_after for each in observations]
        gradients = [leaked_gradient(each) for each in observations]
        device = torch_device(self.given.device)
        rows = torch.from_numpy(np.stack(weights)).to(device).double()
        leaked = torch.from_numpy(np.stack(gradients)).to(device)
        return objective(self.given.header, rows, leaked)


def _reconstruction(
    scaler: Scaler, observation: Observation, start: int, trajectory: Trajectory
) -> Reconstruction:
    if not leaked_gradient(observation).any():
        return replace(Reconstruction.nothing(observation), start=start)
    with np.errstate(over="ignore"):  # far beyond any map
        xy_m, path = scaler.metres(np.array(trajectory.xy_std)), trajectory.path_std
        path_m = None if path is None else scaler.metres(np.array(path))
    return Reconstruction.of(
        observation,
        xy_m,
        # A location that is not finite explains nothing; any other start is better.
        cosine=trajectory.cosine if isfinite(trajectory.cosine) else -1.0,
        iterations=trajectory.iterations,
        seconds=trajectory.seconds,
        outcome=trajectory.outcome,
        start=start,
        path_m=path_m,
    )
