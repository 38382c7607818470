from dataclasses import replace

import numpy as np
import pytest

from tests.maps.walks import (
    AREA,
    AT_M,
    SQUARE_M,
    USERS,
    assert_same_map,
    last_of,
    make_plan,
    points,
    predicted,
    sent_by,
    trained,
    walk,
    walks,
)
from veilmap.area import Area
from veilmap.defences.defence import Defence
from veilmap.defences.dp import DifferentialPrivacy
from veilmap.errors import UserError
from veilmap.federation.map_family import Sent
from veilmap.federation.observation import Recorder
from veilmap.federation.plan import Plan, Training
from veilmap.kriging.kernel import PUBLIC
from veilmap.local_data import Round
from veilmap.maps.kriging_map import KrigingMap

BROKEN = ("nan", "inf", "shape", "huge", "flipped")
# Five squares in a row, each of which one phone visits with one signal.
ROW = [(SQUARE_M * (k + 0.5), 25.0) for k in range(5)]


def row_of(*signals_dbm):
    return points(*((*place, dbm) for place, dbm in zip(ROW, signals_dbm, strict=False)))


def test_the_order_of_the_phones_does_not_matter_to_the_bit():
    plan = make_plan()
    one, other = (last_of(plan, walks(), users).state for users in (USERS, USERS[::-1]))
    assert_same_map(plan, one, other)


def test_two_halves_of_the_phones_add_up_to_all():
    plan = make_plan()
    sent = sent_by(plan, walks(1)[0].data)
    before = plan.map.start(plan)
    whole = plan.map.combine(plan, before, sent, 4)
    half = plan.map.combine(plan, before, sent[:2], 4)
    both = plan.map.combine(plan, half, sent[2:], 4)
    assert (predicted(plan, both).rsrp_dbm == predicted(plan, whole).rsrp_dbm).all()
    assert (predicted(plan, half).rsrp_dbm != predicted(plan, whole).rsrp_dbm).any()


def test_the_sum_of_a_round_is_the_sum_of_the_sums_of_its_halves():
    plan = make_plan()
    messages = [sent.message for sent in sent_by(plan, walks(1)[0].data)]
    whole, one, other = (
        plan.map.added(AREA, part) for part in (messages, messages[:1], messages[1:])
    )
    assert whole.keys() == one.keys()
    for name, values in whole.items():
        np.testing.assert_array_equal(values, one[name] + other[name])


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_a_server_that_sees_the_sum_alone_makes_the_same_map(layout):
    plan = make_plan(layout=layout)
    sent, before = sent_by(plan, walks(1)[0].data), plan.map.start(plan)
    total = Sent("all", plan.map.added(AREA, [each.message for each in sent]), 1)
    one, other = (plan.map.combine(plan, before, given, 4) for given in (sent, [total]))
    assert (predicted(plan, one).rsrp_dbm == predicted(plan, other).rsrp_dbm).all()


def test_before_the_first_message_the_map_is_the_offset():
    plan = make_plan(offset_dbm=-97.0)
    nothing = predicted(plan, plan.map.start(plan))
    assert nothing.rsrp_dbm.tolist() == [-97.0] * len(AT_M)
    assert (nothing.std_db > 0).all()


def test_one_visited_square_is_the_mean_of_its_phones_everywhere():
    """-80, -85 and -99 of three phones: -88."""
    plan = make_plan()
    data = {user: points((510, 310, dbm)) for user, dbm in zip("abc", (-80, -85, -99), strict=True)}
    found = predicted(plan, trained(plan, data))
    assert found.rsrp_dbm == pytest.approx(np.full(len(AT_M), -88.0))
    assert np.isfinite(found.std_db).all()


