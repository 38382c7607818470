from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import make_measurements
from veilmap.errors import UserError
from veilmap.rounds import (
    SPLITS,
    Split,
    by_user,
    cumulative,
    cut,
    draw_groups,
    origin_s,
    parse_interval,
    pooled,
    round_numbers,
    sessions,
)


def measured_at(*seconds):
    """One user's rows, so many seconds after 2024-01-01 10:00."""
    data = make_measurements(len(seconds), users=1)
    moments = pl.Series([data.first + timedelta(seconds=each) for each in seconds])
    return replace(data, table=data.table.with_columns(time=moments))


@pytest.mark.parametrize(
    ("text", "seconds"), [("1h", 3600), ("3h", 10_800), ("1d", 86_400), ("1w", 604_800),
                          ("30min", 1800), (" 2.5 h ", 9000), ("90s", 90)]
)  # fmt: skip
def test_intervals_are_read(text, seconds):
    assert parse_interval(text) == seconds


@pytest.mark.parametrize("text", ["", "1", "h", "0h", "-1h", "1 fortnight", "1e3h", "nan h"])
def test_what_is_no_interval_is_refused_with_an_example(text):
    with pytest.raises(UserError, match=r"\(s, min, h, d, w\), for example 1h, 3h, 1d or 1w"):
        parse_interval(text)


@settings(max_examples=25)
@given(st.integers(1, 120), st.integers(1, 4), st.integers(60, 90_000), st.floats(300, 200_000))
def test_rounds_are_disjoint_ordered_and_together_the_input(rows, users, step_s, interval_s):
    data = make_measurements(rows, users, step_s)
    rounds = cut(data, interval_s)
    numbers = [this.number for this in rounds]
    assert numbers == sorted(set(numbers))
    seen = [
        (user, time, signal)
        for this in rounds
        for user, local in this.data.items()
        for time, signal in zip(local.time_s, local.rsrp_dbm, strict=True)
    ]
    seconds = pl.col("time").dt.epoch("us") / 1e6
    expected = data.table.select("user", seconds, "rsrp_dbm").rows()
    assert sorted(seen) == sorted(expected)
    for this in rounds:
        for local in this.data.values():
            assert (local.time_s >= this.start_s).all()
            assert (local.time_s < this.start_s + interval_s + 1e-6).all()
            assert (np.diff(local.time_s) >= 0).all()


def test_days_and_hours_follow_the_clock_and_weeks_the_first_measurement():
    first = datetime(2024, 7, 1, 10, 30, 15, 250_000, tzinfo=UTC)  # half past twelve in Berlin
    midnight = datetime(2024, 6, 30, 22, tzinfo=UTC).timestamp()
    assert origin_s(first, "Europe/Berlin", 3600) == midnight
    assert origin_s(first, "Europe/Berlin", 86_400) == midnight
    assert origin_s(first, "Europe/Berlin", 604_800) == first.timestamp()


def test_a_round_begins_with_its_first_instant_and_ends_before_the_next():
    """Round 1 of an hour begins at midnight."""
    ten = datetime(2024, 1, 1, 10, tzinfo=UTC)
    time_s = ten.timestamp() - 36_000 + np.array([-1, 0, 3599.5, 3600, 36_000])
    assert round_numbers(time_s, ten, "UTC", 3600.0).tolist() == [0, 1, 1, 2, 11]


def test_rounds_are_numbered_from_the_first_measurement_of_all():
    """Ten in the morning is in the eleventh hour; a day earlier adds 24."""
    data = make_measurements(2, users=1, step_s=0.5)
    midnight_s = datetime(2024, 1, 1, tzinfo=UTC).timestamp()
    facts = [
        [(this.number, this.start_s - midnight_s) for this in cut(data, 3600, first)]
        for first in (None, data.first - timedelta(days=1))
    ]
    assert facts == [[(11, 36_000)], [(35, 36_000)]]


def test_an_interval_without_data_gives_no_round():
    data = make_measurements(2, users=1, step_s=10 * 86_400)
    assert [this.number for this in cut(data, 86_400)] == [1, 11]


def test_cumulative_rounds_hold_all_data_up_to_now():
    rounds = cut(make_measurements(40, users=2), 3600)
    grown = list(cumulative(rounds))
    times = [(this.number, this.start_s) for this in rounds]
    assert [(this.number, this.start_s) for this in grown] == times
    for index, this in enumerate(grown):
        for user, local in this.data.items():
            so_far = [past.data[user] for past in rounds[: index + 1] if user in past.data]
            assert local.time_s.tolist() == np.concatenate([p.time_s for p in so_far]).tolist()


@pytest.mark.parametrize("kind", SPLITS)
def test_a_split_is_disjoint_and_together_the_input(kind):
    data = make_measurements(400, users=3, step_s=1300)
    training, test = Split(split=kind, burst_gap_s=250).apply(data, seed=1)
    assert len(training) + len(test) == 400
    assert set(training.table["time"]).isdisjoint(test.table["time"])
    assert 0.1 < len(test) / 400 < 0.3


