"""The Bayesian posterior over home, given the visits of all rounds."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from veilmap.attacks.attack import AttackInput
from veilmap.attacks.reconstruction import Cloud, Reconstruction
from veilmap.attacks.sums.density import density_on
from veilmap.attacks.sums.history import Floats, History, reads_squares, same_for_all
from veilmap.errors import Checked, UserError, out_of_range
from veilmap.federation.side_knowledge import Header

# Squares farther from home than this many spreads are visited as by chance.
REACH = 2.0
# Chances of a visit that has nothing to do with home.
LEAST_CHANCE, MOST_CHANCE = 1e-4, 0.5
# A cloud leaves out what weighs less than this part of its heaviest square.
NEGLIGIBLE = 1e-6


@dataclass(frozen=True)
class Posterior(Checked):
    """P(home = h | visits) ∝ density(h) · L(h)^β over all squares of the grid.

    In a round a phone visits the square at distance d from home with the chance
    q(d) = q₀ exp(−d²/s²), and any square c by chance with b(c), the mean number of squares of a
    round times the public density; p = 1 − (1 − q)(1 − b). With v_c the rounds of T that name c

        log L(h) = Σ_c v_c log(p/b) + (T − v_c) log((1 − p)/(1 − b)), |c − h| ≤ 2 s.

    β < 1 allows for what the model leaves out: visits of neighbouring squares and of successive
    rounds depend on each other. The defaults are fitted to simulated people (docs/attacks.md).

    Attributes:
        home_chance: q₀, the chance that the square of home is visited in a round.
        home_spread_m: s.
        home_temper: β.
    """

    home_chance: float = 0.5
    home_spread_m: float = 65.0
    home_temper: float = 0.2

    name = "posterior"
    oracle = False
    all_at_once = True

    def _faults(self) -> Iterator[UserError]:
        if not 0 < self.home_chance < 1:
            yield out_of_range("home_chance", "above 0 and below 1", self.home_chance)
        if not 0 < self.home_spread_m < np.inf:
            yield out_of_range("home_spread_m", "above 0 metres", self.home_spread_m)
        if not 0 < self.home_temper <= 1:
            yield out_of_range("home_temper", "above 0 and at most 1", self.home_temper)

    def reads(self, header: Header) -> bool:
        """Messages of the kriging map alone."""
        return reads_squares(header)

    def attack(self, given: AttackInput) -> list[Reconstruction]:
        """The same cloud for every message: the posterior over the squares' centres."""
        before = time.perf_counter()
        history = History.of(given.header, given.observations)
        cloud = None
        if len(history.squares):
            cloud = cloud_of(history, self.of(history, density_on(history.grid, given.density)))
        return same_for_all(given, cloud, time.perf_counter() - before)

    def of(self, history: History, density: Floats) -> Floats:
        """The posterior over all squares, which sums to 1; the prior where nothing was visited."""
        evidence = self.home_temper * self._log_likelihood(history, density)
        weights: Floats = density * np.exp(evidence - evidence.max())
        found: Floats = weights / weights.sum()
        return found

    def _log_likelihood(self, history: History, density: Floats) -> Floats:
        grid, rounds = history.grid, history.spoken
        often = history.often.reshape(grid.rows, grid.columns)
        per_round = often.sum() / max(rounds, 1)
        by_chance = np.clip(per_round * density, LEAST_CHANCE, MOST_CHANCE).reshape(often.shape)
        reach = int(REACH * self.home_spread_m / grid.side_m)
        total = np.zeros((grid.rows + 2 * reach, grid.columns + 2 * reach))
        for row in range(-reach, reach + 1):
            for column in range(-reach, reach + 1):
                squared_m2 = (row**2 + column**2) * grid.side_m**2
                if squared_m2 > (REACH * self.home_spread_m) ** 2:
                    continue
                q = self.home_chance * np.exp(-squared_m2 / self.home_spread_m**2)
                p = 1 - (1 - q) * (1 - by_chance)
                gained = often * np.log(p / by_chance)
                gained += (rounds - often) * np.log((1 - p) / (1 - by_chance))
                # What the square at an offset from home says is added at home.
                south, west = reach + row, reach + column
                total[south : south + grid.rows, west : west + grid.columns] += gained
        inside = slice(reach, reach + grid.rows), slice(reach, reach + grid.columns)
        found: Floats = total[inside].ravel()
        return found


def cloud_of(history: History, chances: Floats) -> Cloud:
    """Chances of the squares of a grid as a cloud, without those that hardly matter."""
    kept = np.flatnonzero(chances > NEGLIGIBLE * chances.max())
    return Cloud(history.grid.centres_m(kept), chances[kept] / chances[kept].sum())
