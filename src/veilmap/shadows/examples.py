"""Shadow people as examples: what an attack would be given of each, and where home is."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from veilmap.attacks.attack import AttackInput
from veilmap.attacks.density import Density
from veilmap.attacks.person import Person
from veilmap.attacks.sums.history import Floats
from veilmap.federation.observation import Observation
from veilmap.maps.kriging_map import KrigingMap
from veilmap.maps.square_messages import VISITED
from veilmap.shadows.answers import all_answers, summed
from veilmap.shadows.scene import Scene


@dataclass(frozen=True)
class Example:
    """What a server saw of some people, single messages of one or sums of all, and their homes."""

    given: AttackInput
    homes_m: Floats
    people: tuple[int, ...]


def examples(
    scene: Scene, people: Sequence[Person], seed: int, on_done: Callable[[int], None]
) -> Iterator[Example]:
    """One for each person of whom anything is seen; of sums one for all together.

    The density that the attacker knows is that of the other shadows.
    """
    homes_m = np.array([each.home_m for each in people]).reshape(-1, 2)
    every = list(all_answers(scene, people, seed, on_done))
    if scene.is_sum:
        seen = summed(scene, every)
        if seen:
            yield Example(AttackInput(scene.header, seen), homes_m, tuple(range(len(people))))
        return
    total = _visits(scene, [each for own in every for each in own])
    for number, own in enumerate(every):
        if own:
            density = _density(scene, total, own)
            given = AttackInput(scene.header, own, density=density)
            yield Example(given, homes_m[[number]], (number,))


def _visits(scene: Scene, seen: Sequence[Observation]) -> Floats | None:
    family, area = scene.header.map, scene.header.side_knowledge.area
    if not (scene.knows_density and isinstance(family, KrigingMap)):
        return None
    found: Floats = family.added(area, [each.message for each in seen])[VISITED].astype(np.float64)
    return found


def _density(scene: Scene, total: Floats | None, own: Sequence[Observation]) -> Density | None:
    mine = _visits(scene, own)
    if total is None or mine is None:
        return None
    left = total - mine
    squares = np.flatnonzero(left > 0)
    if not len(squares):
        return None
    family, area = scene.header.map, scene.header.side_knowledge.area
    assert isinstance(family, KrigingMap)  # noqa: S101 - else there are no visits
    centres_m = family.grid(area).centres_m(squares)
    return Density(centres_m, left[squares], "the other shadows", oracle=False)
