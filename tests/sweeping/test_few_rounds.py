from dataclasses import replace

import pytest

from tests.sweeping.making import TINY, make_data
from veilmap.experiments.trial import SameRound, Trial
from veilmap.study.attack_settings import AttackSettings
from veilmap.study.settings import RunSettings
from veilmap.sweeping.few_rounds import few_rounds


@pytest.fixture(scope="module")
def data():
    return make_data()


def trial(data, interval, attacked=True, **more):
    settings = RunSettings.of(**{**TINY, "interval": interval})
    attacks = AttackSettings() if attacked else None
    return Trial("fedavg", settings, (data.users[0],), attacks, data="mine", **more)


def said(data, *trials):
    return list(few_rounds(trials, {"mine": data}))


def test_a_target_with_few_rounds_is_said_once_for_each_interval(data):
    rare = [trial(data, interval) for interval in ("8w", "12w", "8w")]
    assert said(data, *rare, trial(data, "1h")) == [
        "the target has fewer than 3 rounds of 8w, 12w, of which little follows; take a shorter "
        "interval, or another target"
    ]


def test_enough_rounds_need_no_word(data):
    assert said(data, trial(data, "1h")) == []
    assert said(data) == []


def test_training_alone_and_a_round_that_is_asked_for_need_none(data):
    assert said(data, trial(data, "8w", attacked=False)) == []
    assert said(data, trial(data, "8w", same_round=SameRound(1))) == []


def test_a_target_who_does_not_take_part_has_no_round(data):
    absent = replace(trial(data, "1h"), targets=("nobody",))
    assert len(said(data, absent)) == 1
