"""People whose phones name squares, and what attacks are given of them."""

import numpy as np

from tests.maps.walks import AREA, make_plan
from veilmap.attacks.attack import AttackInput
from veilmap.attacks.sums.history import History
from veilmap.federation.observation import Observation
from veilmap.federation.plan import Training
from veilmap.federation.side_knowledge import Header, SideKnowledge
from veilmap.local_data import LocalData, Scaler
from veilmap.metrics.places import find_places

# Attacks that read messages of the kriging map and no others.
OF_SUMS = ("squares", "frequency", "medoid", "posterior", "zone_centre", "differencing")


def header_of(plan, defence=()):
    known = SideKnowledge(
        Scaler.of_area(plan.area), plan.area, 32634, -90.0, Training(), 604_800.0, defence=defence
    )
    return Header(plan.map, known)


def batch_at(xy_m):
    xy_m = np.asarray(xy_m, np.float64).reshape(-1, 2)
    return LocalData(xy_m, np.full(len(xy_m), -90.0), np.arange(len(xy_m), dtype=np.float64))


def observed(plan, rounds, user="a"):
    """What one phone sends; each round is a list of places."""
    return [
        Observation(t, user, {}, message, int(plan.map.message_size(plan, message)), 100.0 * t)
        for t, xy_m in enumerate(rounds, 1)
        for message in [plan.map.answer(plan, {}, batch_at(xy_m), user, t)]
    ]


def given_of(plan, rounds, defence=(), **knowledge):
    return AttackInput(header_of(plan, defence), observed(plan, rounds), **knowledge)


def history_of(plan, rounds):
    return History.of(header_of(plan), observed(plan, rounds))


def heaviest_m(found):
    """The place with most weight of all clouds together."""
    xy_m = np.concatenate([each.cloud.xy_m for each in found])
    weights = np.concatenate([each.cloud.weights for each in found])
    return np.array(find_places(xy_m, weights, most=1)[0].xy_m)


def around(home_m, rounds=8, trips=20, seed=0, area=AREA):
    """Rounds of a person at home, who also goes about: places within 60 m, and trips anywhere."""
    draw = np.random.default_rng(seed)
    return [
        np.vstack([draw.normal(home_m, 30, (60, 2)), draw.uniform(*area.corners_m, (trips, 2))])
        for _ in range(rounds)
    ]


def plan_of(side_m=50.0, area=AREA):
    return make_plan(area, square_m=side_m)
