"""The whole batch's distribution from one update: where the user was, not only on average.

The update is linear in the measure μ = Σ r_i δ_{x_i}. While the residuals r_i share one sign, μ is
a heat map of the user's points, and least squares with that sign over a grid recovers it. Where
they change sign, μ is signed and |μ| still shows the places, though no longer how much time each
took. Every choice is made without the truth: by how well a fit to half of the update's coordinates
explains the other half.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch

from veilmap.attacks.cells import Cells
from veilmap.attacks.linearisation import LinearisationName
from veilmap.attacks.matching import leaked_gradient
from veilmap.attacks.reconstruction import Reconstruction, one_by_one
from veilmap.attacks.recovery import Recovery, SharedGrid, SignName
from veilmap.errors import UserError, out_of_range, refuse, unknown_choice
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header
from veilmap.model.device import DeviceName

# A signed measure explains more than one without sign anyhow; it must explain clearly more.
CLEARLY = 0.5
# A map that leaves no more of the set-aside half unexplained needs no second sign.
WELL_EXPLAINED = 1e-3


@dataclass(frozen=True)
class Heatmap:
    """Least squares over cells, ever smaller where the mass is.

    Attributes:
        cells: about so many in the first grid, over the whole area.
        finest_m: cells with mass are quartered until their side is at most so many metres.
        linearise: where the tangent is taken; by default what explains the update best.
        sign: whether residuals have ``one`` sign or ``both``; by default what explains it best.
        close: a linearisation that leaves at most so many times more unexplained on the first grid
            than the best is tried on small cells too; 1 tries the best alone, in less time.
    """

    cells: int = 1000
    finest_m: float = 15.0
    linearise: LinearisationName | Literal["auto"] = "auto"
    sign: SignName | Literal["auto"] = "auto"
    close: float = 10.0
    oracle = False

    def __post_init__(self) -> None:
        refuse(self._faults())

    def _faults(self) -> Iterator[UserError]:
        if self.cells < 4:
            yield out_of_range("cells", "at least 4", self.cells)
        if not 0 < self.finest_m < np.inf:
            yield out_of_range("finest_m", "above 0 metres", self.finest_m)
        places = (*get_args(LinearisationName), "auto")
        if self.linearise not in places:
            yield unknown_choice("linearise", self.linearise, places)
        signs = (*get_args(SignName), "auto")
        if self.sign not in signs:
            yield unknown_choice("sign", self.sign, signs)
        if not self.close >= 1:
            yield out_of_range("close", "at least 1", self.close)

    def attack(
        self,
        header: Header,
        observations: Sequence[Observation],
        on_done: Callable[[int], None] = lambda count: None,
        device: DeviceName = "cpu",
    ) -> list[Reconstruction]:
        """One reconstruction per update; users who started from the same weights share a grid."""
        shared = SharedGrid()
        return one_by_one(
            lambda header, observation: self._one(header, observation, shared),
            header,
            observations,
            on_done,
        )

    @torch.inference_mode()
    def _one(self, header: Header, observation: Observation, shared: SharedGrid) -> Reconstruction:
        before = time.perf_counter()
        if not leaked_gradient(observation).any():
            return Reconstruction.nothing(observation)
        grid = Cells.cover(header.side_knowledge.area, self.cells)
        recovery = Recovery(header, observation, grid, self.finest_m, shared)
        first: SignName = "both" if self.sign == "both" else "one"
        names = self._names(header)
        begun = {name: recovery.begin(name, first) for name in names}
        least = min(each.held_out for each in begun.values())
        close = [each for each in begun.values() if each.held_out <= self.close * least]
        best = min(map(recovery.refine, close), key=lambda each: each.held_out)
        if self.sign == "auto" and best.held_out > WELL_EXPLAINED:
            signed = recovery.begin(best.linearise, "both")
            # Also on the first grid: small cells of both signs can imitate much.
            if signed.held_out < CLEARLY * begun[best.linearise].held_out:
                refined = recovery.refine(signed)
                best = refined if refined.held_out < CLEARLY * best.held_out else best
        alone = recovery.one_place(best.linearise)
        best = alone if alone.held_out <= best.held_out else best
        if not len(best.cloud.weights):
            return Reconstruction.nothing(observation)
        seconds = time.perf_counter() - before
        return Reconstruction.of(
            observation,
            best.cloud.mean_m,
            cosine=float(np.sqrt(max(1 - best.unexplained, 0.0))),
            seconds=seconds,
            cloud=best.cloud,
        )

    def _names(self, header: Header) -> tuple[LinearisationName, ...]:
        if self.linearise != "auto":
            return (self.linearise,)
        single_step = header.side_knowledge.training.name == "fedsgd"
        return ("before",) if single_step else ("before", "middle", "path")
