import pytest

from tests.attacks.sums.making import given_of, history_of, plan_of
from veilmap.attacks.sums import medoid
from veilmap.attacks.sums.medoid import Medoid, medoid_m


def test_it_is_the_visited_square_in_the_middle():
    """Of squares at x = 25, 75, 475 m: 75 m is 50 + 400 m from the others, 25 m is 50 + 450 m."""
    found = Medoid().attack(given_of(plan_of(), [[(25, 25), (75, 25), (475, 25)]]))
    assert found[0].xy_m.tolist() == [75, 25]
    assert found[0].cloud.xy_m.tolist() == [[75, 25]]


def test_squares_count_as_often_as_rounds_name_them_and_one_far_trip_does_not_move_it():
    rounds = [[(25, 25), (75, 25)], [(25, 25)], [(25, 25), (975, 575)]]
    assert medoid_m(history_of(plan_of(), rounds)).tolist() == [25, 25]


def test_of_too_many_squares_those_visited_most_are_compared(monkeypatch):
    monkeypatch.setattr(medoid, "MOST_SQUARES", 2)
    rounds = [[(25, 25), (525, 25), (925, 25)], [(25, 25), (525, 25)], [(25, 25)]]
    assert medoid_m(history_of(plan_of(), rounds)).tolist() == [25, 25]
    assert medoid_m(history_of(plan_of(), rounds)) == pytest.approx([25, 25])
