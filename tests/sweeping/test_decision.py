from math import nan
from statistics import fmean

import pytest

from tests.sweeping.making import make_claim
from tests.sweeping.making import rows_of as keyed
from veilmap.sweeping.decision import ClaimOutcome, decide

ABOVE = {"figure": "f", "high": {"k": "a"}, "low": {"k": "b"}}


def rows_of(*pairs):
    """High and low of every seed."""
    return keyed(
        *(
            {"seed": seed, "k": k, "f": value}
            for seed, pair in enumerate(pairs)
            for k, value in zip("ab", pair, strict=True)
        )
    )


def outcome(*pairs, **changes):
    return decide(make_claim("above", **ABOVE, **changes), rows_of(*pairs)).outcome


def test_a_claim_holds_where_the_whole_interval_is_above_zero():
    """Effects 2, 3, 4: 3 ± 4.303 · 1 / √3 = 3 ± 2.48."""
    verdict = decide(make_claim("above", **ABOVE), rows_of((5, 3), (7, 4), (9, 5)), "dlg")
    assert verdict.outcome is ClaimOutcome.HOLDS
    assert verdict.effects == (2, 3, 4)
    assert verdict.interval.low == pytest.approx(0.516, abs=1e-3)
    assert verdict.interval.high == pytest.approx(5.484, abs=1e-3)
    assert verdict.values == (7, 4)
    assert verdict.attack == "dlg"


def test_a_claim_fails_where_the_whole_interval_is_below_zero():
    assert outcome((3, 5), (4, 7), (5, 9)) is ClaimOutcome.FAILS


def test_a_claim_is_undecided_where_zero_is_in_the_interval():
    assert outcome((5, 3), (3, 5)) is ClaimOutcome.UNDECIDED
    assert outcome((5, 3), (3, 2.9)) is ClaimOutcome.UNDECIDED


def test_one_seed_decides_only_what_is_certain():
    assert outcome((5, 3)) is ClaimOutcome.UNDECIDED
    assert outcome((5, 3), certain=True) is ClaimOutcome.HOLDS
    assert outcome((3, 5), certain=True) is ClaimOutcome.FAILS
    assert outcome((3, 3), certain=True) is ClaimOutcome.FAILS
    assert decide(make_claim("above", **ABOVE), rows_of((5, 3))).interval is None


def test_equal_effects_decide_but_those_of_zero_do_not_hold():
    assert outcome((5, 3), (6, 4)) is ClaimOutcome.HOLDS
    assert outcome((3, 5), (4, 6)) is ClaimOutcome.FAILS
    assert outcome((3, 3), (3, 3)) is ClaimOutcome.FAILS


def test_the_rounding_of_a_mean_is_no_effect():
    """The mean of three times 0.1 is 0.1 and a bit."""
    claim = make_claim("above", **ABOVE)
    rows = keyed(*({"seed": s, "k": k, "f": 0.1} for s in (0, 1) for k in "aaab"))
    assert fmean([0.1] * 3) > 0.1
    assert decide(claim, rows).effects == (0, 0)
    assert decide(claim, rows).outcome is ClaimOutcome.FAILS


def test_a_seed_that_cannot_tell_is_left_out():
    verdict = decide(make_claim("above", **ABOVE), rows_of((5, 3), (None, 3), (nan, 3), (6, 4)))
    assert verdict.effects == (2, 2)
    assert verdict.outcome is ClaimOutcome.HOLDS


def test_without_figures_nothing_can_be_decided():
    assert outcome((None, 3), (5, nan)) is ClaimOutcome.UNKNOWN
    assert outcome() is ClaimOutcome.UNKNOWN
    assert decide(make_claim("above", **ABOVE), []).values == (None, None)


def test_outcomes_have_words():
    assert [each.words for each in ClaimOutcome] == [
        "holds",
        "does not hold",
        "undecided",
        "not determined",
    ]
