"""A small area in which people live and walk, and what is seen of them."""

from dataclasses import dataclass

import numpy as np

from veilmap.area import Area
from veilmap.attacks.attack import AttackInput
from veilmap.attacks.person import Person
from veilmap.federation.plan import Training
from veilmap.federation.side_knowledge import Header, SideKnowledge
from veilmap.local_data import LocalData, Scaler
from veilmap.maps.kriging_map import KrigingMap
from veilmap.maps.network_map import NetworkMap
from veilmap.model.network import Network
from veilmap.shadows.answers import answers
from veilmap.shadows.scene import Scene
from veilmap.strategy import as_text

AREA = Area(0.0, 0.0, 1000.0, 800.0)
WEEK_S = 604_800.0
SUMS = KrigingMap(square_m=50.0)
NETWORK = NetworkMap.of(Network(hidden=(8, 8), activations=("relu", "relu"), dropout=(0.0, 0.0)))


@dataclass(frozen=True)
class Away:
    """Leave out all points near home, as a stranger writes it: home is the first point."""

    radius_m: float = 150.0
    name = "away"

    def on_points(self, batch, turn):
        home_m = np.median(batch.xy_m, axis=0)
        away_m = np.hypot(*(batch.xy_m - home_m).T)
        return batch.take(np.flatnonzero(away_m > self.radius_m)), {}


def header_of(family=SUMS, steps=(), **training):
    texts = tuple(as_text(step) for step in steps)
    known = SideKnowledge(
        Scaler.of_area(AREA), AREA, 32634, -90.0, Training(**training), WEEK_S, defence=texts
    )
    return Header(family, known)


def scene_of(
    family=SUMS, steps=(), states=(), rounds=4, is_sum=False, knows_density=True, **training
):
    header = header_of(family, steps, **training)
    return Scene(header, tuple(steps), rounds, is_sum, knows_density, states)


def person(number, rounds=4, points=60):
    """At home most of the time; a walk to a place of work and some errands every round."""
    draw = np.random.default_rng([7, number])
    home_m, work_m = draw.uniform((100, 100), (900, 700)), draw.uniform((100, 100), (900, 700))
    data = {}
    for t in range(1, rounds + 1):
        errands_m = draw.uniform(*AREA.corners_m, (points // 5, 2))
        at_home_m = draw.normal(home_m, 25, (points, 2))
        way_m = home_m + np.linspace(0, 1, points // 3)[:, None] * (work_m - home_m)
        xy_m = np.vstack([at_home_m, way_m, draw.normal(work_m, 10, (points // 4, 2)), errands_m])
        time_s = (t - 1) * WEEK_S + np.arange(len(xy_m), dtype=np.float64)
        signal = -80 - 0.02 * xy_m[:, 0] + draw.normal(0, 2, len(xy_m))
        data[t] = LocalData(xy_m, signal.round(), time_s)
    return Person(f"p{number}", home_m, data)


def people(count, first=0, **settings):
    return tuple(person(first + number, **settings) for number in range(count))


def seen_of(scene, who, seed=3):
    return AttackInput(scene.header, answers(scene, scene.plan(seed, {}), who), steps=scene.steps)
