"""The guess of an attacker who sees no message and knows where people in general are."""

from dataclasses import dataclass

from veilmap.attacks.attack import AttackInput, one_by_one
from veilmap.attacks.density import Density
from veilmap.attacks.reconstruction import Reconstruction
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header


@dataclass(frozen=True)
class Prior:
    """The density of everybody else, for every update; the location is its heaviest place."""

    density: Density

    name = "prior"
    oracle_text = "where the other users measured, for the guess prior"

    @property
    def oracle(self) -> bool:
        """Of measurements; the sums that a server has are none."""
        return self.density.oracle

    def reads(self, header: Header) -> bool:
        """Nothing of a message, so any."""
        return True

    def attack(self, given: AttackInput) -> list[Reconstruction]:
        """The same for each update."""
        return one_by_one(given, self._one)

    def _one(self, header: Header, observation: Observation) -> Reconstruction:
        found, cloud = self.density.heaviest_m, self.density.cloud
        return Reconstruction.of(observation, found, cloud=cloud)
