import tracemalloc
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tests.conftest import make_local_data
from tests.defences.fakes import Average, East, First, Twice, turn
from veilmap.defences.cost import measured
from veilmap.defences.defence import Defence
from veilmap.defences.memory import NEW
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


def test_a_defence_does_not_print_the_public_sample():
    assert repr(Defence(public={"a": on_a_line(1)})) == repr(Defence())


def test_a_turn_is_of_no_cell_unless_one_is_named():
    same, other = (replace(turn(), cell=cell) for cell in ("", "c"))
    assert turn() == same
    assert turn().stream("x").random() == same.stream("x").random() != other.stream("x").random()


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
    first, (reported,), memory = defence.local_batch(on_a_line(0, 0), turn(t=1))
    assert (first.xy_m[0, 0], reported.figures) == (0, {"learned_from": 2})
    second, (reported,), memory = defence.local_batch(on_a_line(100, 100), turn(t=2), memory)
    assert (second.xy_m[0, 0], reported.figures) == (0, {})
    third, (reported,), memory = defence.local_batch(on_a_line(300), turn(t=3), memory)
    assert (third.xy_m[0, 0], reported.figures) == (50, {"learned_from": 4})


def test_learning_takes_the_time_between_its_begin_and_its_end(monkeypatch):
    clock = iter([10.0, 12.5])
    monkeypatch.setattr(
        "veilmap.defences.memory.time", SimpleNamespace(perf_counter=lambda: next(clock))
    )
    learned, lesson = NEW.learn(Average(), on_a_line(0, 0), {}, turn())
    assert lesson.seconds == 2.5
    assert learned.learn(Average(), on_a_line(0), {}, turn(t=2))[1].seconds is None


def test_a_step_can_learn_from_a_public_sample():
    public = {"x": on_a_line(10), "y": on_a_line(30)}
    defence = Defence((Average("public"),), public=public)
    batch, (reported,), memory = defence.local_batch(on_a_line(500), turn("a"))
    assert (batch.xy_m[0, 0], reported.figures) == (20, {"learned_from": 2})
    _, (reported,), _ = defence.local_batch(on_a_line(500, 600, 700), turn("a", 2), memory)
    assert reported.learning_seconds is None


def test_ones_own_rows_in_a_public_sample_are_left_out():
    public = {"a": on_a_line(10), "b": on_a_line(30)}
    batch, _, _ = Defence((Average("public"),), public=public).local_batch(on_a_line(5), turn("a"))
    assert batch.xy_m[0, 0] == 30
    alone = Defence((Average("public"),), public={"a": on_a_line(10)})
    with pytest.raises(UserError, match="public sample of other users and there are none"):
        alone.local_batch(on_a_line(5), turn("a"))


def test_a_step_learns_from_what_reaches_it_and_not_from_what_was_measured():
    """Both rounds are moved by 10 before the mean is learned: 10 first, then still 10, then 60."""
    defence, memory, found = Defence((East(), Average())), NEW, []
    for t, x_m in enumerate(([0, 0], [100, 100], [500]), 1):
        batch, _, memory = defence.local_batch(on_a_line(*x_m), turn(t=t), memory)
        found.append(batch.xy_m[0, 0])
    assert found == [10, 10, 60]


def test_no_points_reach_a_step_that_learns():
    defence = Defence((First(0), Average()))
    batch, reports, memory = defence.local_batch(on_a_line(1, 2), turn())
    assert (len(batch), len(reports), memory) == (0, 1, NEW)
    _, reports, _ = Defence((First(0), Average(), East())).local_batch(on_a_line(1, 2), turn())
    assert [report.step for report in reports] == ["first:num=0", "east:by_m=10"]


def test_memory_beyond_what_was_held_before_is_measured():
    result, cost = measured(lambda: len(np.zeros(1_000_000)))
    assert result == 1_000_000
    assert 8.0 <= cost.peak_mb < 8.5
    assert not tracemalloc.is_tracing()


def test_time_is_that_of_the_work_without_the_watch(monkeypatch):
    """Work of 2 s, which takes 100 s under the watch."""
    clock = [0.0]
    monkeypatch.setattr(
        "veilmap.defences.cost.time", SimpleNamespace(perf_counter=lambda: clock[0])
    )

    def work():
        clock[0] += 100.0 if tracemalloc.is_tracing() else 2.0

    assert measured(work)[1].seconds == 2.0
    assert clock == [102.0]


def test_a_watch_that_was_on_before_stays_on_and_what_it_saw_does_not_count():
    """8 MB were held once and 4 MB still are."""
    tracemalloc.start()
    try:
        np.zeros(1_000_000)
        held = np.zeros(500_000)
        _, cost = measured(list)
        assert tracemalloc.is_tracing()
        assert cost.peak_mb < 0.1
        assert len(held) == 500_000
    finally:
        tracemalloc.stop()
