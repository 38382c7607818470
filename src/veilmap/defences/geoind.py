"""Geo-indistinguishability: every point moved by planar Laplace noise (Andrés et al. 2013)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from veilmap.defences.planar_laplace import draw_m
from veilmap.defences.step import Figures, Turn
from veilmap.errors import out_of_range
from veilmap.local_data import LocalData

# Moves by 20,000 km on average, to the other side of the earth.
LEAST_PER_M = 1e-7


@dataclass(frozen=True)
class GeoIndistinguishability:
    """Move every point by planar Laplace noise of mean length 2/ε.

    For true places at distance r, the densities of the output differ by a factor of e^{εr} at most.
    The noise is drawn in projected metres: in degrees it would be squeezed from west to east.
    Positions alone are covered: the signal strength, which says something of the place, the time
    and the number of points stay as they are. Like all noise here it is seeded, for studies.

    Attributes:
        epsilon_per_m: ε, the paper's Geo_ε, per metre. Points move 2/ε on average: 200 m at 0.01.
        remap: bring points that left the public area back to the nearest place in it. That looks
            at nothing but the noisy point, so the guarantee stays.
    """

    epsilon_per_m: float = 0.01
    remap: bool = True

    name = "geoind"
    looks_at = "nothing"
    moves = "at random"

    def __post_init__(self) -> None:
        if not LEAST_PER_M <= self.epsilon_per_m < math.inf:
            demand = f"finite and at least {LEAST_PER_M:g}"
            raise out_of_range("epsilon_per_m", demand, self.epsilon_per_m)

    def on_points(self, batch: LocalData, turn: Turn) -> tuple[LocalData, Figures]:
        """The same points elsewhere, and how far they went, the way back into the area included."""
        noise_m = draw_m(len(batch), self.epsilon_per_m, turn.stream("geoind"))
        noisy_m = batch.xy_m + noise_m
        xy_m = turn.area.nearest_inside(noisy_m) if self.remap else noisy_m
        moved_m = np.linalg.norm(xy_m - batch.xy_m, axis=1)
        return replace(batch, xy_m=xy_m), {
            "moved_m": float(moved_m.mean()) if len(batch) else 0.0,
            "moved_max_m": float(moved_m.max(initial=0.0)),
            "remapped": float((xy_m != noisy_m).any(axis=1).sum()),
            "points": float(len(batch)),
        }

    def spent(self, turns: Sequence[Figures]) -> Figures:
        """What n points spend together: n·ε, because the noise is independent for every point.

        Output densities of two whole traces that are nowhere farther apart than r metres differ by
        a factor of at most e^{nεr}; a point that comes again in a later round, as in cumulative
        online learning, counts again. The two ε at 100 m, about a block of houses, are plain
        numbers.
        """
        points = sum(turn["points"] for turn in turns)
        return {
            "points": points,
            "epsilon_per_m_all_points": points * self.epsilon_per_m,
            "epsilon_at_100_m_one_point": 100 * self.epsilon_per_m,
            "epsilon_at_100_m_all_points": 100 * points * self.epsilon_per_m,
        }
