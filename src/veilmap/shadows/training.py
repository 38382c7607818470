"""Trains an attacker in a scene: on most of the shadows, checked on those set aside."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from veilmap.attacks.person import Person
from veilmap.attacks.sums.history import Floats
from veilmap.errors import UserError
from veilmap.maps.kriging_map import KrigingMap
from veilmap.shadows.bayes_risk import Limit, limits
from veilmap.shadows.calibration import Calibration, calibration, cross_sharpened, sharpest
from veilmap.shadows.examples import Example, examples
from veilmap.shadows.features import readers
from veilmap.shadows.home_model import HomeModel, fitted
from veilmap.shadows.scene import Scene
from veilmap.square_grid import SquareGrid, usual_side_m

FEWEST_PEOPLE = 20
SET_ASIDE = 5  # every fifth person
# Features of updates cost a pass through the network at each candidate.
MOST_CANDIDATES_OF_UPDATES = 2500


@dataclass(frozen=True)
class Trained:
    """The model, and how it does on the people set aside; None where sums leave none aside."""

    model: HomeModel
    calibration: Calibration | None
    limits: tuple[Limit, ...]


def train_attacker(
    scene: Scene,
    people: Sequence[Person],
    seed: int,
    *,
    knows_homes: bool,
    on_training: Callable[[int, int], None] = lambda done, steps: None,
) -> Trained:
    """Learn where home is from people whose phones run in the scene.

    Args:
        scene: the map, the defence, the rounds.
        people: the shadows.
        seed: of the random streams of their phones and of the sampling of candidates.
        knows_homes: whether where people live is a feature: they must live where the target does.
        on_training: called with the number of steps that are done, and of how many.

    Raises:
        UserError: there are too few people, or nothing measures messages of this map.
    """
    features = readers(scene.header)
    if not features:
        raise UserError(
            f"no features read messages of the map {scene.header.map.name}; register some, as "
            "docs/extending.md shows, or leave learned out of --method"
        )
    on_done = _Steps(on_training, 2 * len(people)).more
    seen = list(examples(scene, people, seed, on_done))
    heard = sum(len(each.people) for each in seen)
    if heard < FEWEST_PEOPLE:
        raise UserError(
            f"learned needs {FEWEST_PEOPLE} people to learn from and got messages of "
            f"{heard:,}; give more with people=, or another source="
        )
    homes_m = np.array([each.home_m for each in people]) if knows_homes else None
    candidates_m = candidates_of(scene)
    aside = [] if scene.is_sum else seen[::SET_ASIDE]
    learned_from = seen if scene.is_sum else [e for i, e in enumerate(seen) if i % SET_ASIDE]
    model = fitted(features, candidates_m, homes_m, learned_from, seed, on_done)
    trained = _checked(model, aside) if aside else Trained(model, None, ())
    on_training(2 * len(people), 2 * len(people))
    return trained


class _Steps:
    """Counts two per person: the phone has answered, the candidates were measured."""

    def __init__(self, on_training: Callable[[int, int], None], steps: int) -> None:
        self._on_training, self._steps, self._done = on_training, steps, 0

    def more(self, people: int) -> None:
        """So many more."""
        self._done += people
        self._on_training(self._done, self._steps)


def candidates_of(scene: Scene) -> Floats:
    """The centres of public squares; fewer of them for updates of networks."""
    area, family = scene.header.side_knowledge.area, scene.header.map
    if isinstance(family, KrigingMap) and family.grid(area).side_m >= usual_side_m(area):
        grid = family.grid(area)
    else:
        least_m = sqrt(area.width_m * area.height_m / MOST_CANDIDATES_OF_UPDATES)
        is_sum = isinstance(family, KrigingMap)
        grid = SquareGrid.of(area, max(usual_side_m(area), 0.0 if is_sum else least_m))
    return grid.centres_m(np.arange(len(grid)))


def _checked(model: HomeModel, aside: Sequence[Example]) -> Trained:
    chances = [model.chances(each.given, each.people) for each in aside]
    homes_m = np.concatenate([each.homes_m for each in aside])
    maps = cross_sharpened(model.candidates_m, chances, homes_m)
    model = replace(model, sharpness=sharpest(model.candidates_m, chances, homes_m))
    return Trained(model, calibration(maps, homes_m), limits(maps, homes_m))
