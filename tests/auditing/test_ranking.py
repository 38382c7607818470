import pytest

from tests.auditing.making import ranked
from veilmap.auditing.ranking import Range, rank, rank_one
from veilmap.auditing.unit import Result
from veilmap.report.page.content import Spread


def row(attack="search", seed=0, target="0", *, name="fedavg", rmse_db=5.0, **figures):
    usual = {
        "home_error_m": 100.0,
        "nearest_m": 20.0,
        "nearest_random_m": 200.0,
        "emd_m": 50.0,
        "emd_random_m": 400.0,
        "emd_paper": 7.0,
        "distance_m": 60.0,
        "recall_50m": 0.4,
        "rmse_constant_db": 6.0,
        "points_share": 1.0,
        "true_places": 5,
    }
    case = {"configuration": name, "attack": attack, "seed": seed, "target": target}
    return {**case, "rmse_db": rmse_db, **usual, **figures}


def results(*rows):
    names = dict.fromkeys(each["configuration"] for each in rows)
    return [
        Result(name, 0, rows=tuple(each for each in rows if each["configuration"] == name))
        for name in names
    ]


def test_the_strongest_attack_has_the_worst_mean_and_not_the_luckiest_seed():
    """search: 10 and 190, mean 100; heatmap: 80 and 90, mean 85."""
    found = rank_one(
        [
            row("search", 0, home_error_m=10.0),
            row("search", 1, home_error_m=190.0),
            row("heatmap", 0, home_error_m=80.0),
            row("heatmap", 1, home_error_m=90.0),
        ]
    )
    assert found.strongest["home_error_m"].attack == "heatmap"
    assert found.strongest["home_error_m"].figure == Spread(85.0, pytest.approx(50**0.5))
    assert found.home_in_worst_seed_m == 10.0


def test_more_places_found_is_worse():
    found = rank_one([row("search", recall_50m=0.2), row("heatmap", recall_50m=0.6)])
    assert found.strongest["recall_50m"].attack == "heatmap"


def test_the_mean_over_targets_comes_first_and_their_range_is_kept():
    """Seed 0: (10 + 30) / 2 = 20; seed 1: (20 + 60) / 2 = 40. Users: 15 and 45."""
    found = rank_one(
        [
            row(seed=0, target="a", home_error_m=10.0),
            row(seed=0, target="b", home_error_m=30.0),
            row(seed=1, target="a", home_error_m=20.0),
            row(seed=1, target="b", home_error_m=60.0),
        ]
    )
    assert found.strongest["home_error_m"].figure == Spread(30.0, pytest.approx(200**0.5))
    assert found.over_targets["home_error_m"] == Range(15.0, 30.0, 45.0)


def test_an_attack_without_the_figure_in_a_seed_is_not_the_strongest():
    found = rank_one(
        [
            row("dlg", 0, home_error_m=1.0),
            row("dlg", 1, home_error_m=None),
            row("search", 0),
            row("search", 1),
        ]
    )
    assert found.strongest["home_error_m"].attack == "search"
    assert "home_error_m" not in rank_one([row(home_error_m=None)]).strongest


def test_the_frontier_by_hand():
    """a: 5 dB, 100 m; b: 6 dB, 300 m; c: 7 dB, 200 m, beaten by b; d: as b, neither beats."""
    figures = {"a": (5.0, 100.0), "b": (6.0, 300.0), "c": (7.0, 200.0), "d": (6.0, 300.0)}
    found = rank(
        results(*(row(name=n, rmse_db=r, home_error_m=h) for n, (r, h) in figures.items()))
    )
    assert [each.name for each in found.frontier] == ["a", "b", "d"]
    assert found.named("c").dominated_by == "b"
    assert [each.rmse_loss_db for each in found.configurations] == [0.0, 1.0, 2.0, 1.0]
    assert found.privacy == "home_error_m"


def test_without_homes_emd_decides():
    rows = [row(name="a", home_error_m=None), row(name="b", emd_paper=9.0, rmse_db=6.0)]
    found = rank(results(*rows))
    assert found.privacy == "emd_paper"
    assert [each.name for each in found.frontier] == ["a", "b"]


def test_attacks_that_random_points_match_are_blind():
    beaten = {"emd_m": 399.0, "emd_random_m": 400.0}
    assert rank_one([row("dlg", **beaten), row("search", emd_m=None)]).is_blind
    assert not rank_one([row("dlg", **beaten), row("search")]).is_blind


def test_what_failed_is_named_and_not_ranked():
    bad = Result("fedavg + dp:epsilon=1", 1, failed="training diverged")
    found = rank([*results(row(), row(name="fedavg + dp:epsilon=1")), bad])
    assert [each.name for each in found.configurations] == ["fedavg"]
    assert found.failed == {"fedavg + dp:epsilon=1": "training diverged"}


def test_a_constant_is_beaten_or_not():
    assert ranked("a", 5.9, 1.0).beats_constant
    assert not ranked("a", 6.0, 1.0).beats_constant
