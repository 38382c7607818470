import json

import numpy as np
import pytest

from tests.defences.fakes import East, First, Twice
from veilmap.defences.defence import Report
from veilmap.errors import UserError
from veilmap.study.phones import summarise


def report(step, before, after, moved_m, seconds=0.1, mb=1.0, learning_s=None, **figures):
    return Report(
        step=step,
        points_before=before,
        points=after,
        centroid_moved_m=moved_m,
        seconds=seconds,
        peak_mb=mb,
        learning_seconds=learning_s,
        figures=figures,
    )


def test_a_step_is_summed_up_over_users_and_rounds():
    """Points 10 + 30 → 2 + 4; of the moves 1, 5, 9 the middle; mean of 0.1, 0.1, 0.4 s."""
    diary = [
        {"a": (report("first:num=1", 10, 2, 1.0, asked=2),), "b": ()},
        {"a": (report("first:num=1", 30, 4, 5.0, mb=3.0),)},
        {"b": (report("first:num=1", 8, 6, 9.0, seconds=0.4, asked=4),)},
    ]
    (found,) = summarise([First(), East()], diary)
    assert (found.step, found.turns) == ("first:num=1", 3)
    assert (found.points_before, found.points, found.kept_share) == (16, 4, 0.25)
    assert (found.centroid_moved_m, found.peak_mb, found.seconds_max) == (5, 3, 0.4)
    assert found.seconds == pytest.approx(0.2)
    assert found.figures == {"asked": 3}
    assert found.spent == {}


def test_the_budget_is_that_of_the_user_with_the_largest():
    turn = (report("twice", 5, 5, 0.0, norm=1.0),)
    (found,) = summarise([Twice()], [{"a": turn, "b": turn}, {"a": turn}])
    assert found.spent == {"units": 2}


@pytest.mark.parametrize("returned", [3, None, {"units": "two"}, {"units": None}])
def test_what_is_no_budget_names_the_step(monkeypatch, returned):
    monkeypatch.setattr(Twice, "spent", lambda self, turns: returned)
    turn = (report("twice", 5, 5, 0.0),)
    with pytest.raises(UserError, match="spent of defence Twice must return numbers by name, got"):
        summarise([Twice()], [{"a": turn}])


def test_a_budget_may_have_figures_of_some_users_only(monkeypatch):
    monkeypatch.setattr(
        Twice, "spent", lambda self, turns: {f"of_{len(turns)}": np.int64(len(turns))}
    )
    turn = (report("twice", 5, 5, 0.0),)
    (found,) = summarise([Twice()], [{"a": turn, "b": turn}, {"a": turn}])
    assert json.dumps(found.spent) == '{"of_2": 2.0, "of_1": 1.0}'


def test_a_step_that_never_leaves_a_point_has_no_centroid():
    (found,) = summarise([First(0)], [{"a": (report("first:num=0", 5, 0, None),)}])
    assert (found.centroid_moved_m, found.kept_share) == (None, 0)


def test_a_step_that_never_had_a_point_has_no_share():
    (found,) = summarise([East()], [{"a": (report("east:by_m=10", 0, 0, None),)}])
    assert (found.turns, found.kept_share) == (1, None)


def test_turns_that_could_not_choose_are_counted():
    """Of 10 for 5 there is a choice, of 3 for 5 none; 2 of 3 left is a choice of another kind."""
    turns = [(10, 5), (3, 3), (3, 2)]
    diary = [{"a": (report("first:num=5", *turn, 0.0, asked=5),)} for turn in turns]
    (found,) = summarise([First(5)], diary)
    assert found.kept_whole == 1


def test_learning_is_counted_and_added_up():
    diary = [{"a": (report("east:by_m=10", 1, 1, 0.0, learning_s=s),)} for s in (2.0, None, 3.0)]
    (found,) = summarise([East()], diary)
    assert (found.learned, found.learning_seconds) == (2, 5)