def test_kriging_is_written_out_for_two_squares():
    """-80 and -90 at 50 m: μ = -85, and of ±5 the share (C(0) - C(50)) / (C(0) - C(50) + τ²)."""
    plan = make_plan(kernel="public")
    at_m = [ROW[0], ROW[1], (75.0, 1e7)]
    found = predicted(plan, trained(plan, {"a": row_of(-80, -90)}), at_m)
    near, far = PUBLIC.covariance(np.array([0.0, SQUARE_M]))
    kept = 5 * (near - far) / (near - far + PUBLIC.noise_db**2)
    assert found.rsrp_dbm == pytest.approx([-85 + kept, -85 - kept, -85])


def test_what_a_phone_measured_longest_does_not_count_more():
    """One message names a square once, so 100 rows in it weigh as one: k = 1 and k = 1."""
    plan = make_plan()
    long = points(*[(510, 310, -80)] * 100)
    found = predicted(plan, trained(plan, {"a": long, "b": points((510, 310, -90))}))
    assert found.rsrp_dbm == pytest.approx(np.full(len(AT_M), -85.0))


def test_the_median_counts_and_not_the_mean():
    """-80, -90 and -140 in one square: -90, and not -103.3."""
    plan = make_plan()
    batch = points((510, 310, -80), (520, 320, -140), (530, 330, -90))
    found = predicted(plan, trained(plan, {"a": batch}))
    assert found.rsrp_dbm == pytest.approx(np.full(len(AT_M), -90.0))


def test_far_away_the_map_returns_to_the_mean_and_knows_less():
    plan = make_plan(kernel="public")
    state = trained(plan, {"a": row_of(-70, -80, -90, -80, -70)})
    far = predicted(plan, state, [(1e7, 0.0), (0.0, -1e7)])
    assert far.rsrp_dbm[0] == pytest.approx(far.rsrp_dbm[1])
    assert -90 < far.rsrp_dbm[0] < -70
    near = predicted(plan, state, ROW)
    assert near.std_db.max() < far.std_db.min()


def test_a_shift_of_the_signal_shifts_the_map():
    plan, data = make_plan(), walks(1)[0].data
    louder = {user: replace(each, rsrp_dbm=each.rsrp_dbm + 7) for user, each in data.items()}
    before, after = (predicted(plan, trained(plan, each)) for each in (data, louder))
    assert after.rsrp_dbm == pytest.approx(before.rsrp_dbm + 7, abs=1e-3)


def test_another_offset_gives_the_same_map():
    """It is public and taken off by the phones, and it comes back on top of the predictions."""
    data = walks(1)[0].data
    found = [
        predicted(plan, trained(plan, data)).rsrp_dbm
        for plan in (make_plan(offset_dbm=offset_dbm) for offset_dbm in (0.0, -95.0))
    ]
    np.testing.assert_allclose(*found, atol=1e-3)
    state = trained(make_plan(), data)
    here, there = (predicted(make_plan(offset_dbm=offset), state) for offset in (-90.0, -88.5))
    assert there.rsrp_dbm == pytest.approx(here.rsrp_dbm + 1.5)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("bits", [16, 32])
def test_neither_layout_nor_bits_change_the_map(layout, bits):
    usual, other = make_plan(), make_plan(layout=layout, bits=bits)
    one, same = (predicted(plan, last_of(plan, walks()).state) for plan in (usual, other))
    assert (one.rsrp_dbm == same.rsrp_dbm).all()
    assert (one.std_db == same.std_db).all()


def test_a_round_that_nobody_joins_changes_nothing():
    plan = make_plan()
    state = last_of(plan, walks()).state
    assert_same_map(plan, plan.map.combine(plan, state, [], 0), state)
    rounds = [*walks(2), Round(3, 300.0, {})]
    last = last_of(plan, rounds)
    assert (last.users, last.n) == ((), ())
    assert_same_map(plan, last.state, last_of(plan, walks(2)).state)


