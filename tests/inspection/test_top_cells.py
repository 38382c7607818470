import polars as pl

from tests.inspection.tables import measured, steps
from veilmap.inspection.top_cells import top_cells
from veilmap.rounds import cut, parse_interval
from veilmap.sources import read
from veilmap.sources.reading import Reading

ROWS = [
    *steps("a", "big", [0, 0.5, 1, 30, 31, 400]),
    *steps("b", "big", [100, 100.1]),
    *steps("a", "middle", [0, 1, 2]),
    *steps("c", "middle", [5]),
    *steps("b", "small", [0, 1]),
    *steps("d", "tiny", [0]),
]


def test_points_are_counted_by_user_and_cell():
    found = top_cells(measured(*ROWS))
    assert found.cells == ("big", "middle", "small")
    assert found.users == ("a", "b", "c")
    assert found.users_in_all == 3
    assert found.points.tolist() == [[6, 3, 0], [2, 0, 2], [0, 1, 0]]


def test_rounds_are_counted_by_user_in_the_largest_cell():
    """a: hours 10, 11, then 16 and 17 the next day, then day 17; b: one moment; c: never there.

    In 3 hours from midnight: 9-12, then 15-18 the next day, then day 17; 400 h is week 3.
    """
    found = top_cells(measured(*ROWS))
    assert found.intervals == ("1h", "3h", "1d", "1w")
    assert found.rounds.tolist() == [[5, 3, 3, 2], [1, 1, 1, 1], [0, 0, 0, 0]]


def test_the_sizes_of_rounds_are_those_of_single_users():
    found = top_cells(measured(*ROWS))
    sizes = [sorted(each.tolist()) for each in found.per_round]
    assert sizes == [[1, 1, 1, 1, 2, 2], [1, 2, 2, 3], [1, 2, 2, 3], [1, 2, 5]]


def test_only_the_densest_users_are_shown():
    rows = [row for k in range(12) for row in steps(f"u{k}", "c", range(20 - k))]
    found = top_cells(measured(*rows))
    assert found.users == tuple(f"u{k}" for k in range(8))
    assert found.users_in_all == 12
    assert sum(found.per_round[3]) == len(rows)


def test_the_rounds_are_those_of_training(small_campus):
    found = top_cells(small_campus)
    rounds = cut(small_campus.of_cell(None), parse_interval("1w"))
    assert found.rounds[0, 3] == sum(found.users[0] in each.data for each in rounds)


def test_one_user_alone_has_the_rounds_of_the_facts(shared_data):
    path = shared_data / "chania-gsm" / "chania.csv.gz"
    data = read(path, reading=Reading(drop_invalid=True)).of_cell("60561")
    found = top_cells(data.keep(pl.col("user") == data.users[0]))
    assert found.points[0, 0] == 87_730
    assert found.rounds[0].tolist() == [551, 282, 109, 25]
