"""What single messages say of places, and how far off that may be."""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from veilmap.attacks.attack import Attack, AttackInput
from veilmap.attacks.first_layer import FirstLayer
from veilmap.attacks.reconstruction import Cloud, Reconstruction
from veilmap.attacks.rows.rows import Rows
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header

# The expected EMD of a reading relative to the scaler's unit of length, from the sine of the angle
# between the message and what the reading explains of it.
_EXPECTED: dict[type[Attack], Callable[[float], float]] = {
    Rows: lambda sine: 0.4 * sine,
    FirstLayer: lambda sine: 0.6 * sqrt(sine),
}
# A reading that is so many times as far off as another of the same message adds nothing to it.
_WORSE = 1.5
# The rows lead where they are so much nearer than the first layer.
_CLEARLY = 0.4


@dataclass(frozen=True)
class Reading:
    """What one attack reads in one message.

    Attributes:
        by: the attack.
        cloud: the places, all inside the area.
        cosine: of the message and what the attack explains of it.
        error_m: how far off the places are expected to be.
    """

    by: type[Attack]
    cloud: Cloud
    cosine: float
    error_m: float


@dataclass(frozen=True)
class Message:
    """A message with its readings, the best first; none if it is zero in all that is read."""

    header: Header
    observation: Observation
    readings: tuple[Reading, ...]

    @property
    def useful(self) -> tuple[Reading, ...]:
        """The best reading and those that are about as good."""
        return tuple(each for each in self.readings if each.error_m <= _WORSE * self.best.error_m)

    @property
    def best(self) -> Reading:
        return self.readings[0]

    @property
    def rows_lead(self) -> bool:
        """Whether the rows of the second layer say clearly more than the first layer."""
        others = [each.error_m for each in self.readings if each.by is not Rows]
        is_clear = all(self.best.error_m <= _CLEARLY * error_m for error_m in others)
        return self.best.by is Rows and is_clear


def read_messages(given: AttackInput) -> list[Message]:
    """The messages with their readings; those that were made before are not made again."""
    attacks: list[Attack] = [each for each in (Rows(), FirstLayer()) if each.reads(given.header)]
    read = {type(each): given.found.get(each.name) or each.attack(given) for each in attacks}
    messages = []
    for i, observation in enumerate(given.observations):
        own = [_reading(by, every[i], given.header) for by, every in read.items()]
        usable = [each for each in own if each is not None]
        usable.sort(key=lambda each: each.error_m)
        messages.append(Message(given.header, observation, tuple(usable)))
    return messages


def _reading(by: type[Attack], found: Reconstruction, header: Header) -> Reading | None:
    known = header.side_knowledge
    if not (np.isfinite(found.cosine) and known.area.contains(found.cloud.xy_m).all()):
        return None
    sine = sqrt(max(1 - found.cosine**2, 0.0))
    error_m = _EXPECTED[by](sine) * float(np.mean(known.scaler.scale_m))
    return Reading(by, found.cloud, found.cosine, error_m)