def test_a_place_outside_the_area_is_left_out():
    plan = make_plan()
    (inside,) = sent_by(plan, {"a": points((510, 310, -80))})
    (both,) = sent_by(plan, {"a": points((510, 310, -80), (-60, 310, -120), (510, 900, -120))})
    for name, values in inside.message.items():
        np.testing.assert_array_equal(both.message[name], values)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_a_phone_that_was_only_outside_names_no_square_and_changes_nothing(layout):
    plan = make_plan(layout=layout)
    outside, inside = points((-600, 310, -120)), row_of(-70, -80)
    last = last_of(plan, [Round(1, 0.0, {"a": outside, "b": inside})])
    assert (last.users, last.n, last.refused) == (("a", "b"), (0, 2), {})
    assert_same_map(plan, last.state, trained(plan, {"b": inside}))


def test_the_server_learns_the_number_of_squares_and_not_of_points():
    plan = make_plan()
    seen = Recorder()
    data = {"a": points(*[(510, 310, -80)] * 7, (10, 10, -90))}
    last = last_of(plan, [Round(1, 0.0, data)], observer=seen)
    assert last.n == (2,)
    assert [each.n for each in seen.observations] == [2]


def test_the_order_and_the_number_of_rows_leave_no_trace():
    plan, batch = make_plan(), walk()
    turned = batch.take(np.arange(len(batch))[::-1])
    twice = batch.take(np.repeat(np.arange(len(batch)), 2))
    (one,), *others = (sent_by(plan, {"a": each}) for each in (batch, turned, twice))
    for (other,) in others:
        for name, values in one.message.items():
            np.testing.assert_array_equal(other.message[name], values)


def named(plan, batch, user="a", t=1):
    (sent,) = sent_by(plan, {user: batch}, t)
    return set(plan.map.visits(plan.area, sent.message).squares.tolist())


def test_most_squares_bounds_what_a_message_names():
    plan, every = make_plan(most_squares=4), named(make_plan(), walk())
    chosen = named(plan, walk())
    assert len(chosen) == 4 < len(every)
    assert chosen < every
    assert named(plan, row_of(-80, -90)) == {0, 1}
    assert named(make_plan(most_squares=len(every)), walk()) == every


def test_the_squares_are_drawn_from_streams_of_their_own():
    """Of user and round: another user who joins, or another order, changes no draw."""
    plan = make_plan(most_squares=4)
    draws = {
        (seed, user, t): frozenset(named(make_plan(most_squares=4, seed=seed), walk(), user, t))
        for seed in (0, 1)
        for user in "ab"
        for t in (1, 2)
    }
    assert len(set(draws.values())) == len(draws)
    assert frozenset(named(plan, walk(), "b", 2)) == draws[0, "b", 2]


def test_each_square_is_drawn_about_as_often():
    """2 of 5 in 1,000 rounds: 400 each, with a standard deviation of 15.5."""
    plan = make_plan(most_squares=2)
    counts = np.zeros(5)
    for t in range(1000):
        counts[list(named(plan, row_of(*[-80] * 5), t=t))] += 1
    assert counts.sum() == 2000
    assert np.abs(counts - 400).max() < 4 * 15.5


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_a_broken_phone_is_refused_in_a_sentence_and_the_round_goes_on(kind, layout):
    plan = make_plan(layout=layout, broken={"b": kind})
    last = last_of(plan, walks())
    assert list(last.refused) == ["b"]
    assert len(last.refused["b"].split()) >= 4
    assert last.users == ("a", "c", "d")
    others = [
        replace(this, data={u: d for u, d in this.data.items() if u != "b"}) for this in walks()
    ]
    assert_same_map(plan, last.state, last_of(make_plan(layout=layout), others).state)


def test_what_is_refused_is_not_in_the_transcript():
    seen = Recorder()
    last_of(make_plan(broken={"b": "huge"}), walks(), observer=seen)
    assert {each.user for each in seen.observations} == {"a", "c", "d"}


