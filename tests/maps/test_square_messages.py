import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.maps.walks import AREA, SQUARE_M, make_plan, points, sent_by, walk
from veilmap.area import Area
from veilmap.maps.square_messages import SIGNAL, SQUARES, VISITED, SquareCodec, Visits
from veilmap.square_grid import SquareGrid

GRID = SquareGrid.of(AREA, SQUARE_M)  # 13 rows of 21
CODECS = [SquareCodec(GRID, layout, bits) for layout in ("dense", "sparse") for bits in (16, 32)]


def visits_of(*places):
    batch = points(*places)
    return Visits.of(GRID, batch.xy_m, batch.rsrp_dbm)


def test_a_square_has_the_median_of_its_signals():
    """Two squares in a row: -3, 5, 6 and -8, -6."""
    found = visits_of((10, 10, 6), (60, 10, -8), (10, 40, -3), (40, 10, 5), (99, 49, -6))
    assert found.squares.tolist() == [0, 1]
    assert found.k.tolist() == [1, 1]
    assert found.signal_db.tolist() == [5.0, -7.0]


def test_signals_are_sent_in_steps_of_a_128th_db_up_to_255():
    found = visits_of((10, 10, 1 / 300), (60, 10, 0.3), (110, 10, 1e9), (160, 10, -1e9))
    assert found.signal_db.tolist() == [0.0, 38 / 128, 255.0, -255.0]


@pytest.mark.parametrize("codec", CODECS, ids=str)
@pytest.mark.parametrize("places", [[], [(10, 10, -3)], [(10, 10, -300), (990, 590, 300.5)]])
def test_what_is_sent_is_read_back_to_the_bit_and_has_no_fault(codec, places):
    visits = visits_of(*places)
    message = codec.message(visits)
    assert codec.fault(message, None) is None
    back = codec.visits(message)
    for name, values in vars(visits).items():
        np.testing.assert_array_equal(getattr(back, name), values)


@given(st.lists(st.tuples(st.floats(-100, 1100), st.floats(-100, 700), st.floats(-200, 200))))
def test_whatever_a_phone_measured_no_server_refuses_it(places):
    visits = visits_of(*places)
    for codec in CODECS:
        message = codec.message(visits)
        assert codec.fault(message, None) is None
        assert (codec.visits(message).signal_db == visits.signal_db).all()


def test_a_grid_of_one_square_has_messages_of_one_number():
    grid = SquareGrid.of(Area(5.0, 5.0, 5.0, 5.0))
    message = SquareCodec(grid, "dense", 16).message(
        Visits.of(grid, np.array([[5.0, 5.0]]), np.array([-2.0]))
    )
    assert {name: each.tolist() for name, each in message.items()} == {
        VISITED: [1], SIGNAL: [-256],
    }  # fmt: skip


def dense(**changes):
    """Squares 0 and 3 of the grid, with what is wrong in place of what is right."""
    visited, signal = np.zeros((2, len(GRID)), np.float32)
    visited[[0, 3]], signal[[0, 3]] = 1, (-2, 4)
    return {**{VISITED: visited, SIGNAL: signal}, **changes}


def sparse(squares, signal=(-2.0, 4.0)):
    return {SQUARES: np.array(squares), SIGNAL: np.array(signal)}


def with_value(name, square, value):
    message = dense()
    message[name][square] = value
    return message


