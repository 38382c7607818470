"""The distribution of the batch from how the rows of the second layer's update scatter.

Where hundreds of local steps cancel the gradient, the noise of dropout and of the labels does not
cancel: it makes the rows of (ΔW2, Δb2) nearly independent draws, whose covariance is a sum over
the places of the batch with positive shares (``docs/attacks.md`` derives it).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from veilmap.attacks.attack import AttackInput
from veilmap.attacks.reconstruction import Reconstruction
from veilmap.errors import Checked, UserError, out_of_range, too_low
from veilmap.federation.side_knowledge import Header
from veilmap.model.network import Network


@dataclass(frozen=True)
class Rows(Checked):
    """Maximum likelihood for the places whose activations explain the covariance of the rows.

    Attributes:
        grid_cells: approximate number of squares of the first grid, which covers the area.
        finest_m: side at which squares with mass are no longer quartered, in metres.
        scatter_db: standard deviation of labels at one place. A place counts by the square of its
            residuals, and this is the part of them that training does not remove.
    """

    grid_cells: int = 200
    finest_m: float = 15.0
    scatter_db: float = 3.0
    name = "rows"
    oracle = False

    def _faults(self) -> Iterator[UserError]:
        yield from too_low(4, grid_cells=self.grid_cells)
        for name in ("finest_m", "scatter_db"):
            if not 0 < (value := getattr(self, name)) < inf:
                yield out_of_range(name, "above 0 and finite", value)

    def reads(self, header: Header) -> bool:
        """Dense networks with two hidden layers or more: with one, the second layer is one row."""
        return isinstance(header.map, Network) and len(header.map.hidden) > 1

    def attack(self, given: AttackInput) -> list[Reconstruction]:
        """One reconstruction per update."""
        from veilmap.attacks.rows.places import find_places

        return find_places(self, given)
