"""What an attacker may be given besides the messages: the defence, and the other users."""

from collections.abc import Mapping

import numpy as np

from veilmap.attacks.attack import Attack
from veilmap.attacks.person import Person
from veilmap.defences.step import Step
from veilmap.local_data import LocalData
from veilmap.metrics.hours import Hours
from veilmap.metrics.places import find_places, likely_home
from veilmap.study.evidence.evidence import Evidence
from veilmap.study.step_notation import step_of


def wants(attacks: Mapping[str, Attack], attribute: str) -> bool:
    """Whether one of the attacks declares that it reads something."""
    return any(getattr(each, attribute, False) for each in attacks.values())


def steps_of(evidence: Evidence, target: str) -> tuple[Step, ...]:
    """The defence that the target's phone takes.

    Raises:
        UserError: a step of a transcript is not installed.
    """
    known = evidence.updates.header.side_knowledge
    if known.defended and target not in known.defended:
        return ()
    if evidence.steps is not None:
        return evidence.steps
    return tuple(step_of(text) for text in known.defence)


def people_besides(evidence: Evidence, target: str) -> tuple[Person, ...]:
    """The other users with a home, which is where their nights are."""
    rounds: dict[str, dict[int, LocalData]] = {}
    for t, of_round in (evidence.truth or {}).items():
        for user, data in of_round.items():
            if user != target:
                rounds.setdefault(user, {})[t] = data
    found = []
    for user, own in sorted(rounds.items()):
        home_m = _home_m(LocalData.join(list(own.values())), evidence.timezone)
        if home_m is not None:
            found.append(Person(user, home_m, own))
    return tuple(found)


def _home_m(data: LocalData, timezone: str) -> np.ndarray | None:
    home = likely_home(find_places(data.xy_m, hours=Hours.local(data.time_s, timezone)))
    if home is None or home.why_heaviest is not None:
        return None
    return np.array(home.place.xy_m)