DENSE = {
    "other squares": (
        dense(**{VISITED: np.zeros(9), SIGNAL: np.zeros(9)}),
        r"visited of shape \(9,\), and the map has 273 squares",
    ),
    "a matrix": (
        dense(**{SIGNAL: np.zeros((13, 21))}),
        r"signal_db of shape \(13, 21\), and the map has 273 squares",
    ),
    "a list": (sparse([0, 3]), "arrays signal_db, squares, and not signal_db, visited"),
    "one array more": (dense(more=np.zeros(3)), "arrays more, signal_db, visited, and not signal_"),
    "one array less": ({VISITED: np.zeros(273)}, "arrays visited, and not signal_db, visited"),
    "k = 2": (with_value(VISITED, 3, 2), "k = 2 for a square, and 0 or 1 is taken"),
    "half a visit": (with_value(VISITED, 3, 0.5), r"k = 0\.5 for a square, and 0 or 1 is taken"),
    "negative k": (with_value(VISITED, 5, -1), "k = -1 for a square, and 0 or 1 is taken"),
    "huge k": (with_value(VISITED, 3, 1e30), r"k = 1e\+30 for a square, and 0 or 1 is taken"),
    "k is NaN": (with_value(VISITED, 3, np.nan), "numbers that are not finite"),
    "a signal is NaN": (with_value(SIGNAL, 3, np.nan), "numbers that are not finite"),
    "a signal is infinite": (with_value(SIGNAL, 3, -np.inf), "numbers that are not finite"),
    "a signal elsewhere": (with_value(SIGNAL, 4, 1), "a signal for a square that was not visited"),
    "a huge signal": (
        with_value(SIGNAL, 3, -3000),
        "a signal 3,000 dB from the offset, and 255 dB are taken",
    ),
    "a huge step": (
        {VISITED: np.ones(273), SIGNAL: np.full(273, 32_767, np.int16)},
        "a signal 256 dB from the offset, and 255 dB are taken",
    ),
}
SPARSE = {
    "a dense one": (dense(), "arrays signal_db, visited, and not signal_db, squares"),
    "out of range": (sparse([0, 273]), "square 273, and the map has 273 squares"),
    "a negative square": (sparse([-1, 3]), "square -1, and the map has 273 squares"),
    "twice": (sparse([3, 3]), "a list that names a square twice or by a fraction"),
    "a fraction": (sparse([0.0, 2.5]), "a list that names a square twice or by a fraction"),
    "unequal lengths": (sparse([0, 1, 2]), r"lists of shapes \(3,\) and \(2,\), and not of one"),
    "a matrix": (sparse([[0, 1]], [[1.0, 2.0]]), r"lists of shapes \(1, 2\) and \(1, 2\), and not"),
    "NaN": (sparse([0, 3], [1.0, np.nan]), "numbers that are not finite"),
    "a huge signal": (sparse([0, 3], [1.0, 300.0]), "a signal 300 dB from the offset, and 255 dB"),
}


@pytest.mark.parametrize("name", DENSE)
@pytest.mark.parametrize("bits", [16, 32])
def test_a_dense_message_that_does_not_fit_is_refused_in_a_sentence(name, bits):
    message, why = DENSE[name]
    plan = make_plan(bits=bits)
    assert_refused(plan, message, why)


@pytest.mark.parametrize("name", SPARSE)
@pytest.mark.parametrize("bits", [16, 32])
def test_a_list_that_does_not_fit_is_refused_in_a_sentence(name, bits):
    message, why = SPARSE[name]
    assert_refused(make_plan(layout="sparse", bits=bits), message, why)


def assert_refused(plan, message, why):
    fault = plan.map.message_fault(plan, message)
    with pytest.raises(AssertionError, match=f"^{why}"):
        raise AssertionError(fault)
    refusal = plan.refusal(message, 1, plan.map.start(plan))
    assert (refusal.why, refusal.is_seen) == (fault, False)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_more_squares_than_are_taken_are_refused(layout):
    (sent,) = sent_by(make_plan(layout=layout), {"a": walk()})
    plan = make_plan(layout=layout, most_squares=2)
    count = len(plan.map.visits(AREA, sent.message))
    fault = plan.map.message_fault(plan, sent.message)
    assert fault == f"{count} squares, and at most 2 are taken"
    plan = make_plan(layout=layout, most_squares=count)
    assert plan.map.message_fault(plan, sent.message) is None


def test_an_honest_message_is_taken():
    plan = make_plan(bits=32)
    assert plan.map.message_fault(plan, dense()) is None
    assert plan.refusal(dense(), 1, plan.map.start(plan)) is None
    assert plan.message_size(dense(), 1000) == 2