DEGENERATE = {
    "a single place": (Area(3.0, 4.0, 3.0, 4.0), [(3, 4, -80), (3, 4, -90), (3, 4, -85)]),
    "a line": (Area(0.0, 4.0, 900.0, 4.0), [(x, 4, -85) for x in range(0, 900, 30)]),
    "one visited square": (AREA, [(10, 10, -85)]),
    "all signals equal": (AREA, [(x, y, -85) for x in range(0, 999, 90) for y in (0, 300, 599)]),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_of_degenerate_data_the_map_is_the_median_everywhere(name):
    area, places = DEGENERATE[name]
    plan = make_plan(area, square_m=None)
    found = predicted(plan, trained(plan, {"a": points(*places)}))
    assert found.rsrp_dbm == pytest.approx(np.full(len(AT_M), -85.0))
    assert np.isfinite(found.std_db).all()
    assert (found.std_db >= 0).all()


def test_few_squares_have_the_public_kernel_and_many_the_fitted_one():
    few, many = {"a": row_of(-70, -80, -90)}, walks(1)[0].data
    for data, is_fitted in ((few, False), (many, True)):
        fitted, public = (
            predicted(plan, trained(plan, data)).rsrp_dbm
            for plan in (make_plan(kernel="fitted"), make_plan(kernel="public"))
        )
        assert (fitted != public).any() == is_fitted


def test_the_map_follows_what_was_measured():
    """20 dB from west to east, noise of 3 dB: to 2 dB on the mean of the area's places."""
    plan = make_plan()
    found = predicted(plan, last_of(plan, walks(6)).state).rsrp_dbm
    truth = -80 - 0.02 * AT_M[:, 0]
    assert np.sqrt(np.mean((found - truth) ** 2)) < 2
    assert truth.std() > 4


def test_steps_on_updates_are_refused():
    with pytest.raises(UserError, match="dp alters updates, and messages of the map kriging are a"):
        replace(make_plan(), defence=Defence((DifferentialPrivacy(epsilon=1.0),)))


@pytest.mark.parametrize(
    ("training", "message"),
    [
        (Training(cumulative=True), "forgets no round, .* leave out --cumulative"),
        (Training(aggregation="median"), "does not follow aggregation median; take mean"),
    ],
)
def test_training_that_sums_do_not_know_is_refused(training, message):
    with pytest.raises(UserError, match=f"the map kriging {message}"):
        Plan(KrigingMap(), make_plan().scaler, AREA, training)


def test_a_grid_that_does_not_fit_is_refused_with_the_way_out():
    with pytest.raises(
        UserError, match=r"squares of 0\.1 m make a grid of 60,016,001 .*--square 5"
    ):
        make_plan(square_m=0.1).map.start(make_plan())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"square_m": 0.0}, "square_m must be a number of metres above 0, got 0.0"),
        ({"square_m": float("nan")}, "square_m must be a number of metres above 0, got nan"),
        ({"square_m": float("inf")}, "square_m must be a number of metres above 0, got inf"),
        ({"most_squares": 0}, "most_squares must be a whole number of at least 1, got 0"),
        ({"most_squares": 2.5}, "most_squares must be a whole number of at least 1, got 2.5"),
        ({"kernel": "gauss"}, "unknown kernel 'gauss'; choose one of: fitted, public"),
        ({"layout": "list"}, "unknown layout 'list'; choose one of: dense, sparse"),
        ({"bits": 8}, "bits must be 16 or 32, got 8"),
    ],
)
def test_settings_that_are_none_are_refused(given, message):
    with pytest.raises(UserError, match=message):
        KrigingMap(**given)


@pytest.mark.parametrize(
    ("given", "per_square"),
    [
        ({}, 3),  # one byte for k, two for S
        ({"bits": 32}, 8),
        ({"layout": "sparse"}, 6),  # four for the number of the square
        ({"layout": "sparse", "bits": 32}, 8),
    ],
)
def test_messages_have_the_bytes_that_are_promised(given, per_square):
    plan = make_plan(**given)
    (sent,) = sent_by(plan, {"a": walk()})
    named_squares = len(plan.map.visits(AREA, sent.message))
    count = named_squares if given.get("layout") == "sparse" else len(plan.map.grid(AREA))
    assert plan.map.square_bytes == per_square
    assert sum(each.nbytes for each in sent.message.values()) == per_square * count
