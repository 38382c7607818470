from tests.sweeping.making import make_claim, make_row
from veilmap.experiments.result import TrialResult
from veilmap.metrics.rows import GradientShare, RoundMeans, RoundRecord
from veilmap.sweeping.decision import ClaimOutcome
from veilmap.sweeping.spec_result import SpecResult, decisions


def record(seed=0, rmse_db=5.0, **emd):
    """One row for every attack."""
    rows = (
        make_row(attack, seed, rmse_db, **({} if value is None else {"emd_paper": value}))
        for attack, value in emd.items()
    )
    return TrialResult("c", seed, rows=tuple(rows), seconds=2.0)


def pair_of(a, b):
    """Two parts of a grid with two seeds each, the second one as the first."""
    return SpecResult(tuple(({"name": n}, part) for n, part in (("a", a), ("b", b)) for _ in "12"))


EMD = make_claim("above", figure="emd_paper", high={"name": "a"}, low={"name": "b"})
RMSE = make_claim("above", figure="rmse_db", high={"name": "a"}, low={"name": "b"}, certain=True)


def test_rows_have_the_keys_and_the_seed_of_their_run():
    figures = SpecResult((({"name": "a", "T": "1w"}, record(3, dlg=1.0)),))
    (row,) = figures.rows()
    assert row.keys == {"name": "a", "T": "1w", "seed": 3}
    assert (row.value("attack"), row.figure("rmse_db"), row.figure("emd_paper")) == (
        "dlg",
        5.0,
        1.0,
    )


def test_other_tables_have_rows_of_their_own():
    means = RoundMeans("dlg", 1, 0.9, 5.0, 6.0, 7.0, 3.0, (3.0,))
    trained = RoundRecord(1, 0.0, 2, 9, 5.0, 5.0, 0.1, None, 0.1)
    one = TrialResult(
        "c", 0, rounds=(means,), training=(trained,), gradient=(GradientShare(-1, 0.5),)
    )
    figures = SpecResult((({"name": "a"}, one),))
    assert figures.rows() == []
    for table, own in (("rounds", means), ("training", trained)):
        (row,) = figures.rows(table)
        assert (row.row, row.keys) == (own, {"name": "a", "seed": 0})
        assert figures.of_attack(table, "dlg") == [row]
    assert figures.of_attack("rounds", "search") == []
    (row,) = figures.of_attack("gradient", "search")
    assert (row.figure("decade"), row.figure("share_below")) == (-1, 0.5)


def test_the_rows_of_an_attack_are_its_own_and_those_of_none():
    figures = SpecResult((({}, record(dlg=1.0, search=2.0)), ({}, record(none=None))))
    assert [row.value("attack") for row in figures.of_attack("runs", "search")] == [
        "search",
        "none",
    ]
    assert figures.attacks == ("dlg", "search")


def test_results_are_found_by_their_keys():
    one, other = record(0), record(1)
    figures = SpecResult((({"name": "a"}, one), ({"name": "b"}, other)))
    assert list(figures.results({"name": "b"})) == [other]
    assert list(figures.results({})) == [one, other]
    assert figures.seconds == 4.0


def test_a_run_that_failed_has_no_row_and_is_listed():
    figures = SpecResult((({"name": "a"}, TrialResult("c", 0, failed="it diverged")),))
    assert figures.rows() == []
    assert figures.failed == [({"name": "a"}, "it diverged")]


def test_a_claim_has_a_verdict_under_every_attack():
    figures = pair_of(record(dlg=3.0, search=1.0), record(dlg=1.0, search=2.0))
    (under,) = decisions([EMD], figures)
    assert [(each.attack, each.effects) for each in under] == [("dlg", (2.0,)), ("search", (-1.0,))]


def test_a_figure_that_is_the_same_under_all_attacks_belongs_to_none():
    figures = pair_of(record(rmse_db=6.0, dlg=3.0, search=1.0), record(dlg=1.0, search=2.0))
    _, (only,) = decisions([EMD, RMSE], figures)
    assert (only.attack, only.outcome, only.values) == (None, ClaimOutcome.HOLDS, (6.0, 5.0))


def test_the_only_attack_is_named():
    (under,) = decisions([EMD], pair_of(record(dlg=3.0), record(dlg=1.0)))
    assert [each.attack for each in under] == ["dlg"]


def test_a_figure_that_only_dlg_has_is_reported_for_dlg_alone():
    claim = make_claim("above", figure="iterations", high={"name": "a"}, low={"name": "b"})
    figures = pair_of(record(search=3.0, dlg=1.0), record(search=1.0, dlg=1.0))
    (under,) = decisions([claim], figures)
    assert [each.attack for each in under] == ["dlg"]


def test_a_price_at_equal_privacy_depends_on_the_attack():
    """Against DLG ours is private enough at 6 dB and the other at 5; against search only ours."""
    claim = make_claim(
        "cheapest",
        figure="rmse_db",
        ours={"name": "a"},
        others={"name": "b"},
        private="emd_paper",
        at_least=2,
        certain=True,
    )
    figures = pair_of(record(rmse_db=6.0, dlg=3.0, search=3.0), record(dlg=3.0, search=1.0))
    (under,) = decisions([claim], figures)
    assert [(each.attack, each.outcome) for each in under] == [
        ("dlg", ClaimOutcome.FAILS),
        ("search", ClaimOutcome.UNKNOWN),
    ]


def test_without_attacks_there_is_one_verdict():
    figures = pair_of(record(none=None, rmse_db=4.0), record(none=None))
    ((only,),) = decisions([RMSE], figures)
    assert (only.attack, only.outcome) == (None, ClaimOutcome.FAILS)


def test_runs_that_all_failed_tell_nothing():
    ((only,),) = decisions([RMSE], SpecResult((({"name": "a"}, TrialResult("c", 0, failed="no")),)))
    assert only.outcome is ClaimOutcome.UNKNOWN
