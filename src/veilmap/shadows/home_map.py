"""Chances of candidates as a map of where home is, and what the map says."""

from dataclasses import dataclass

import numpy as np

from veilmap.attacks.reconstruction import Cloud
from veilmap.attacks.sums.history import Floats
from veilmap.metrics.places import find_places

# A map leaves out what weighs less than this part of its heaviest square.
NEGLIGIBLE = 1e-6


@dataclass(frozen=True)
class HomeMap:
    """Shares of the candidates, which sum to 1."""

    xy_m: Floats
    shares: Floats

    @classmethod
    def of(cls, xy_m: Floats, chances: Floats, sharpness: float) -> "HomeMap":
        """Shares ∝ chance^γ; all equal where there is no chance."""
        weights = chances**sharpness
        total = weights.sum()
        if not (np.isfinite(total) and total > 0):
            weights, total = np.ones(len(xy_m)), float(len(xy_m))
        return cls(xy_m, weights / total)

    @property
    def cloud(self) -> Cloud:
        """Without the candidates that hardly matter."""
        kept = self.shares > NEGLIGIBLE * self.shares.max()
        return Cloud(self.xy_m[kept], self.shares[kept] / self.shares[kept].sum())

    def guess_m(self) -> Floats:
        """The middle of the disc of 50 m that holds most."""
        cloud = self.cloud
        return np.array(find_places(cloud.xy_m, cloud.weights, most=1)[0].xy_m)

    def mass(self, place_m: Floats, within_m: float) -> float:
        """The share within a distance of a place."""
        return float(self.shares[np.hypot(*(self.xy_m - place_m).T) <= within_m].sum())

    def at(self, home_m: Floats) -> int:
        """The candidate nearest to a place."""
        return int(np.hypot(*(self.xy_m - home_m).T).argmin())

    def more_likely(self, home_m: Floats) -> float:
        """The share of all candidates that are likelier than the one at home.

        It is uniform over people if the map is calibrated; half of what is equally likely counts.
        """
        own = self.shares[self.at(home_m)]
        above, same = self.shares[self.shares > own].sum(), self.shares[self.shares == own].sum()
        return float(above + same / 2)
