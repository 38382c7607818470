import tracemalloc

import numpy as np
import pytest

from tests.conftest import make_local_data
from tests.defences.fakes import Average, East, First, Twice, turn
from veilmap.defences.cost import measured
from veilmap.defences.defence import Defence
from veilmap.errors import UserError
from veilmap.local_data import LocalData


def on_a_line(*x_m):
    n = len(x_m)
    return LocalData(np.column_stack([x_m, np.zeros(n)]), np.full(n, -90.0), np.arange(n))


def test_steps_are_taken_in_their_order_and_each_says_what_it_did():
    """Of 0, 30, 60 the first two stay (centroid 30 → 15), then both move by 10."""
    defence = Defence((First(2), East()))
    batch, (first, east), _ = defence.local_batch(on_a_line(0, 30, 60), turn())
    assert batch.xy_m[:, 0].tolist() == [10, 40]
    assert (first.step, first.points_before, first.points) == ("first:num=2", 3, 2)
    assert (first.centroid_moved_m, first.figures) == (15, {"asked": 2})
    assert (east.points_before, east.points, east.centroid_moved_m) == (2, 2, 10)


def test_the_update_passes_the_steps_on_updates_alone():
    update, (report,) = Defence((First(2), Twice())).update(np.array([3.0, 4.0]), 2, turn())
    assert update.tolist() == [6, 8]
    assert (report.step, report.points, report.figures) == ("twice", 2, {"norm": 5})


def test_without_steps_nothing_happens():
    data = make_local_data(5)
    assert Defence().local_batch(data, turn())[:2] == (data, ())
    update = np.ones(3)
    assert Defence().update(update, 5, turn()) == (update, ())


def test_only_the_defended_take_steps():
    data, defence = make_local_data(5), Defence((First(), Twice()), users=("a",))
    assert len(defence.local_batch(data, turn("a"))[0]) == 1
    assert defence.local_batch(data, turn("b"))[:2] == (data, ())
    assert defence.update(np.ones(1), 5, turn("b"))[1] == ()


def test_no_points_stay_no_points():
    defence = Defence((First(0), East()))
    batch, reports, _ = defence.local_batch(make_local_data(4), turn())
    assert len(batch) == 0
    assert [report.centroid_moved_m for report in reports] == [None, None]


def test_a_phone_learns_from_its_past_and_in_its_first_round_from_that():
    """Rounds at 0, 100 and 300: learned from the first, still that, then from both before."""
    defence = Defence((Average(),))
    first, (told,), memory = defence.local_batch(on_a_line(0, 0), turn(t=1))
    assert (first.xy_m[0, 0], told.figures) == (0, {"learned_from": 2})
    second, (told,), memory = defence.local_batch(on_a_line(100, 100), turn(t=2), memory)
    assert (second.xy_m[0, 0], told.figures) == (0, {})
    third, (told,), memory = defence.local_batch(on_a_line(300), turn(t=3), memory)
    assert (third.xy_m[0, 0], told.figures) == (50, {"learned_from": 4})


def test_a_step_can_learn_from_a_public_sample():
    public = {"x": on_a_line(10), "y": on_a_line(30)}
    defence = Defence((Average("public"),), public=public)
    batch, _, memory = defence.local_batch(on_a_line(500), turn())
    assert batch.xy_m[0, 0] == 20
    assert memory.past is None
    with pytest.raises(UserError, match="learns from a public sample and there is none"):
        Defence((Average("public"),))


def test_memory_beyond_what_was_held_before_is_measured():
    with measured() as cost:
        _ = np.zeros(1_000_000)
    assert 8.0 <= cost.peak_mb < 8.5
    assert cost.seconds > 0
    assert not tracemalloc.is_tracing()


def test_a_watch_that_was_on_before_stays_on():
    tracemalloc.start()
    try:
        with measured() as cost:
            pass
        assert tracemalloc.is_tracing()
        assert cost.peak_mb < 0.1
    finally:
        tracemalloc.stop()
