"""The global optimum of Algorithm 2's objective: a search in the plane, no descent."""

from dataclasses import dataclass
from math import inf

from veilmap.attacks.attack import AttackInput, reads_gradients
from veilmap.attacks.reconstruction import Reconstruction
from veilmap.errors import out_of_range


@dataclass(frozen=True)
class Search:
    """Find the global optimum of DLG's objective by a grid and local searches.

    Attributes:
        inside: search only inside the area, which the server knows; by default also around it,
            where DLG goes too.
        exact_m: how finely the optimum is located, in metres.
    """

    inside: bool = False
    exact_m: float = 0.01
    name = "search"
    oracle = False
    reads = staticmethod(reads_gradients)

    def __post_init__(self) -> None:
        if not 0 < self.exact_m < inf:
            raise out_of_range("exact_m", "above 0 metres", self.exact_m)

    def attack(self, given: AttackInput) -> list[Reconstruction]:
        """One reconstruction per update; a GPU searches for thousands of them at once."""
        from veilmap.attacks.gradient_matching.optimum import find_optima

        return find_optima(self, given)
