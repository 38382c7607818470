"""The whole batch's distribution from one update: where the user was, not only on average.

The update is linear in the measure μ = Σ r_i δ_{x_i}. While the residuals r_i share one sign, μ is
a heat map of the user's points, and least squares with that sign over a grid recovers it. Where
they change sign, μ is signed and |μ| still shows the places, though no longer how much time each
took. Every choice is made without the truth: by how well a fit to half of the update's coordinates
explains the other half.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal, get_args

from veilmap.attacks.reconstruction import Reconstruction
from veilmap.errors import UserError, out_of_range, refuse, unknown_choice
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header
from veilmap.model.device import DeviceName

LinearisationName = Literal["before", "middle", "after", "path"]
SignName = Literal["one", "both"]


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
        if not 0 < self.finest_m < inf:
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
        from veilmap.attacks.heatmap.heat import Heat

        return Heat(self).attack(header, observations, on_done, device)
