"""Bounds that even the middle of the area violates."""

import re

import pytest

from tests.auditing.making import TINY, make_data
from veilmap.auditing.audit import audit
from veilmap.auditing.panel import panel
from veilmap.auditing.plan import AuditPlan
from veilmap.auditing.reachable import refuse_unreachable
from veilmap.auditing.settings import AuditSettings
from veilmap.errors import UserError


def plan_of(redact=False, **settings):
    settings = AuditSettings.of(**{**TINY, **settings})
    return AuditPlan.of(make_data(), settings, panel(settings), redact)


def most_m(**settings):
    """What the error says is the most that can be asked for."""
    with pytest.raises(UserError, match="no configuration can keep") as raised:
        refuse_unreachable(plan_of(min_home_error_m=1e6, **settings))
    return float(re.search(r"give --min-home-error (\d+) or less", str(raised.value))[1])


def test_a_bound_that_the_blind_guess_violates_is_refused_and_one_below_it_is_not():
    least_m = most_m()
    refuse_unreachable(plan_of(min_home_error_m=least_m))
    refuse_unreachable(plan_of())
    with pytest.raises(
        UserError, match=r"a blind guess, the middle of the area, is .* of user u0;"
    ):
        refuse_unreachable(plan_of(min_home_error_m=least_m + 1))


def test_the_bound_is_that_of_the_attacked_rounds_as_the_attack_itself_has_it():
    """The audit's own blind guess, of a run whose every second round is attacked."""
    found = audit(make_data(), **TINY, every=2)
    (blind_m,) = {row.figure("home_error_m") for each in found.results for row in each.guesses[:1]}
    assert most_m(every=2) <= blind_m < most_m(every=2) + 1


def test_of_several_users_one_that_can_be_protected_is_enough():
    both = most_m(targets=2)
    alone = [most_m(target=("u0",)), most_m(target=("u1",))]
    assert min(alone) < both == max(alone)
    refuse_unreachable(plan_of(targets=2, min_home_error_m=both))


def test_with_redact_the_error_names_no_user():
    with pytest.raises(UserError) as raised:
        audit(make_data(), **TINY, redact=True, min_home_error_m=1e6)
    assert "of user no. 1;" in str(raised.value)
    assert "u0" not in str(raised.value)


def test_the_error_comes_before_anything_is_trained(tmp_path):
    with pytest.raises(UserError, match="no configuration can keep"):
        audit(make_data(), **TINY, out=tmp_path / "a", min_home_error_m=1e6)
    assert not list((tmp_path / "a").rglob("*.json"))
