from math import inf, nan

from tests.sweeping.making import make_row, rows_of
from veilmap.sweeping.selection import SweepRow, agreeing, along, chosen, mean, numbers

ROWS = rows_of(
    {"name": "a", "T": "1d", "emd": 1.0},
    {"name": "a", "T": "1w", "emd": 3.0},
    {"name": "b", "T": "1w", "emd": None},
    {"name": "c", "emd": nan},
)


def test_rows_are_chosen_by_all_keys_and_a_list_allows_each_of_its_values():
    assert chosen(ROWS, {}) == ROWS
    assert chosen(ROWS, {"name": "a", "T": "1w"}) == [ROWS[1]]
    assert chosen(ROWS, {"name": ["b", "c"]}) == ROWS[2:]
    assert chosen(ROWS, {"T": None}) == [ROWS[3]]
    assert chosen(ROWS, {"name": "d"}) == []


def test_a_figure_that_is_missing_or_not_finite_is_none():
    assert numbers([*ROWS, *rows_of({"emd": inf}, {})], "emd") == [1.0, 3.0]
    assert mean(ROWS, "emd") == 2.0
    assert mean(ROWS[2:], "emd") is None
    assert mean([], "emd") is None


def test_the_means_along_a_key_keep_the_order_of_the_rows_and_leave_out_what_has_none():
    assert list(along(ROWS, "T", "emd").items()) == [("1d", 1.0), ("1w", 3.0)]
    assert list(along(ROWS[::-1], "T", "emd").items()) == [("1w", 3.0), ("1d", 1.0)]
    assert along(ROWS, "name", "emd") == {"a": 2.0}
    assert along(ROWS, "eps_m", "emd") == {}


def test_a_row_that_does_not_say_otherwise_agrees():
    assert agreeing(ROWS, {"T": "1w"}) == ROWS[1:]


def test_keys_go_before_the_figures_of_a_row():
    row = SweepRow({"name": "a", "seed": 3}, make_row("dlg", seed=0, emd_paper=7.0))
    assert (row.value("seed"), row.figure("emd_paper"), row.value("attack")) == (3, 7.0, "dlg")
    assert row.figure("attack") is row.figure("nothing") is None
