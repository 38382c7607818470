"""The blind guess: what an attacker finds who knows the public area and sees no message."""

from dataclasses import dataclass

from veilmap.attacks.attack import AttackInput, one_by_one
from veilmap.attacks.reconstruction import Reconstruction
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header


@dataclass(frozen=True)
class Blind:
    """The middle of the area, for every update.

    No other fixed place in a rectangle is nearer to its farthest point.
    """

    name = "blind"
    oracle = False

    def reads(self, header: Header) -> bool:
        """Nothing of a message, so any."""
        return True

    def attack(self, given: AttackInput) -> list[Reconstruction]:
        """The same for each update."""
        return one_by_one(given, self._one)

    def _one(self, header: Header, observation: Observation) -> Reconstruction:
        return Reconstruction.of(observation, header.side_knowledge.area.centre_m)
