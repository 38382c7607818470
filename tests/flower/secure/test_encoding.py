import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from veilmap.errors import UserError
from veilmap.flower.secure.encoding import (
    LIMIT,
    MOST_NODES,
    SCALE,
    decode,
    encode,
    fixed_point,
    real_numbers,
)
from veilmap.flower.secure.round_error import RoundError

LARGEST = LIMIT / SCALE / 1024
UPDATES = arrays(np.float32, 3, elements=st.floats(-LARGEST, LARGEST, width=32))


@given(st.lists(st.tuples(UPDATES, st.integers(1, 1023)), min_size=1, max_size=20))
def test_the_mean_is_off_by_at_most_two_to_the_minus_25(parts):
    total = np.sum([encode(update, n) for update, n in parts], axis=0, dtype=np.uint64)
    mean, n = decode(total)
    points = sum(n for _, n in parts)
    exact = sum(n * update.astype(np.float64) for update, n in parts) / points
    assert n == points
    # The second term is the double precision of both sides.
    assert np.all(np.abs(mean - exact) <= 2.0**-25 + 1e-14 * LARGEST)


def test_a_small_example_by_hand():
    """(2·0.5 + 6·(−1.5)) / 8 = −1; fixed point of 2·0.5 is 2²⁴, of 6·(−1.5) it is 2⁶⁴ − 9·2²⁴."""
    one, other = encode(np.float32([0.5]), 2), encode(np.float32([-1.5]), 6)
    assert one.tolist() == [2**24, 2]
    assert other.tolist() == [2**64 - 9 * 2**24, 6]
    mean, n = decode(one + other)
    assert (mean.tolist(), n) == ([-1.0], 8)


def test_two_to_the_16_of_the_largest_updates_do_not_overflow():
    largest = np.nextafter(np.float32(LIMIT / SCALE), np.float32(0))
    for update in (largest, -largest):
        encoded = encode(np.array([update], np.float32), 1)
        mean, n = decode(encoded * np.uint64(MOST_NODES))
        assert (mean[0], n) == (update, MOST_NODES)


@given(arrays(np.int64, (20, 5), elements=st.integers(-255 * 128, 255 * 128)))
def test_sums_of_signals_in_steps_of_a_128th_of_a_db_are_exact(steps):
    """What kriging maps send; 7 of the 24 binary places."""
    total = np.sum([fixed_point(each / 128, "signals", "them") for each in steps], axis=0)
    assert (real_numbers(total.astype(np.uint64)) == steps.sum(axis=0) / 128).all()


@pytest.mark.parametrize("value", [np.nan, np.inf, -LIMIT / SCALE])
def test_a_number_that_no_sum_can_carry_is_refused(value):
    with pytest.raises(UserError, match=r"a signal must be below 8388608 .*\(lower the rest\)"):
        fixed_point(np.array([1.0, value]), "a signal", "the rest")


def test_a_phone_without_data_changes_neither_mean_nor_count():
    measured, nothing = encode(np.float32([0.25, -3]), 5), encode(np.zeros(2, np.float32), 0)
    mean, n = decode(measured + nothing)
    assert (mean.tolist(), n) == ([0.25, -3.0], 5)


def test_without_any_points_the_mean_is_zero():
    mean, n = decode(encode(np.zeros(2, np.float32), 0))
    assert (mean.tolist(), n) == ([0.0, 0.0], 0)


@pytest.mark.parametrize(
    ("update", "n", "words"),
    [
        ([np.nan, 1, np.inf], 3, "the update has 2 non-finite values"),
        ([np.inf], 0, "1 non-finite value"),
        ([LIMIT / SCALE], 1, "n times the update must be below 8388608 .* got 8388608"),
        ([-LIMIT / SCALE / 4], 4, "n times the update"),
        ([0.5], 0, "0 points must be all zeros"),
        ([0.5], -1, "number of points must be from 0 to 2147483647, got -1"),
        ([0.5], 2**31, "number of points"),
    ],
)
def test_what_a_sum_cannot_carry_is_refused(update, n, words):
    with pytest.raises(UserError, match=words):
        encode(np.float32(update), n)


def test_a_sum_with_a_mask_left_in_its_count_is_refused():
    with pytest.raises(RoundError, match="masks are left in it"):
        decode(np.array([5, 2**63], np.uint64))
