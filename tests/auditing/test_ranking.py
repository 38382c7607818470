from dataclasses import replace
from math import inf

import pytest

from tests.auditing.making import make_row as row
from tests.auditing.making import ranked
from veilmap.auditing.ranking import rank
from veilmap.auditing.ranking import rank_one as rank_results
from veilmap.experiments.result import TrialResult
from veilmap.metrics.spread import Spread, Strongest


def results(*rows):
    names = dict.fromkeys(each.configuration for each in rows)
    return [
        TrialResult(name, 0, rows=tuple(each for each in rows if each.configuration == name))
        for name in names
    ]


def rank_one(rows, guesses=()):
    return rank_results([TrialResult(rows[0].configuration, 0, tuple(rows), tuple(guesses))])


def test_in_hindsight_the_strongest_attack_has_the_worst_median_and_not_the_luckiest_run():
    """dlg: 10, 906, 34, whose mean is 317; heatmap: 299, 298, 289; search: 5, 400, 420."""
    homes_m = {"dlg": (10, 906, 34), "heatmap": (299, 298, 289), "search": (5, 400, 420)}
    found = rank_one(
        [
            row(attack, seed, home_error_m=float(each))
            for attack, own in homes_m.items()
            for seed, each in enumerate(own)
        ]
    )
    assert found.strongest["home_error_m"].hindsight == Strongest("dlg", Spread(34.0, 10.0, 906.0))
    assert found.home_at_worst_m == 5.0


def test_a_users_data_that_name_no_home_are_the_same_under_every_attack():
    drive = {"true_home_by": "weight", "no_home": "no night"}
    rows = [row(attack, target="a", **drive) for attack in ("search", "heatmap")]
    alone = rank_one(rows)
    assert (alone.no_home, alone.targets, alone.place) == ({"a": "no night"}, 1, "heaviest place")
    beside = rank_one([*rows, row(target="b")])
    assert (beside.no_home, beside.targets, beside.place) == ({"a": "no night"}, 2, "home")


def test_more_places_found_is_worse():
    found = rank_one([row("search", recall_50m=0.2), row("heatmap", recall_50m=0.6)])
    assert found.strongest["recall_50m"].attack == "heatmap"
    both = rank_one([row(seed=0, recall_50m=0.2), row(seed=1, recall_50m=0.6)])
    assert both.strongest["recall_50m"].figure.median == 0.6


def test_the_median_is_over_all_seeds_and_targets_and_each_targets_own_is_kept():
    """10, 20, 30, 60: of the two in the middle the worse, 20. Users: 10 and 30."""
    found = rank_one(
        [
            row(seed=0, target="a", home_error_m=10.0),
            row(seed=0, target="b", home_error_m=30.0),
            row(seed=1, target="a", home_error_m=20.0),
            row(seed=1, target="b", home_error_m=60.0),
        ]
    )
    assert found.strongest["home_error_m"].figure == Spread(20.0, 10.0, 60.0)
    assert found.over_targets["home_error_m"] == (10.0, 30.0)


def test_a_run_without_the_figure_counts_as_infinitely_far():
    """dlg: 1, none, none; search: 100 each; heatmap: 1, 2, none, with the median 2."""
    rows = [
        *(row("dlg", seed, home_error_m=each) for seed, each in enumerate([1.0, None, None])),
        *(row("search", seed) for seed in range(3)),
    ]
    assert rank_one(rows).strongest["home_error_m"].attack == "search"
    rows += [row("heatmap", seed, home_error_m=each) for seed, each in enumerate([1.0, 2.0, None])]
    hindsight = rank_one(rows).strongest["home_error_m"].hindsight
    assert hindsight == Strongest("heatmap", Spread(2.0, 1.0, 2.0))
    assert "home_error_m" not in rank_one([row(home_error_m=None)]).strongest


def test_a_target_that_is_never_found_stays_among_the_targets():
    rows = [row(target="a", home_error_m=10.0), row(target="b", home_error_m=30.0)]
    found = rank_one([*rows, row(target="c", home_error_m=None)])
    assert found.strongest["home_error_m"].figure == Spread(30.0, 10.0, 30.0)
    assert found.over_targets["home_error_m"] == (10.0, 30.0, inf)


def test_the_frontier_by_hand():
    """a: 5 dB, 100 m; b: 6 dB, 300 m; c: 7 dB, 200 m, beaten by b; d: as b, neither beats."""
    figures = {"a": (5.0, 100.0), "b": (6.0, 300.0), "c": (7.0, 200.0), "d": (6.0, 300.0)}
    found = rank(
        results(*(row(name=n, rmse_db=r, home_error_m=h) for n, (r, h) in figures.items()))
    )
    assert [each.name for each in found.frontier] == ["a", "b", "d"]
    assert [each.dominated_by for each in found.configurations] == [None, None, "b", None]
    assert [each.rmse_loss_db for each in found.configurations] == [0.0, 1.0, 2.0, 1.0]
    assert found.privacy == "home_error_m"


