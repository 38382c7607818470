"""The contract of an attack: what it is given, and what it returns."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from math import isfinite
from numbers import Real
from typing import Any, Protocol

import numpy as np

from veilmap.attacks.density import Density
from veilmap.attacks.person import Person
from veilmap.attacks.reconstruction import Cloud, Outcome, Reconstruction
from veilmap.defences.step import Step
from veilmap.errors import UserError, out_of_range, refuse, shown
from veilmap.federation.map_family import Differentiable
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header
from veilmap.foreign_arrays import is_real, read_only_for
from veilmap.metrics.clouds import cloud_faults
from veilmap.model.device import DeviceName
from veilmap.model.network import Network
from veilmap.strategy import Named
from veilmap.wording import counted


@dataclass(frozen=True)
class AttackInput:
    """What an attack is given: what the server knows and what it saw, and nothing of the truth.

    Attributes:
        header: the network and the side knowledge.
        observations: updates of one user, or sums of all, in the order of their rounds. Long
            series come in several calls, to bound memory; an attack with an attribute
            ``all_at_once`` that is true gets them in one.
        on_done: call it with the number of updates that were finished since the last call.
        device: where to compute; an attack without code for a GPU may ignore it.
        density: where people in general are, if that is known.
        others: of secure sums, by round, the sum of everybody but the target; no server has it,
            and an attack that uses it is an ``oracle``.
        steps: of the defence that the target's phone takes, for an attack that has an attribute
            ``reads_steps``; a defence is public.
        people: the other users whose home is known, with what they measured, for an attack that has
            an attribute ``reads_people`` and is an ``oracle``.
        elsewhere: what the same user sent to other towers, for an attack that has an attribute
            ``reads_elsewhere``: headers with their observations, positions in the same projection.
        found: what attacks before this one found in the same observations, by method, for an attack
            that has an attribute ``reads_found``.
        on_training: an attack that must be trained first calls it with the number of steps that are
            done, and of how many.
    """

    header: Header
    observations: Sequence[Observation]
    on_done: Callable[[int], None] = lambda count: None
    device: DeviceName = "cpu"
    density: Density | None = None
    others: Mapping[int, Observation] = field(default_factory=dict)
    steps: Sequence[Step] = ()
    people: Sequence[Person] = ()
    elsewhere: Sequence[tuple[Header, Sequence[Observation]]] = ()
    found: Mapping[str, Sequence[Reconstruction]] = field(default_factory=dict)
    on_training: Callable[[int, int], None] = lambda done, steps: None


class Attack(Named, Protocol):
    """One way to find where users were: a frozen dataclass whose fields are its settings."""

    @property
    def oracle(self) -> bool:
        """Whether it uses the truth, which no server has; ``oracle_text`` may say what of it."""

    def reads(self, header: Header) -> bool:
        """Whether it can attack updates of this map family."""

    def attack(self, given: AttackInput) -> list[Reconstruction]:
        """The reconstructions of the updates, in their order; several if there are more starts."""


def attacked(attack: Attack, name: str, given: AttackInput) -> list[Reconstruction]:
    """What the attack finds.

    Raises:
        UserError: it does not return what an attack must.
    """
    seen = [read_only_for(attack, each) for each in given.observations]
    found = attack.attack(replace(given, observations=seen))
    refuse(UserError(f"attack {name} must return {fault}") for fault in _faults(found, given))
    return found


def one_by_one(
    given: AttackInput, one: Callable[[Header, Observation], Reconstruction]
) -> list[Reconstruction]:
    """One reconstruction per update, each reported as soon as it is there."""
    found = []
    for observation in given.observations:
        found.append(one(given.header, observation))
        given.on_done(1)
    return found


def can_read(attack: Attack, name: str, header: Header) -> bool:
    """What the attack says of a map family.

    Raises:
        UserError: it says neither yes nor no.
    """
    said: Any = attack.reads(header)
    if not isinstance(said, bool | np.bool_):
        raise UserError(f"reads of attack {name} must return True or False, got {shown(said)}")
    return bool(said)


def reads_gradients(header: Header) -> bool:
    """For attacks that need ∇w of a differentiable model, and nothing of its layers."""
    return isinstance(header.map, Network | Differentiable)


def reads_dense(header: Header) -> bool:
    """For attacks that read the layers of a dense network."""
    return isinstance(header.map, Network)


def not_positive(**settings: float | None) -> Iterator[UserError]:
    """An error for each setting of an attack that is given and not above 0 and finite."""
    for name, value in settings.items():
        if value is not None and not (isfinite(value) and value > 0):
            yield out_of_range(name, "above 0", value)


def _faults(found: Any, given: AttackInput) -> Iterator[str]:
    """What is wrong with the result of an attack; of many faults the first."""
    if not isinstance(found, list):
        yield f"a list of Reconstruction, got {shown(found)}"
        return
    for each in found:
        if not isinstance(each, Reconstruction):
            yield f"a list of Reconstruction, got {shown(each)} in it"
            return
        for name, demand, is_met in _demands(each):
            if not is_met:
                yield f"{demand} for each update, got {name} {shown(getattr(each, name))}"
                return
    clouds = [(each.cloud.xy_m, each.cloud.weights) for each in found]
    yield from (f"usable clouds: {fault}" for fault in islice(cloud_faults(clouds), 1))
    if not all(weights.any() for _, weights in clouds):
        yield "clouds with weight at one place or more, got one without"
    wanted = [(each.round, each.user) for each in given.observations]
    of_updates = [key for key, _ in groupby((each.round, each.user) for each in found)]
    if of_updates != wanted:
        yield (
            f"one reconstruction or more for each of {counted(len(wanted), 'update')}, in order; "
            f"got {len(found):,} for {counted(len(of_updates), 'update')}"
        )


def _demands(each: Reconstruction) -> Iterator[tuple[str, str, bool]]:
    """Of its parts: the name, the demand, and whether it is met; NumPy's numbers are numbers."""
    is_place = is_real(each.xy_m) and each.xy_m.shape == (2,)
    yield "xy_m", "a location (x, y) in metres, an array,", is_place
    is_cloud = isinstance(each.cloud, Cloud)
    arrays = (each.cloud.xy_m, each.cloud.weights) if is_cloud else ()
    yield "cloud", "a Cloud of arrays", is_cloud and all(map(is_real, arrays))
    yield "outcome", "an Outcome", isinstance(each.outcome, Outcome)
    yield "cosine", "a number as cosine", isinstance(each.cosine, Real)
    for name in ("start_s", "n", "iterations", "seconds", "start"):
        value = getattr(each, name)
        yield name, f"a finite number as {name}", isinstance(value, Real) and isfinite(value)
    is_path = each.path_m is None or (is_real(each.path_m) and each.path_m.shape[1:] == (2,))
    yield "path_m", "an array of locations as path_m, or None,", is_path
