"""The differencing attacker: knows everybody else's message and takes it away from the sum."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veilmap.attacks.attack import Attack, AttackInput
from veilmap.attacks.reconstruction import Reconstruction
from veilmap.attacks.sums.posterior import Posterior
from veilmap.federation.map_family import Additive
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header

REST = "what is left of the sum"


@dataclass(frozen=True)
class Differencing:
    """What is left of a secure sum without everybody else's messages, read by another attack.

    The worst case that differential privacy is about. Of a sum without noise one user's message
    is left, to the bit; a single message is read as it is. Sums of other maps are weighted means
    of weights and are not read.

    Attributes:
        attack_on_rest: reads what is left.
    """

    attack_on_rest: Attack = field(default=Posterior(), repr=False)

    name = "differencing"
    oracle = True
    oracle_text = "everybody else's messages, for differencing"
    all_at_once = True
    reads_others = True

    def reads(self, header: Header) -> bool:
        """Messages that are added up, if the attack on the rest reads them."""
        return isinstance(header.map, Additive) and self.attack_on_rest.reads(header)

    def attack(self, given: AttackInput) -> list[Reconstruction]:
        """One reconstruction per update, of what is left of it."""
        left = [rest(each, given.others.get(each.round)) for each in given.observations]
        found = self.attack_on_rest.attack(replace(given, observations=left))
        return [replace(each, user=given.observations[0].user) for each in found]


def rest(observation: Observation, others: Observation | None) -> Observation:
    """A sum less the sum of the others, whose arrays have the same names and shapes."""
    if others is None:
        return observation
    message: Mapping[str, NDArray[Any]] = {
        name: np.subtract(value, others.message[name])
        for name, value in observation.message.items()
    }
    n = observation.n - others.n
    return replace(observation, user=REST, message=message, n=n)
