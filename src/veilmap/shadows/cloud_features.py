"""What the cheap attacks say of a candidate, for updates of any map that they read."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from veilmap.attacks.attack import Attack, AttackInput, reads_dense
from veilmap.attacks.first_layer import FirstLayer
from veilmap.attacks.gradient_matching.search import Search
from veilmap.attacks.leak import leaked_gradient
from veilmap.attacks.reconstruction import Reconstruction
from veilmap.attacks.sums.history import Floats
from veilmap.federation.side_knowledge import Header
from veilmap.metrics.places import find_places

WIDTHS_M = (25.0, 100.0, 400.0)
MOST_POINTS = 500
TINY = 1e-9


@dataclass(frozen=True)
class CloudFeatures:
    """The clouds of ``first_layer`` and ``search`` over all rounds, blurred by several widths.

    Of dense networks also the leaked gradients projected on that of a point at the candidate,
    cos(G, J(x)), on average over rounds.
    """

    name = "clouds"

    def reads(self, header: Header) -> bool:
        """Whatever one of the two attacks reads."""
        return any(each.reads(header) for each in _cheap())

    def of(self, given: AttackInput, candidates_m: Floats) -> Floats:
        """For each attack its pooled cloud at the candidates, and the way to its heaviest place."""
        columns = [np.full(len(candidates_m), float(len(given.observations)))]
        for attack in _cheap():
            if attack.reads(given.header):
                columns += _of_cloud(attack.attack(given), candidates_m)
        if reads_dense(given.header):
            columns += _projections(given, candidates_m)
        return np.column_stack(columns)


def _cheap() -> tuple[Attack, ...]:
    return FirstLayer(), Search(inside=True)


def _of_cloud(found: list[Reconstruction], candidates_m: Floats) -> list[Floats]:
    xy_m = np.concatenate([each.cloud.xy_m for each in found])
    weights = np.concatenate([each.cloud.weights * each.n for each in found])
    usable = np.isfinite(xy_m).all(axis=1) & (weights > 0)
    xy_m, weights = xy_m[usable], weights[usable]
    if not len(weights):
        return [np.full(len(candidates_m), np.nan)] * (len(WIDTHS_M) + 1)
    heaviest = np.argsort(-weights, kind="stable")[:MOST_POINTS]
    squared_m2 = cdist(candidates_m, xy_m[heaviest], "sqeuclidean")
    columns = []
    for width_m in WIDTHS_M:
        mass = np.exp(-squared_m2 / (2 * width_m**2)) @ weights[heaviest]
        columns.append(np.log(mass / weights.sum() + TINY))
    place_m = np.array(find_places(xy_m, weights, most=1)[0].xy_m)
    return [*columns, np.hypot(*(candidates_m - place_m).T)]


def _projections(given: AttackInput, candidates_m: Floats) -> list[Floats]:
    """The mean and the greatest |cos(G, J(x))| over rounds, at the weights before."""
    import torch

    from veilmap.attacks.gradient_matching.matching import Matching

    network, scaler = given.header.network, given.header.side_knowledge.scaler
    at = torch.from_numpy(scaler.finely(candidates_m))[None]
    cosines = []
    for each in given.observations:
        matching = Matching.of(network, [each.weights_before], [leaked_gradient(each)])
        cosines.append(matching.to(torch.float32).at(at.float()).cosine[0].abs().numpy())
    found = np.nan_to_num(np.array(cosines, np.float64))
    return [found.mean(axis=0), found.max(axis=0)]
