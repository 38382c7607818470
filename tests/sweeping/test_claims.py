import pytest

from tests.sweeping.making import make_claim
from veilmap.errors import UserError
from veilmap.sweeping.claims import RULES, claim_of
from veilmap.sweeping.rules.bounds import AtMost


def test_a_table_becomes_a_claim_with_its_rule():
    claim = make_claim("at_most", figure="f", where={}, bound=2, table="rounds", certain=True)
    assert claim.rule == AtMost("f", {}, 2)
    assert (claim.says, claim.table, claim.certain, claim.paper) == (
        "it is so",
        "rounds",
        True,
        "",
    )


@pytest.mark.parametrize("kind", ["abov", None, ["above"]])
def test_for_an_unknown_kind_the_known_ones_are_listed(kind):
    with pytest.raises(UserError, match=r"unknown kind of claim .* choose one of: above, order"):
        make_claim(kind)


def test_for_a_misspelt_setting_a_name_is_suggested():
    with pytest.raises(UserError, match="claim 'it is so': unknown setting 'higher'; did you mean"):
        make_claim(figure="f", higher={}, low={})


def test_a_setting_that_is_missing_is_named():
    with pytest.raises(UserError, match="low is missing; add it"):
        make_claim(figure="f", high={})


def test_a_claim_without_words_is_refused():
    with pytest.raises(UserError, match="a claim says nothing"):
        make_claim(says="", figure="f", high={}, low={})
    with pytest.raises(UserError, match="says is missing; add it"):
        claim_of({"kind": "above", "figure": "f", "high": {}, "low": {}})


def test_an_unknown_table_is_refused():
    with pytest.raises(UserError, match="table"):
        make_claim(figure="f", high={}, low={}, table="weeks")


def test_no_rule_has_a_setting_that_the_words_of_a_claim_have():
    words = {"kind", "says", "table", "paper", "note", "certain"}
    assert not any(words & set(rule.__dataclass_fields__) for rule in RULES.values())
