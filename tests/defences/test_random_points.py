import numpy as np
import pytest

from tests.conftest import make_local_data
from tests.defences.making import EMPTY, kept, make_turn
from veilmap.defences.diverse import DiverseBatch
from veilmap.defences.random_points import RandomPoints
from veilmap.defences.step import PointStep
from veilmap.errors import UserError
from veilmap.strategy import as_text

BATCH = make_local_data(40)


@pytest.mark.parametrize(("num", "left"), [(1, 1), (7, 7), (40, 40), (41, 40)])
def test_as_many_different_rows_as_asked_for_are_kept(num, left):
    assert len(kept(RandomPoints(num=num), BATCH)) == left
    assert RandomPoints(num=num).on_points(BATCH, make_turn())[1] == {"asked": num}


@pytest.mark.parametrize("eps_m", [0.1, 20.0, 60.0, 1e6])
def test_with_eps_it_keeps_as_many_as_diverse_batch_does(eps_m):
    like = len(kept(DiverseBatch(eps_m), BATCH))
    assert len(kept(RandomPoints(eps_m=eps_m), BATCH)) == like
    reported = RandomPoints(eps_m=eps_m).on_points(BATCH, make_turn())[1]
    assert reported == {"clusters": like, "asked": like}


def test_the_same_turn_draws_the_same_and_another_draws_others():
    first = kept(RandomPoints(num=10), BATCH, make_turn())
    assert kept(RandomPoints(num=10), BATCH, make_turn()) == first
    others = (make_turn(user="u1"), make_turn(round_=4), make_turn(seed=1))
    assert all(kept(RandomPoints(num=10), BATCH, other) != first for other in others)


def test_every_row_is_drawn_equally_often():
    """5 of 40 in 2,000 rounds: 250 times each, standard deviation 14.8; 5 of them are allowed."""
    turns = (make_turn(round_=each) for each in range(2000))
    drawn = np.bincount(
        np.concatenate([kept(RandomPoints(num=5), BATCH, turn) for turn in turns]), minlength=40
    )
    assert np.abs(drawn - 250).max() < 5 * 14.8


@pytest.mark.parametrize("step", [RandomPoints(num=3), RandomPoints(eps_m=50.0)])
def test_of_no_points_come_no_points(step):
    points, _ = step.on_points(EMPTY, make_turn())
    assert points.xy_m.shape == (0, 2)


def test_it_is_a_point_step_with_a_name_and_prints_what_differs():
    assert isinstance(RandomPoints(num=1), PointStep)
    assert as_text(RandomPoints(num=16)) == "random:num=16"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({}, "give one of num, how many points, and eps_m, .*; got None and None"),
        ({"num": 3, "eps_m": 50.0}, "got 3 and 50.0"),
        ({"num": 0}, "num must be a whole number of at least 1, got 0"),
        ({"eps_m": -5.0}, "eps_m must be .* above 0, got -5.0"),
    ],
)
def test_wrong_settings_are_named(wrong, message):
    with pytest.raises(UserError, match=message):
        RandomPoints(**wrong)
