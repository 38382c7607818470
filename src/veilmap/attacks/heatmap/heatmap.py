"""The distribution of the whole batch from one update: where the user was, not only on average.

The update is linear in the measure μ = Σ r_i δ_{x_i}. While the residuals r_i share one sign, μ is
a heat map of the user's points, and least squares with that sign over a grid recovers it. If they
differ in sign, μ is signed, and |μ| still shows the places but not how long the user stayed. All
choices are made without the truth, by how well a fit to half of the update's coordinates explains
the other half.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Literal, get_args

from veilmap.attacks.attack import AttackInput, reads_dense
from veilmap.attacks.reconstruction import Reconstruction
from veilmap.errors import Checked, UserError, not_among, out_of_range, too_low

LinearisationName = Literal["before", "middle", "after", "path"]
SignName = Literal["one", "both"]


@dataclass(frozen=True)
class Heatmap(Checked):
    """Least squares for the density of the batch, on squares that are refined where it has mass.

    Attributes:
        grid_cells: approximate number of squares of the first grid, which covers the area.
        finest_m: side at which squares with mass are no longer quartered, in metres.
        linearise: weights at which the tangent is taken; by default those that explain the update
            best.
        sign: whether residuals have one sign or both; by default what explains the update best.
        close: refine every linearisation whose unexplained part on the first grid is at most this
            many times that of the best; 1 refines the best alone and is fastest.
    """

    grid_cells: int = 1000
    finest_m: float = 15.0
    linearise: LinearisationName | Literal["auto"] = "auto"
    sign: SignName | Literal["auto"] = "auto"
    close: float = 10.0
    name = "heatmap"
    renamed = (("cells", "grid_cells"),)
    oracle = False
    reads = staticmethod(reads_dense)

    def _faults(self) -> Iterator[UserError]:
        yield from too_low(4, grid_cells=self.grid_cells)
        if not 0 < self.finest_m < inf:
            yield out_of_range("finest_m", "above 0 metres", self.finest_m)
        for name, kind in (("linearise", LinearisationName), ("sign", SignName)):
            choices = (*get_args(kind), "auto")
            yield from not_among(name, getattr(self, name), choices)
        yield from too_low(1, close=self.close)

    def attack(self, given: AttackInput) -> list[Reconstruction]:
        """One reconstruction per update; users who started from the same weights share a grid."""
        from veilmap.attacks.heatmap.map_selection import recover_maps

        return recover_maps(self, given)
