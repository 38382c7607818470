"""Which arrays a server takes as a message over squares, and which as a sum of some."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilmap.area import Area
from veilmap.federation.plan import Plan
from veilmap.local_data import LocalData, Scaler
from veilmap.maps.kriging_map import KrigingMap
from veilmap.maps.square_messages import SIGNAL, SQUARES, VISITED

AREA = Area(0.0, 0.0, 100.0, 50.0)
FAMILIES = [
    KrigingMap(25.0, most_squares=3, layout=layout, bits=bits)
    for layout in ("dense", "sparse")
    for bits in (16, 32)
]


def plan_of(family):
    return Plan(family, Scaler.of_area(AREA), AREA, label_offset_dbm=-95.0)


def sent(family, seed, points=6):
    """What a phone sends of a few points in and around the area."""
    draw = np.random.default_rng(seed)
    xy_m = draw.uniform((-20, -20), (120, 70), (points, 2))
    data = LocalData(xy_m, draw.uniform(-140, -40, points), np.arange(points, dtype=np.float64))
    plan = plan_of(family)
    return family.answer(plan, {}, data, f"u{seed}", 1)


@given(st.sampled_from(FAMILIES), st.lists(st.integers(0, 99), max_size=8))
def test_a_sum_of_sound_messages_is_sound_and_tells_what_they_tell(family, seeds):
    plan, messages = plan_of(family), [sent(family, seed) for seed in seeds]
    assert all(family.message_fault(plan, message) is None for message in messages)
    total = family.added(AREA, messages)
    assert family.sum_fault(plan, total, len(messages)) is None
    assert family.message_size(plan, total) == sum(
        family.message_size(plan, message) for message in messages
    )


@given(st.sampled_from(FAMILIES), st.lists(st.integers(0, 99), max_size=8), st.integers(0, 8))
def test_a_sum_is_a_message_sums_of_sums_are_the_sum(family, seeds, cut):
    messages = [sent(family, seed) for seed in seeds]
    parts = [family.added(AREA, messages[:cut]), family.added(AREA, messages[cut:])]
    whole, of_parts = family.added(AREA, messages), family.added(AREA, parts)
    assert all((whole[name] == of_parts[name]).all() for name in whole)


NOT_SUMS = {
    "a fraction of a visit": ({VISITED: {2: 1.5}}, "k = 1.5 for a square in a sum of 2 messages"),
    "less than no visit": ({VISITED: {2: -1}}, "k = -1"),
    "more visits than messages": ({VISITED: {2: 3}}, "k = 3"),
    "a signal without a visit": ({SIGNAL: {2: 0.5}}, "not visited"),
    "a signal of two in one": ({VISITED: {2: 1}, SIGNAL: {2: -256}}, "more than 255 dB"),
    "a part of a step": ({VISITED: {2: 1}, SIGNAL: {2: 1 / 256}}, "no multiple of 0.0078125 dB"),
    "more squares than may be named": (
        {VISITED: dict.fromkeys(range(7), 1)},
        "7 visits in a sum of 2 messages, and at most 3 each",
    ),
}


@pytest.mark.parametrize("case", NOT_SUMS)
def test_what_no_two_phones_can_have_sent_is_no_sum(case):
    changes, why = NOT_SUMS[case]
    family = FAMILIES[0]
    total = {name: np.zeros(len(family.grid(AREA))) for name in (VISITED, SIGNAL)}
    for name, values in changes.items():
        total[name][list(values)] = list(values.values())
    assert why in family.sum_fault(plan_of(family), total, 2)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_message_of_other_types_is_refused(family):
    """Whole numbers are steps and others dB: beside those of honest phones they must be alike."""
    plan, message = plan_of(family), sent(family, 1)
    for name, values in message.items():
        others = [values.astype(values.dtype.newbyteorder())] if values.itemsize > 1 else []
        if name != SQUARES:
            others.append(values.astype(np.float64) / 128)
            others[-1][values == 1] = 1
        for other in others:
            assert family.message_fault(plan, {**message, name: other}) is not None, other.dtype
        assert family.message_fault(plan, {**message, name: values.copy()}) is None
