"""The attacker that is trained through the defence."""

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np

from veilmap.attacks.attack import AttackInput
from veilmap.attacks.person import Person
from veilmap.attacks.reconstruction import Reconstruction
from veilmap.attacks.sums.history import same_for_all
from veilmap.errors import Checked, UserError, not_among, too_low
from veilmap.federation.side_knowledge import Header
from veilmap.shadows.features import readers
from veilmap.shadows.scene import Scene
from veilmap.shadows.training import FEWEST_PEOPLE, Trained, train_attacker

Source = Literal["campus", "others"]
KEPT = 4  # trained attackers in memory


@dataclass(frozen=True)
class Learned(Checked):
    """Learn from shadow people, whose phones run the same code with the same defence.

    Every public square is a candidate for home and is scored by its features given the messages of
    all rounds; the scores are a map of where home is, calibrated on people set aside. Nothing is
    known of the defence but how to run it, so any serves that can be registered.

    Attributes:
        people: how many to learn from; a fifth of them is set aside.
        source: campus, simulated people placed into the area; or others, the run's other users with
            what they measured, which no real server has.
        seed: of the people, their phones and the training.
    """

    people: int = 600
    source: Source = "campus"
    seed: int = 0

    name = "learned"
    oracle_text = "what the other users measured, for learned"
    all_at_once = True
    reads_steps = True

    def _faults(self) -> Iterator[UserError]:
        yield from too_low(FEWEST_PEOPLE, int, people=self.people)
        yield from not_among("source", self.source, ("campus", "others"))
        yield from too_low(0, int, seed=self.seed)

    @property
    def oracle(self) -> bool:
        """Simulated people are public."""
        return self.source == "others"

    @property
    def reads_people(self) -> bool:
        """Whether it must be given the other users."""
        return self.source == "others"

    def reads(self, header: Header) -> bool:
        """Messages that some features measure."""
        return bool(readers(header))

    def attack(self, given: AttackInput) -> list[Reconstruction]:
        """The same map of home for every message."""
        if not given.observations:
            return []
        before = time.perf_counter()
        cloud = self.trained(given).model.map_of(given).cloud
        return same_for_all(given, cloud, time.perf_counter() - before)

    def trained(self, given: AttackInput) -> Trained:
        """The attacker for messages of this kind; kept for the next of the same run."""
        scene = Scene.of(given, given.steps)
        people = tuple(given.people[: self.people]) if self.source == "others" else ()
        if self.source == "others" and not people:
            raise UserError(
                "learned with source=others learns from the run's other users and got none with a "
                "home; give the measurements, or leave source out for simulated people"
            )
        lesson = _Lesson(scene, self, _fingerprint(scene, people), people, given.on_training)
        return _trained(lesson)


@dataclass(frozen=True)
class _Lesson:
    """What decides a trained attacker; of the people, which are much, their fingerprint."""

    scene: Scene
    how: Learned
    fingerprint: str
    others: tuple[Person, ...] = field(compare=False)
    on_training: Callable[[int, int], None] = field(compare=False)


@lru_cache(maxsize=KEPT)
def _trained(lesson: _Lesson) -> Trained:
    scene, how, people = lesson.scene, lesson.how, lesson.others
    if how.source == "campus":
        from veilmap.shadows.campus_people import campus_people  # worlds take long to load

        known = scene.header.side_knowledge
        drawn = campus_people(known.area, known.interval_s, scene.rounds, how.people, how.seed)
        people = tuple(drawn)
    knows_homes = how.source == "others"
    return train_attacker(
        scene, people, how.seed, knows_homes=knows_homes, on_training=lesson.on_training
    )


def _fingerprint(scene: Scene, people: Sequence[Person]) -> str:
    """Of the states that messages depend on, and of what others measured."""
    digest = hashlib.sha256()
    for state in scene.states:
        for name, values in sorted(state.items()):
            digest.update(name.encode() + np.ascontiguousarray(values).tobytes())
    for person in people:
        digest.update(person.user.encode() + np.asarray(person.home_m, np.float64).tobytes())
        for t, data in sorted(person.rounds.items()):
            digest.update(str(t).encode() + np.ascontiguousarray(data.xy_m).tobytes())
    return digest.hexdigest()