def test_a_burst_is_never_on_both_sides():
    """Ten bursts of 20 rows a minute apart, with an hour of silence between them."""
    times = np.concatenate([hour * 3600 + 60 * np.arange(20) for hour in range(0, 30, 3)])
    data = make_measurements(200, users=1, step_s=1)
    moments = pl.Series([data.first + timedelta(seconds=int(t)) for t in times])
    data = replace(data, table=data.table.with_columns(time=moments))
    training, test = Split(split="burst").apply(data, seed=0)
    hours = [set(part.table["time"].dt.truncate("1h")) for part in (training, test)]
    assert hours[0].isdisjoint(hours[1])
    assert len(test) == 40


def at_hours(*hours, users=1):
    """Rows of users in turn, so many hours after 2024-01-01 10:00 UTC."""
    data = make_measurements(len(hours), users=users)
    moments = pl.Series([data.first + timedelta(hours=float(each)) for each in hours])
    return replace(data, table=data.table.with_columns(time=moments))


def sides(split, data, seeds=8):
    """(training, test) under several seeds; both sides must have rows."""
    return [split.apply(data, seed) for seed in range(seeds)]


def test_a_session_is_never_on_both_sides():
    """Twenty drives of ten rows, a quarter of an hour apart, with two hours between the drives."""
    hours = np.concatenate([5 * drive + 0.25 * np.arange(10) for drive in range(20)])
    data = at_hours(*hours)
    drive = pl.Series(np.repeat(np.arange(20), 10))
    data = replace(data, table=data.table.with_columns(accuracy_m=drive.cast(pl.Float64)))
    for training, test in sides(Split(split="session"), data):
        assert set(training.table["accuracy_m"]).isdisjoint(test.table["accuracy_m"])
        assert len(test) == 40


def test_an_hours_silence_ends_no_session_and_a_longer_one_does():
    """Rows at 0, 1, 2.01 and 3.01 hours are two sessions of two rows."""
    data = at_hours(0, 1, 2.01, 3.01)
    assert sessions(data).tolist() == [0, 0, 1, 1]


def test_the_silence_of_one_user_is_not_broken_by_another():
    """u0 at 0, 1.5 and 3 hours, u1 half an hour after each."""
    data = at_hours(0, 0.5, 1.5, 2, 3, 3.5, users=2)
    assert sorted(sessions(data).tolist()) == [0, 1, 2, 3, 4, 5]


def test_two_users_at_the_same_time_have_sessions_of_their_own():
    assert sessions(at_hours(0, 0.1, 0.2, 0.3, users=2)).tolist() == [0, 1, 0, 1]


def test_a_day_of_a_user_is_never_on_both_sides():
    """Days begin at midnight in the data's time zone: 23:30 UTC is the next day in Berlin."""
    data = replace(at_hours(*np.arange(0, 480, 1.5), users=2), timezone="Europe/Berlin")
    local = pl.col("time").dt.convert_time_zone("Europe/Berlin").dt.date()
    for training, test in sides(Split(split="day"), data):
        of_training, of_test = (
            set(part.table.select("user", day=local).rows()) for part in (training, test)
        )
        assert of_training.isdisjoint(of_test)
        assert of_test


def test_a_square_is_never_on_both_sides():
    data = make_measurements(400, users=3)
    for side_m in (100.0, 37.0):
        for training, test in sides(Split(split="block", block_m=side_m), data):
            squares = [
                set(map(tuple, np.floor(part.xy_m / side_m).astype(int).tolist()))
                for part in (training, test)
            ]
            assert squares[0].isdisjoint(squares[1])
            assert 0.1 < len(test) / 400 < 0.3


@pytest.mark.parametrize("side_m", [0, -50.0, float("nan"), float("inf")])
def test_squares_of_a_block_split_have_a_side(side_m):
    with pytest.raises(UserError, match="block_m must be a number of metres above 0, got"):
        Split(split="block", block_m=side_m)


def test_one_square_cannot_be_split_and_the_way_out_is_its_side():
    data = make_measurements(100)
    with pytest.raises(UserError, match=r"or change --split, --block or --test-share$"):
        Split(split="block", block_m=1e9).apply(data, 0)


def test_one_session_cannot_be_split():
    data = make_measurements(100, step_s=60)
    with pytest.raises(UserError, match=r"session split .* or change --split or --test-share$"):
        Split(split="session").apply(data, 0)


def test_one_long_burst_never_becomes_the_test_data():
    """Bursts of 900, 50 and 50 rows: with a share of 0.2 only the short ones can be test data."""
    data = make_measurements(1000, users=1, step_s=1)
    moments = [data.first + timedelta(seconds=i + 3600 * ((i >= 900) + (i >= 950))) for i in
               range(1000)]  # fmt: skip
    data = replace(data, table=data.table.with_columns(time=pl.Series(moments)))
    for seed in range(5):
        assert len(Split(split="burst").apply(data, seed)[1]) == 100


def test_a_silence_as_long_as_the_gap_ends_no_burst():
    """The test data are one of two bursts: the first three rows, or the last two."""
    data = measured_at(0, 300, 600, 900.5, 1200.5)
    split = Split(split="burst", test_share=0.5, burst_gap_s=300)
    drawn = {tuple(split.apply(data, seed)[1].table["time"]) for seed in range(20)}
    times = tuple(data.table["time"])
    assert drawn == {times[:3], times[3:]}


