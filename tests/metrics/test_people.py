from math import inf

import pytest

from tests.auditing.making import make_row as row
from veilmap.errors import UserError
from veilmap.metrics.people import HomeErrors


def of(*errors_m):
    return HomeErrors("fedavg", "search", tuple(map(float, errors_m)))


def test_ten_people_by_hand():
    """10, 20, …, 100 m: the best located tenth is within 10 m, half within 50 m."""
    found = of(*range(100, 0, -10))
    assert found.people == 10
    assert found.figures() == {
        "configuration": "fedavg",
        "attack": "search",
        "is_guess": False,
        "people": 10,
        "without_home": 0,
        "worst_decile_m": 10,
        "lower_quartile_m": 30,
        "median_m": 50,
        "upper_quartile_m": 80,
        "within_50m": 0.5,
        "within_100m": 1.0,
        "within_200m": 1.0,
        "errors_m": [10, 20, 30, 40, 50, 60, 70, 80, 90, 100],
    }


def test_a_quantile_is_the_least_error_that_reaches_the_share():
    found = of(*range(1, 31))
    for share in (0.1, 0.25, 0.5, 0.75):
        error_m = found.quantile_m(share)
        assert found.within(error_m) >= share
        assert found.within(error_m - 1) < share
    assert found.quantile_m(0.1) == 3


def test_who_is_not_located_is_farther_than_everybody():
    found = of(inf, 10, inf)
    assert found.errors_m == (10, inf, inf)
    assert (found.quantile_m(0.1), found.quantile_m(0.5)) == (10, None)
    assert found.within(1e9) == pytest.approx(1 / 3)
    assert found.figures()["errors_m"] == [10, None, None]


def test_one_person_is_every_quantile():
    assert {of(7).quantile_m(share) for share in (0.1, 0.25, 0.5, 0.75)} == {7}


def test_of_every_person_the_median_over_the_seeds_counts():
    """a: 10, 906, 34; b: named in one run of three; of two runs (c) the nearer."""
    runs = {"a": (10.0, 906.0, 34.0), "b": (5.0, None, None), "c": (8.0, 20.0)}
    rows = [
        row("dlg", seed, user, home_error_m=error_m)
        for user, own in runs.items()
        for seed, error_m in enumerate(own)
    ]
    found = HomeErrors.of(rows)
    assert (found.configuration, found.attack, found.errors_m) == ("fedavg", "dlg", (8, 34, inf))
    assert not found.is_guess
    assert HomeErrors.of(rows, is_guess=True).is_guess


def test_people_without_a_home_are_counted_once():
    rows = [row(seed=seed, target="a", true_home_by="weight") for seed in (0, 1)]
    assert HomeErrors.of([*rows, row(target="b", true_home_by="hours")]).without_home == 1


def test_nobody_has_no_distribution():
    with pytest.raises(UserError, match="needs one home error at least, got none"):
        of()
    with pytest.raises(UserError, match="needs the rows of an attack, got none"):
        HomeErrors.of([])