def test_without_homes_emd_decides():
    rows = [row(name="a", home_error_m=None), row(name="b", emd_paper=9.0, rmse_db=6.0)]
    found = rank(results(*rows))  # without a guess
    assert found.privacy == "emd_paper"
    assert [each.name for each in found.frontier] == ["a", "b"]


GUESS = {"emd_m": 400.0, "cloud_emd_m": 410.0, "nearest_m": 200.0, "home_error_m": 500.0}
NOTHING = {"emd_m": None, "cloud_emd_m": None, "nearest_m": None, "home_error_m": None}


def test_attacks_that_a_guess_matches_are_blind():
    guesses = [row("blind", **GUESS)]
    lost = row("search", **NOTHING)
    assert rank_one([row("dlg", **GUESS), lost], guesses).is_blind
    assert not rank_one([row("dlg", **GUESS), row("search")], guesses).is_blind
    assert not rank_one([row("dlg", **GUESS), lost]).is_blind


@pytest.mark.parametrize(
    "better", [{"emd_m": 300.0}, {"cloud_emd_m": 132.0}, {"nearest_m": 99.0}, {"home_error_m": 9.0}]
)
def test_one_figure_that_no_guess_matches_is_sight(better):
    rows = [row("dlg", **GUESS), row("first_layer", **{**GUESS, **better})]
    assert not rank_one(rows, [row("blind", **GUESS)]).is_blind
    assert rank_one(rows, [row("blind", **GUESS), row("prior", **{**GUESS, **better})]).is_blind


def test_no_configuration_hides_more_than_a_guess_leaves():
    """1,126 m under the attack, 570 m by the middle of the area, 74 m by the others' places."""
    rows, far = [row(home_error_m=1126.0)], row("blind", home_error_m=570.0)
    assert rank_one(rows).hidden("home_error_m") == 1126.0
    assert rank_one(rows, [far]).hidden("home_error_m") == 570.0
    both = rank_one(rows, [far, row("prior", home_error_m=74.0)])
    assert both.hidden("home_error_m") == 74.0
    assert both.guess("home_error_m").attack == "prior"
    assert both.strongest["home_error_m"].figure.median == 1126.0
    found = rank_one([row(home_error_m=None)], [far])
    assert found.hidden("home_error_m") == 570.0


def test_configurations_that_a_guess_matches_are_equally_private():
    """900 m under a and 600 m under b, but a guess is at 500 m: the more accurate is better."""
    a, b = results(
        row(name="a", rmse_db=6.0, home_error_m=900.0), row(name="b", home_error_m=600.0)
    )
    guess = (row("blind", home_error_m=500.0),)
    found = rank([replace(a, guesses=guess), replace(b, guesses=guess)])
    assert [each.dominated_by for each in found.configurations] == ["b", None]
    apart = rank([a, b])
    assert [each.dominated_by for each in apart.configurations] == [None, None]


def test_one_zero_holds_for_all_configurations():
    """A guess is 500 m off under a and 400 m under b, whose updates are of other rounds: 400 m."""
    a, b = results(row(name="a", home_error_m=450.0), row(name="b", home_error_m=900.0))
    a = replace(a, guesses=(row("blind", home_error_m=500.0),))
    b = replace(b, guesses=(row("blind", home_error_m=400.0),))
    found = rank([a, b]).configurations
    assert [each.hidden("home_error_m") for each in found] == [400.0, 400.0]
    assert [each.guess_homes_m for each in found] == [{"0": 400.0}] * 2


def test_where_nothing_is_found_the_server_is_infinitely_far():
    lost = {"home_error_m": None, "emd_paper": None}
    found = rank(results(row(name="a", rmse_db=6.0, **lost), row(name="b", rmse_db=7.0)))
    assert [each.dominated_by for each in found.configurations] == [None, "a"]
    assert found.baseline.hidden("home_error_m") == inf


def test_what_failed_is_named_and_not_ranked():
    bad = TrialResult("fedavg + dp:epsilon=1", 1, failed="training diverged")
    found = rank([*results(row(), row(name="fedavg + dp:epsilon=1")), bad])
    assert [each.name for each in found.configurations] == ["fedavg"]
    assert found.failed == {"fedavg + dp:epsilon=1": "training diverged"}


@pytest.mark.parametrize(("skill", "beats"), [(0.1, True), (0.09, False), (None, False)])
def test_a_map_beats_the_constant_by_place_or_not(skill, beats):
    """With 5 % less RMSE the skill is 1 - 0.95² = 0.0975."""
    assert ranked("a", 5.0, 1.0, skill_by_place=skill).beats_constant is beats


def test_what_could_not_attack_a_configuration_is_kept_with_it():
    plain, rings = results(row(), row(name="rings"))
    found = rank([plain, replace(rings, unread=("dlg",))])
    assert [each.unread for each in found.configurations] == [(), ("dlg",)]
