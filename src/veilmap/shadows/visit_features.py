"""What messages of sums say of a candidate: how often it and its surroundings were visited."""

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import distance_transform_edt, gaussian_filter

from veilmap.attacks.attack import AttackInput
from veilmap.attacks.sums.density import density_on
from veilmap.attacks.sums.history import Floats, History, reads_squares
from veilmap.attacks.sums.medoid import medoid_m
from veilmap.attacks.sums.posterior import Posterior
from veilmap.federation.side_knowledge import Header
from veilmap.metrics.places import find_places

WIDTHS_M = (25.0, 50.0, 100.0, 200.0)
NEAR_M = 50.0
TINY = 1e-9


@dataclass(frozen=True)
class VisitFeatures:
    """Frequency around the candidate, its posterior, and how near each round came to it."""

    name = "visits"

    def reads(self, header: Header) -> bool:
        """Messages of the kriging map alone."""
        return reads_squares(header)

    def of(self, given: AttackInput, candidates_m: Floats) -> Floats:
        """Computed on all squares of the grid, read at the candidates."""
        history = History.of(given.header, given.observations)
        density = density_on(history.grid, given.density)
        columns = [
            *_frequencies(history),
            *_approaches(history),
            _logs(Posterior().of(history, density_on(history.grid, None))),
            _logs(density),
            _logs(_blurred(history, density, WIDTHS_M[2])),
        ]
        on_squares = np.stack(columns, axis=1)[history.grid.nearest(candidates_m)]
        away_m = [np.hypot(*(candidates_m - place_m).T) for place_m in _places_m(history)]
        named = [len(each) for each in history.rounds if len(each)]
        whole = (history.spoken, len(history.squares), float(np.mean(named or [0])))
        shape = (len(candidates_m), len(whole))
        return np.column_stack([on_squares, *away_m, np.broadcast_to(whole, shape)])


def _frequencies(history: History) -> list[Floats]:
    """Of rounds, of squares, and of rounds in which little else was visited; blurred by widths."""
    rounds = max(history.spoken, 1)
    often, alone = history.often / rounds, np.zeros(len(history.grid))
    for each in history.rounds:
        if len(each):
            alone[each.squares] += each.k / each.k.sum() / rounds
    found = [often]
    for values, widths_m in (
        (often, WIDTHS_M),
        ((often > 0).astype(np.float64), WIDTHS_M[:3]),
        (alone, WIDTHS_M[:3]),
    ):
        found += [_blurred(history, values, width_m) for width_m in widths_m]
    # Relative to the best candidate of the same person.
    for values in (found[2], found[9]):
        found.append(values / max(values.max(), TINY))
    return found


def _approaches(history: History) -> list[Floats]:
    """Over rounds: the least, middle and greatest distance to a visit, and how often it is near."""
    grid = history.grid
    away_m = []
    for each in history.rounds:
        if len(each):
            free = np.ones(len(grid), bool)
            free[each.squares] = False
            steps = distance_transform_edt(free.reshape(grid.rows, grid.columns))
            away_m.append(steps.ravel() * grid.side_m)
    if not away_m:
        return [np.full(len(grid), np.nan)] * 5
    ranked = np.sort(np.array(away_m), axis=0)
    near = np.exp(-ranked / NEAR_M).mean(axis=0)
    return [ranked[0], ranked[len(ranked) // 2], ranked[-1], ranked.mean(axis=0), near]


def _places_m(history: History) -> list[Floats]:
    """What the simple attacks take for home; NaN where nothing was visited."""
    medoid = medoid_m(history)
    if medoid is None:
        return [np.full(2, np.nan)] * 2
    often = history.often[history.squares]
    return [medoid, np.array(find_places(history.centres_m, often**2, most=1)[0].xy_m)]


def _blurred(history: History, values: Floats, width_m: float) -> Floats:
    grid = history.grid
    image = values.reshape(grid.rows, grid.columns)
    blurred: Floats = gaussian_filter(image, width_m / grid.side_m, mode="constant").ravel()
    return blurred


def _logs(chances: Floats) -> Floats:
    """Relative to the largest."""
    logs: Floats = np.log(np.maximum(chances / max(chances.max(), TINY), TINY))
    return logs