@pytest.mark.parametrize(("share", "rows"), [(0.25, 0), (0.26, 2), (0.5, 2), (0.75, 2), (0.76, 4)])
def test_a_group_is_taken_if_that_brings_the_share_nearer(share, rows):
    """Of two groups of two; at 0.25 none and one are equally near, at 0.75 one and both."""
    chosen = draw_groups(np.array([0, 0, 1, 1]), share, np.random.default_rng(0))
    assert chosen.sum() == rows
    assert chosen[0] == chosen[1]


def test_half_of_the_wanted_share_is_enough_for_both_sides():
    """Bursts of 90 and 10 rows: 10 are half of 20 for the test, and half of 20 for training."""
    data = measured_at(*range(90), *range(5000, 5010))
    assert len(Split(test_share=0.2).apply(data, seed=0)[1]) == 10
    assert len(Split(test_share=0.8).apply(data, seed=0)[1]) == 90
    with pytest.raises(UserError, match=r"a test share of 1.00, far from the 0.8 wanted"):
        Split(test_share=0.8).apply(data, seed=1)
    with pytest.raises(UserError, match=r"a test share of 0.08, far from the 0.2 wanted"):
        Split(test_share=0.2).apply(measured_at(*range(92), *range(5000, 5008)), seed=0)


def test_a_split_far_from_the_wanted_share_is_refused():
    with pytest.raises(UserError, match=r"a test share of 0.00, far from the 0.2 wanted"):
        Split(split="burst").apply(make_measurements(50, users=1, step_s=1), 0)


def test_a_chronological_split_takes_each_users_last_rows():
    training, test = Split(split="chronological").apply(make_measurements(100, users=2), seed=0)
    for user in ("u0", "u1"):
        last = training.table.filter(pl.col("user") == user)["time"].max()
        assert (test.table.filter(pl.col("user") == user)["time"] > last).all()


def test_a_user_with_one_row_keeps_it_for_training():
    """Of ten rows a quarter is two and a half: two are late."""
    table = make_measurements(11, users=1).table.with_columns(user=pl.Series([*"aaaaaaaaaab"]))
    data = replace(make_measurements(11), table=table)
    training, test = Split(split="chronological", test_share=0.25).apply(data, seed=0)
    assert test.table["user"].to_list() == ["a", "a"]
    assert (len(training), test.table["time"].min()) == (9, data.table["time"][8])


def test_a_random_split_has_the_share_to_the_row():
    assert (
        len(Split(split="random", test_share=0.3).apply(make_measurements(99, step_s=1), 0)[1])
        == 30
    )


def test_the_seed_decides_a_random_split():
    data = make_measurements(300)
    tests = [
        Split(split="random").apply(data, seed)[1].table["time"].to_list() for seed in (1, 1, 2)
    ]
    assert tests[0] == tests[1] != tests[2]


def test_one_row_cannot_be_split():
    with pytest.raises(UserError, match=r"a burst split of 1 row gives a test share of 0.00"):
        Split().apply(make_measurements(1), 0)


@pytest.mark.parametrize("share", [0, 1, -0.2, float("nan")])
def test_a_share_must_be_between_0_and_1(share):
    with pytest.raises(UserError, match="test_share must be above 0 and below 1"):
        Split(test_share=share)


@pytest.mark.parametrize("gap_s", [0, -1.0, float("nan")])
def test_a_gap_between_bursts_takes_time(gap_s):
    with pytest.raises(UserError, match=f"burst_gap_s must be above 0 seconds, got {gap_s}"):
        Split(burst_gap_s=gap_s)
    assert Split(burst_gap_s=0.5).burst_gap_s == 0.5


def test_a_fifth_is_set_aside_in_bursts_that_five_minutes_part():
    assert Split() == Split(split="burst", test_share=0.2, burst_gap_s=300.0)


def test_an_unknown_split_is_refused_with_the_choices():
    with pytest.raises(UserError, match="unknown split 'brust'; choose one of: random, burst"):
        Split(split="brust")  # type: ignore[arg-type]


def test_pooled_has_every_row_in_time_order():
    data = make_measurements(30)
    assert len(pooled(data)) == 30
    assert (np.diff(pooled(data).time_s) > 0).all()


def test_what_each_user_measured_is_what_a_filter_for_every_user_finds():
    """Names of different lengths and scripts, so that their order is not that of a number."""
    data = make_measurements(60, users=5)
    names = {"u0": "é", "u1": "10", "u2": "9", "u3": "z", "u4": "😀"}
    data = replace(data, table=data.table.with_columns(pl.col("user").replace_strict(names)))
    found = by_user(data)
    assert list(found) == sorted(names.values())
    for user, local in found.items():
        expected = pooled(data.keep(pl.col("user") == user))
        assert local.xy_m.tolist() == expected.xy_m.tolist()
        assert local.time_s.tolist() == expected.time_s.tolist()
        assert local.rsrp_dbm.tolist() == expected.rsrp_dbm.tolist()
