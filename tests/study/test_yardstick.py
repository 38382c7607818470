import numpy as np
import pytest

from tests.maps.walks import AT_M, walk, walks
from veilmap.local_data import LocalData
from veilmap.metrics.map_errors import SquaredErrors, TestSet
from veilmap.study import yardstick
from veilmap.study.yardstick import Yardstick

TEST = walk(seed=999)


def make_yardstick(rounds, test=TEST):
    every = LocalData.join([data for this in rounds for data in this.data.values()])
    return Yardstick(TestSet(test).constant_errors(every), rounds, test)


def test_the_constant_has_no_skill_and_the_truth_all_of_it():
    made = make_yardstick(walks())
    none, all_ = made.skill(made.constant), made.skill(SquaredErrors(0.0, 0.0))
    assert (none.per_row, none.by_place) == (0, 0)
    assert (all_.per_row, all_.by_place) == (1, 1)


def test_of_a_slope_of_the_signal_central_kriging_knows_most():
    """20 dB from west to east have a standard deviation of 5.8 dB, beside noise of 3 dB."""
    made = make_yardstick(walks(6))
    assert 0.6 < made.skill(made.central).by_place < 1
    assert made.central.rmse_db < 0.6 * made.constant.rmse_db


def test_the_share_of_central_is_1_for_central_kriging_and_0_for_the_constant():
    made = make_yardstick(walks())
    skill = made.skill(made.central).by_place
    assert made.share_of_central(skill) == 1
    assert made.share_of_central(skill / 4) == 0.25
    assert made.share_of_central(0.0) == 0
    assert made.share_of_central(-skill) == -1


def test_there_is_no_share_of_what_has_no_skill():
    """The east measured -60 in training and -120 afterwards: central kriging misleads."""
    before = walks()
    turned = LocalData(TEST.xy_m, -200 - TEST.rsrp_dbm, TEST.time_s)
    made = make_yardstick(before, turned)
    assert made.skill(made.central).by_place < 0
    assert made.share_of_central(0.5) is None


def test_where_the_constant_is_exact_there_is_no_skill():
    flat = LocalData(AT_M, np.full(len(AT_M), -90.0), np.zeros(len(AT_M)))
    rounds = [type(this)(this.number, 0.0, {"a": flat}) for this in walks(1)]
    made = make_yardstick(rounds, flat)
    skill = made.skill(made.constant)
    assert (skill.per_row, skill.by_place) == (None, None)
    assert made.share_of_central(None) is None
    assert made.share_of_central(skill.by_place) is None


@pytest.fixture
def computed(monkeypatch):
    """How often central kriging was computed."""
    calls, central = [], yardstick.central_kriging
    monkeypatch.setattr(
        yardstick, "central_kriging", lambda rounds: calls.append(1) or central(rounds)
    )
    yardstick._central.cache_clear()
    yield calls
    yardstick._central.cache_clear()


def test_central_kriging_of_the_same_data_is_computed_once(computed):
    assert make_yardstick(walks()).central == make_yardstick(walks()).central
    assert len(computed) == 1


def test_central_kriging_of_other_data_is_computed_again(computed):
    made = [
        make_yardstick(walks()),
        make_yardstick(walks(2)),
        make_yardstick(walks(users=("a", "b"))),
        make_yardstick(walks(), walk(seed=998)),
    ]
    assert len({each.central for each in made}) == len(computed) == len(made)
