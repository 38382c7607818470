import pytest

from veilmap.metrics.places import Place
from veilmap.metrics.recall import home_error_m, recall, work_error_m


def place(x_m, share=0.2, night_share=0.0, work_share=0.0):
    """Where there are nights, three of them."""
    return Place((float(x_m), 0.0), share, night_share, work_share, 3 if night_share else 0)


TRUE = [place(0, 0.9), place(1000, 0.1)]


@pytest.mark.parametrize(("within_m", "share"), [(29, 0), (30, 0.5), (99, 0.5), (100, 1)])
def test_recall_by_hand(within_m, share):
    """Found places lie 30 m and 100 m from the true ones, which count the same."""
    assert recall(TRUE, [place(30), place(1100)], within_m) == share


def test_a_found_place_may_serve_two_true_ones():
    assert recall([place(0), place(60)], [place(30)], 50) == 1


def test_nothing_found_is_a_recall_of_0():
    assert recall(TRUE, (), 1e9) == 0


def test_the_errors_of_home_and_work_by_hand():
    """Home by nights is 40 m off, though most weight is 1,000 m off; work is 7 m off."""
    true = [place(0, night_share=1), place(1000, work_share=1)]
    found = [place(1000, 0.6), place(40, 0.2, 0.8), place(1007, 0.2, 0.2, 1)]
    assert home_error_m(true, found) == 40
    assert work_error_m(true, found) == 7


def test_without_nights_the_heaviest_place_is_what_counts():
    assert home_error_m(TRUE, [place(30)]) == 30


def test_where_one_of_them_is_unknown_there_is_no_error():
    known = [place(0, night_share=1), place(1000, work_share=1)]
    assert home_error_m(known, ()) is None
    assert home_error_m((), known) is None
    assert work_error_m(known, TRUE) is None
    assert work_error_m(TRUE, known) is None
