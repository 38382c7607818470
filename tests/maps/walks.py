"""Phones that walk an area, and what the kriging map makes of them."""

from collections.abc import Mapping

import numpy as np

from veilmap.area import Area
from veilmap.federation import verbs
from veilmap.federation.map_family import Arrays, Prediction, Sent
from veilmap.federation.plan import Plan
from veilmap.federation.server import RoundResult, federate
from veilmap.local_data import LocalData, Round, Scaler
from veilmap.maps.kriging_map import KrigingMap

AREA = Area(0.0, 0.0, 1000.0, 600.0)
USERS = ("a", "b", "c", "d")
SQUARE_M = 50.0
AT_M = np.random.default_rng(5).uniform((0, 0), (1000, 600), (40, 2))


def make_plan(area=AREA, seed=0, offset_dbm=-90.0, broken=None, **settings) -> Plan:
    family = KrigingMap(**{"square_m": SQUARE_M, **settings})
    return Plan(
        family,
        Scaler.of_area(area),
        area,
        label_offset_dbm=offset_dbm,
        seed=seed,
        broken=broken or {},
    )


def points(*places) -> LocalData:
    """From triples of x, y and signal."""
    x_m, y_m, rsrp_dbm = np.array(places, np.float64).reshape(-1, 3).T
    return LocalData(np.column_stack([x_m, y_m]), rsrp_dbm, np.arange(len(x_m), dtype=np.float64))


def walk(seed=0, n=60) -> LocalData:
    """Places drawn, with 20 dB less from west to east."""
    draw = np.random.default_rng(seed)
    xy_m = draw.uniform((0, 0), (1000, 600), (n, 2))
    signal = -80 - 0.02 * xy_m[:, 0] + draw.normal(0, 3, n)
    return LocalData(xy_m, signal.round(), np.arange(n, dtype=np.float64))


def walks(rounds=3, users=USERS) -> list[Round]:
    """Nobody stays out of a round, and no two walks are the same."""
    return [
        Round(t, 100.0 * t, {user: walk(seed=100 * t + k) for k, user in enumerate(users)})
        for t in range(1, rounds + 1)
    ]


def last_of(plan, rounds, users=USERS, observer=None) -> RoundResult:
    *_, last = federate(plan, rounds, users, observer)
    return last


def trained(plan, data: Mapping[str, LocalData]) -> Arrays:
    """The state after one round."""
    return last_of(plan, [Round(1, 0.0, data)], tuple(data)).state


def sent_by(plan, data: Mapping[str, LocalData], t=1) -> list[Sent]:
    state = plan.map.start(plan)
    return [
        Sent(user, plan.map.answer(plan, state, batch, user, t), len(batch))
        for user, batch in data.items()
    ]


def predicted(plan, state, at_m=AT_M) -> Prediction:
    return verbs.predict(plan.map, plan, state, np.array(at_m, np.float64))


def assert_same_map(plan, one, other) -> None:
    """To the bit, the standard deviation too."""
    here, there = (predicted(plan, state) for state in (one, other))
    assert (here.rsrp_dbm == there.rsrp_dbm).all()
    assert (here.std_db == there.std_db).all()
