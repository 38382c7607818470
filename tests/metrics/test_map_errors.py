from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import make_local_data
from veilmap.local_data import LocalData
from veilmap.metrics.map_errors import (
    Coverage,
    Skill,
    SquaredErrors,
    TestSet,
    mean_by_place,
    places,
)


def measured(*rows):
    """From (x_m, y_m, dBm) each."""
    table = np.array(rows, float)
    return LocalData(table[:, :2], table[:, 2], np.arange(len(table), dtype=float))


def at_positions(test, values):
    """Predictions by position, in the order in which the test set asks for them."""
    return np.array([values[tuple(position)] for position in test.xy_m.tolist()])


# Three rows at rest in one square, two positions of another.
RESTING = measured((10, 10, -90), (10, 10, -92), (10, 10, -94), (60, 10, -100), (70, 10, -110))


def test_errors_of_a_small_example():
    """Predicted -92, -100 and -100: squares 4, 0, 4 and 0, 100.

    Per row 108 / 5; by place the mean of 8 / 3 and 50.
    """
    test = TestSet(RESTING)
    predicted = at_positions(test, {(10, 10): -92.0, (60, 10): -100.0, (70, 10): -100.0})
    errors = test.errors(predicted)
    assert errors.per_row == pytest.approx(108 / 5)
    assert errors.by_place == pytest.approx((8 / 3 + 50) / 2)
    assert errors.rmse_db == pytest.approx(sqrt(108 / 5))
    assert errors.rmse_by_place_db == pytest.approx(sqrt((8 / 3 + 50) / 2))


@given(st.integers(0, 1000), st.integers(1, 60))
def test_errors_are_those_of_a_loop_over_rows_and_places(seed, n):
    draw = np.random.default_rng(seed)
    data = make_local_data(n, seed)
    repeated = data.take(draw.integers(0, n, 2 * n))
    test = TestSet(repeated)
    field = {tuple(xy): value for xy, value in zip(test.xy_m, draw.normal(-95, 8, n), strict=False)}
    predicted = np.array([field[tuple(xy)] for xy in test.xy_m])
    squares = np.array(
        [
            (field[tuple(xy)] - y) ** 2
            for xy, y in zip(repeated.xy_m, repeated.rsrp_dbm, strict=True)
        ]
    )
    squares_of: dict = {}
    for xy, square in zip(repeated.xy_m, squares, strict=True):
        squares_of.setdefault((xy[0] // 50, xy[1] // 50), []).append(square)
    found = test.errors(predicted)
    assert found.per_row == pytest.approx(squares.mean())
    by_place = np.mean([np.mean(each) for each in squares_of.values()])
    assert found.by_place == pytest.approx(by_place)


def test_a_map_that_is_right_everywhere_has_no_error():
    test = TestSet(measured((0, 0, -90), (100, 0, -95)))
    errors = test.errors(at_positions(test, {(0, 0): -90.0, (100, 0): -95.0}))
    assert errors == SquaredErrors(0, 0)


def test_each_measure_has_the_best_constant_of_its_own():
    """Three rows of -90 in one place and one of -100 in another: -92.5 by row, -95 by place."""
    training = measured((0, 0, -90), (0, 0, -90), (0, 0, -90), (60, 0, -100))
    found = TestSet(training).constant_errors(training)
    assert found.per_row == pytest.approx((3 * 2.5**2 + 7.5**2) / 4)
    assert found.by_place == pytest.approx(25)


@given(st.floats(-120, -70))
def test_no_other_constant_is_better_on_the_data_it_is_from(dbm):
    data = make_local_data(40)
    test = TestSet(data)
    best, other = test.constant_errors(data), test.errors(np.full(len(test.xy_m), dbm))
    assert best.per_row <= other.per_row + 1e-9
    assert best.by_place <= other.by_place + 1e-9


def test_skill_is_the_share_of_the_constants_error_that_is_removed():
    assert Skill.of(SquaredErrors(5, 30), SquaredErrors(20, 20)) == Skill(0.75, -0.5)


def test_the_constant_has_no_skill_and_the_truth_all_of_it():
    constant = SquaredErrors(7, 9)
    assert Skill.of(constant, constant) == Skill(0, 0)
    assert Skill.of(SquaredErrors(0, 0), constant) == Skill(1, 1)


def test_there_is_no_skill_where_the_constant_is_exact_but_for_rounding():
    data = measured(*((60 * k, 0, -90.1) for k in range(3)))
    test = TestSet(data)
    constant = test.constant_errors(data)
    assert Skill.of(test.errors(np.full(3, -95.0)), constant) == Skill(None, None)


def test_coverage_counts_places():
    """Of three places below -110 two are found, and one of the three named is not below."""
    test = TestSet(measured(*((60 * k, 0, y) for k, y in enumerate((-115, -112, -111, -100, -90)))))
    predicted = at_positions(
        test, {(60 * k, 0): y for k, y in enumerate((-120.0, -111.0, -105.0, -111.0, -90.0))}
    )
    assert test.coverage(predicted, -110) == Coverage(recall=2 / 3, precision=2 / 3)
    assert test.coverage(predicted, -110).f1 == pytest.approx(2 / 3)


def test_a_place_is_without_coverage_if_its_mean_is_below_the_threshold():
    """-90 and -140 in one square are -115 on average."""
    test = TestSet(measured((0, 0, -90), (10, 0, -140)))
    assert test.coverage(np.full(2, -115.0), -110).recall == 1
    assert test.coverage(np.full(2, -115.0), -115).recall is None


@pytest.mark.parametrize(
    ("recall", "precision", "f1"),
    [(None, None, None), (None, 0.0, 0.0), (0.0, None, 0.0), (0.0, 0.0, 0.0), (1.0, 1.0, 1.0),
     (0.5, 1.0, 2 / 3)],
)  # fmt: skip
def test_f1_is_missing_only_if_nothing_is_there_and_nothing_named(recall, precision, f1):
    assert Coverage(recall, precision).f1 == (None if f1 is None else pytest.approx(f1))


def test_the_error_where_the_signal_is_low_is_that_of_a_quarter_of_the_places():
    """Of eight places the two lowest are off by 3 and 4 dB; the others by 100."""
    test = TestSet(measured(*((60 * k, 0, -120 + 5 * k) for k in range(8))))
    off = dict.fromkeys(range(8), 100.0) | {0: 3.0, 1: -4.0}
    predicted = at_positions(test, {(60 * k, 0): -120 + 5 * k + off[k] for k in range(8)})
    assert test.low_signal_rmse_db(predicted) == pytest.approx(sqrt((9 + 16) / 2))


def test_one_place_is_its_own_lowest_quarter():
    test = TestSet(measured((0, 0, -90)))
    assert test.low_signal_rmse_db(np.array([-92.0])) == 2


def test_places_are_squares_that_meet_at_zero():
    xy_m = np.array([[0, 0], [49.9, 49.9], [50, 0], [-0.1, 0], [0, 0]])
    first, same, right, left, again = places(xy_m).tolist()
    assert first == same == again
    assert len({first, right, left}) == 3
    assert len(set(places(xy_m, side_m=1000).tolist())) == 2


def test_means_by_place():
    assert mean_by_place(np.array([1.0, 3, 10]), np.array([0, 0, 1])).tolist() == [2, 10]
