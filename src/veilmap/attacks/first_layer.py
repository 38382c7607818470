"""Lemma 1 read off the update: no search, no iterations.

For hidden unit h of the first layer ∂ℓ/∂W1[h] = Σ g_i x_i and ∂ℓ/∂b1[h] = Σ g_i, so their ratio
is a weighted mean of the points that activate the unit (Eq. 3 to 6 of the proof): with ReLU the
centroid of half a plane, one for every unit.
"""

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from veilmap.attacks.attack import AttackInput, one_by_one, reads_dense
from veilmap.attacks.reconstruction import Cloud, Reconstruction
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header
from veilmap.local_data import Scaler

Floats64 = NDArray[np.float64]


@dataclass(frozen=True)
class FirstLayer:
    """The location x_DLG of Lemma 1 from all hidden units of the first layer.

    The location is the mean of the ratios inside the area, weighted by |Δb1[h]|. The ratio of a
    unit that learned little, or whose points pull in opposite directions, lies far away and is left
    out. The cloud consists of those ratios with their weights. If no ratio is inside, the location
    is the ratio of the sums.
    """

    name = "first_layer"
    oracle = False
    reads = staticmethod(reads_dense)

    def attack(self, given: AttackInput) -> list[Reconstruction]:
        """One reconstruction per update, never on a GPU: the copy there would take longer."""
        return one_by_one(given, self.one)

    def one(self, header: Header, observation: Observation) -> Reconstruction:
        """The location for one update."""
        before = time.perf_counter()
        scaler, area = header.side_knowledge.scaler, header.side_knowledge.area
        matrix, bias = _first_layer(header, observation)
        if not bias.any():
            return Reconstruction.nothing(observation)
        learned = bias != 0
        ratios_m = scaler.metres(matrix[learned] / bias[learned, None])
        weights = np.abs(bias[learned])
        inside = area.contains(ratios_m)
        if inside.any():
            cloud = Cloud(ratios_m[inside], weights[inside] / weights[inside].sum())
        else:
            ratio = np.sign(bias) @ matrix / np.abs(bias).sum()
            cloud = Cloud.at(scaler.metres(ratio))
        seconds, xy_m = time.perf_counter() - before, cloud.mean_m
        cosine = _cosine(matrix, bias, scaler, xy_m)
        return Reconstruction.of(observation, xy_m, cosine=cosine, seconds=seconds, cloud=cloud)


def _first_layer(header: Header, observation: Observation) -> tuple[Floats64, Floats64]:
    """ΔW1 and Δb1, the only part of the update that is read."""
    (before_w, before_b), *_ = header.network.layers(observation.weights_before)
    (after_w, after_b), *_ = header.network.layers(observation.weights_after)
    return before_w.astype(np.float64) - after_w, before_b.astype(np.float64) - after_b


def _cosine(matrix: Floats64, bias: Floats64, scaler: Scaler, xy_m: Floats64) -> float:
    """Of (ΔW1, Δb1) and what it is if all points lie at the location: Δb1 (x, 1)ᵀ."""
    point = np.append(scaler.finely(xy_m), 1.0)
    seen = np.column_stack([matrix, bias])
    explained = np.outer(bias, point)
    return float((seen * explained).sum() / np.linalg.norm(seen) / np.linalg.norm(explained))
