"""How ``Heatmap`` works: for each update the linearisation and the sign that explain it best."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from veilmap.attacks.attack import AttackInput
from veilmap.attacks.gradient_matching.search import Search
from veilmap.attacks.heatmap.batches import Capacity, batches
from veilmap.attacks.heatmap.heatmap import Heatmap, LinearisationName
from veilmap.attacks.heatmap.recovery import InitialFit, Recovery, SharedGrid
from veilmap.attacks.heatmap.refinement import FittedMap
from veilmap.attacks.heatmap.squares import Squares
from veilmap.attacks.heatmap.updates import UpdateBatch
from veilmap.attacks.reconstruction import Reconstruction
from veilmap.federation.observation import Observation
from veilmap.model.device import torch_device

# A signed measure always explains more than a positive one; it must explain clearly more.
CLEARLY = 0.5
# A map that leaves at most this share of the set-aside half unexplained needs no second sign.
WELL_EXPLAINED = 1e-3


def recover_maps(heatmap: Heatmap, given: AttackInput) -> list[Reconstruction]:
    """One reconstruction per update, in their order."""
    header, observations = given.header, given.observations
    selection, device = _Selection(heatmap, given), torch_device(given.device)
    squares = Squares.cover(header.side_knowledge.area, heatmap.grid_cells, device)
    grid = SharedGrid(squares)
    capacity = Capacity.on(device, header, len(squares), selection.linearisations)
    found: dict[int, Reconstruction] = {}
    for batch in batches(observations, capacity):
        some = [observations[i] for i in batch]
        found |= zip(batch, selection.reconstruct(some, grid), strict=True)
        given.on_done(len(batch))
    return [found[i] for i in range(len(observations))]


@dataclass(frozen=True)
class _Selection:
    """The choices for all updates of one attack."""

    heatmap: Heatmap
    given: AttackInput

    def reconstruct(
        self, observations: Sequence[Observation], grid: SharedGrid
    ) -> list[Reconstruction]:
        """All at once, or in halves if they do not fit the GPU's memory."""
        device = torch_device(self.given.device)
        try:
            return self._batch(UpdateBatch.of(self.given.header, observations, device), grid)
        except torch.OutOfMemoryError:
            if len(observations) == 1:
                raise
        # Outside the handler, because the error keeps tensors alive.
        middle = len(observations) // 2
        parts = observations[:middle], observations[middle:]
        return [each for part in parts for each in self.reconstruct(part, grid)]

    @torch.inference_mode()
    def _batch(self, updates: UpdateBatch, grid: SharedGrid) -> list[Reconstruction]:
        before, observations = time.perf_counter(), updates.observations
        moved = updates.gradient.any(1).nonzero()[:, 0]
        maps: dict[int, FittedMap] = {}
        if len(moved):
            maps |= zip(moved.tolist(), self._maps(updates.keep(moved), grid), strict=True)
        seconds = (time.perf_counter() - before) / len(observations)
        return [_reconstruction(each, maps.get(i), seconds) for i, each in enumerate(observations)]

    def _maps(self, updates: UpdateBatch, grid: SharedGrid) -> list[FittedMap]:
        """The best heat map of each update."""
        recovery = Recovery(updates, grid, self.heatmap.finest_m)
        signed = self.heatmap.sign == "both"
        initial = {name: recovery.begin(name, signed=signed) for name in self.linearisations}
        best = self._closest(recovery, initial)
        if self.heatmap.sign == "auto":
            best = _try_both_signs(recovery, initial, best)
        given = AttackInput(updates.header, updates.observations, device=self.given.device)
        places = Search(inside=True, exact_m=0.1).attack(given)
        for name, some in _by_linearisation(best):
            alone = recovery.one_place(name, some, [places[i] for i in some])
            for i, each in zip(some, alone, strict=True):
                best[i] = each if each.held_out <= best[i].held_out else best[i]
        return best

    def _closest(
        self, recovery: Recovery, initial: Mapping[LinearisationName, InitialFit]
    ) -> list[FittedMap]:
        """The best map among the linearisations that are close to the best on the first grid."""
        least = np.min([each.held_out for each in initial.values()], axis=0)
        best: dict[int, FittedMap] = {}
        for each in initial.values():
            close = np.flatnonzero(each.held_out <= self.heatmap.close * least)
            for i, found in zip(close.tolist(), recovery.refine(each, close), strict=True):
                if i not in best or found.held_out < best[i].held_out:
                    best[i] = found
        return [best[i] for i in range(len(least))]

    @property
    def linearisations(self) -> tuple[LinearisationName, ...]:
        """Those to try."""
        if self.heatmap.linearise != "auto":
            return (self.heatmap.linearise,)
        single_step = self.given.header.side_knowledge.training.name == "fedsgd"
        return ("before",) if single_step else ("before", "middle", "path")


def _try_both_signs(
    recovery: Recovery, initial: Mapping[LinearisationName, InitialFit], best: Sequence[FittedMap]
) -> list[FittedMap]:
    """Replace maps that explain little by signed ones that explain clearly more."""
    chosen = list(best)
    for name, among in _by_linearisation(best):
        some = among[[best[i].held_out > WELL_EXPLAINED for i in among]]
        if not len(some):
            continue
        signed = recovery.begin(name, some, signed=True)
        # Also on the first grid: small squares of both signs can imitate almost anything.
        clear = np.flatnonzero(signed.held_out < CLEARLY * initial[name].held_out[some])
        for i, found in zip(some[clear], recovery.refine(signed, clear), strict=True):
            if found.held_out < CLEARLY * best[i].held_out:
                chosen[i] = found
    return chosen


def _by_linearisation(
    best: Sequence[FittedMap],
) -> Iterator[tuple[LinearisationName, NDArray[np.intp]]]:
    """For each linearisation the numbers of the updates that it explains best."""
    for name in dict.fromkeys(each.linearise for each in best):
        yield name, np.flatnonzero([each.linearise == name for each in best])


def _reconstruction(
    observation: Observation, found: FittedMap | None, seconds: float
) -> Reconstruction:
    if found is None or not len(found.cloud.weights):
        return Reconstruction.nothing(observation)
    return Reconstruction.of(
        observation,
        found.cloud.mean_m,
        cosine=float(np.sqrt(max(1 - found.unexplained, 0.0))),
        seconds=seconds,
        cloud=found.cloud,
    )
