"""Campaigns of the kriging map over the small federation, and what one process makes of them."""

from dataclasses import replace

import numpy as np

from tests.flower.making import (
    DATA,
    ROUNDS,
    USERS,
    make_campaign,
)
from veilmap.area import Area
from veilmap.defences.defence import Defence
from veilmap.federation.observation import Recorder
from veilmap.federation.server import federate
from veilmap.maps.kriging_map import KrigingMap
from veilmap.study.protection import Protection

SIDE_M = 300.0
SQUARES = len(KrigingMap(SIDE_M).grid(Area.around(DATA.xy_m)))
KINDS = [
    KrigingMap(SIDE_M),
    KrigingMap(SIDE_M, most_squares=3),
    KrigingMap(SIDE_M, layout="sparse"),
    KrigingMap(SIDE_M, most_squares=3, layout="sparse", bits=32, kernel="public"),
]
DIVERSE = ("diverse:eps_m=50",)


def make(kind=KINDS[0], **changes):
    return make_campaign(map=kind, **changes)


def engine(campaign, without=()):
    """The state of the engine in one process, and what its server saw."""
    rounds = [
        replace(this, data={u: d for u, d in this.data.items() if u not in without})
        for this in ROUNDS[: campaign.rounds]
    ]
    plan = campaign.plan(campaign.training, Defence(Protection(campaign.defence).steps), 0)
    recorder = Recorder()
    *_, last = federate(plan, rounds, USERS, recorder)
    return last.state, recorder.observations


def same(one, other):
    """To the bit: signals are multiples of 1/128 dB, whose sums are exact."""
    return one.keys() == other.keys() and all(
        values.dtype == other[name].dtype and np.array_equal(values, other[name])
        for name, values in one.items()
    )


def same_messages(one, other):
    return (one.round, one.user, one.n, one.start_s) == (
        other.round, other.user, other.n, other.start_s,
    ) and same(one.message, other.message) and not one.state  # fmt: skip
