from math import nan

import pytest

from tests.sweeping.making import make_claim
from tests.sweeping.making import rows_of as keyed
from veilmap.errors import UserError
from veilmap.sweeping.claims import RULES
from veilmap.sweeping.rules.bounds import AtLeast, AtMost, SameAs
from veilmap.sweeping.rules.comparisons import Above, Cheapest, Order, Ratio, Undominated
from veilmap.sweeping.rules.trends import Falls, Least, Rises, Same


def rows_of(key="k", figure="f", **values):
    """One row for every value; a list gives several rows with the same key."""
    listed = {name: each if isinstance(each, list) else [each] for name, each in values.items()}
    return keyed(*({key: name, figure: each} for name, every in listed.items() for each in every))


def by_step(*values):
    return keyed(*({"x": step, "f": value} for step, value in enumerate(values)))


def test_above_compares_means():
    """Means 5 and 2: the effect is 3, and -3 the other way round."""
    rows = rows_of(a=[4, 6], b=2)
    rule = Above("f", high={"k": "a"}, low={"k": "b"})
    assert rule.effect(rows) == 3
    assert rule.values(rows) == [5, 2]
    assert Above("f", high={"k": "b"}, low={"k": "a"}).effect(rows) == -3
    assert rule.effect(rows_of(a=1, b=1)) == 0


def test_above_cannot_tell_without_both_sides():
    rule = Above("f", high={"k": "a"}, low={"k": "b"})
    assert rule.effect(rows_of(a=1, b=None)) is None
    assert rule.effect(rows_of(a=nan, b=1)) is None
    assert rule.effect(rows_of(b=1)) is None
    assert rule.values(rows_of(b=1)) == [None, 1]


def test_order_is_decided_by_the_smallest_rise():
    """1, 4, 6 rises by 3 and by 2; 1, 6, 4 falls by 2 at its end."""
    rule = Order("f", order=({"k": "a"}, {"k": "b"}, {"k": "c"}))
    assert rule.effect(rows_of(a=1, b=4, c=6)) == 2
    assert rule.effect(rows_of(a=1, b=6, c=4)) == -2
    assert rule.effect(rows_of(a=1, b=None, c=4)) is None
    assert rule.values(rows_of(c=1, a=3)) == [3, None, 1]


def test_an_order_of_one_is_refused():
    with pytest.raises(UserError, match="order must have two parts or more, got 1"):
        Order("f", order=({"k": "a"},))


def test_rises_is_the_slope_of_the_least_squares_line():
    """Of 1, 2, 6 over 0, 1, 2: (-1·1 + 1·6) / 2 = 2.5 a step."""
    rule = Rises("f", along="x", where={})
    assert rule.effect(by_step(1, 2, 6)) == pytest.approx(2.5)
    assert rule.effect(by_step(6, 2, 1)) == pytest.approx(-2.5)
    assert rule.values(by_step(1, 2, 6)) == [1, 2, 6]
    assert Rises("f", "x", {"x": [0, 1]}).effect(by_step(1, 2, 6)) == pytest.approx(1)


def test_rises_does_not_ask_that_every_step_rises():
    assert Rises("f", "x", {}).effect(by_step(1, 5, 4, 8)) > 0


@pytest.mark.parametrize("value", [0.3, 4.83, 6.7, 1e9 / 3])
@pytest.mark.parametrize("count", [2, 4, 5])
def test_equal_figures_neither_rise_nor_fall(value, count):
    rows = by_step(*[value] * count)
    assert Rises("f", "x", {}).effect(rows) == 0
    assert Falls("f", "x", {}).effect(rows) == 0


def test_falls_is_rises_the_other_way_round():
    rule = Falls("f", along="x", where={})
    assert rule.effect(by_step(6, 2, 1)) == pytest.approx(2.5)
    assert rule.effect(by_step(1, 2, 6)) == pytest.approx(-2.5)
    assert rule.values(by_step(6, 2, 1)) == [6, 2, 1]


@pytest.mark.parametrize("rule", [Rises("f", "x", {}), Falls("f", "x", {})])
def test_one_point_has_no_slope(rule):
    assert rule.effect(by_step(1)) is None
    assert rule.effect(by_step(1, None, nan)) is None
    assert rule.effect([]) is None


def test_of_many_steps_the_first_and_the_last_are_shown():
    rule = Rises("f", "x", {})
    assert rule.values(by_step(*range(8))) == list(range(8))
    assert rule.values(by_step(*range(9))) == [0, 8]


def test_same_is_a_spread_below_the_margin():
    """4, 4.3, 4.1 spread over 0.3: 0.2 are left of a margin of 0.5, and 0.1 too many for 0.2."""
    rows = rows_of(a=4, b=4.3, c=4.1)
    assert Same("f", "k", {}, margin=0.5).effect(rows) == pytest.approx(0.2)
    assert Same("f", "k", {}, margin=0.2).effect(rows) == pytest.approx(-0.1)
    assert Same("f", "k", {"k": ["a", "c"]}, margin=0.2).effect(rows) == pytest.approx(0.1)
    assert Same("f", "k", {}, 0.5).values(rows) == [4, 4.3, 4.1]
    assert Same("f", "k", {}, 0.5).effect(rows_of(a=4, b=None)) is None


def test_same_as_allows_either_side_of_the_number():
    """The mean of 1 and 2 is 0.5 from 1 and from 2."""
    rows = rows_of(a=[1, 2])
    for number in (1, 2):
        assert SameAs("f", {}, to=number, margin=0.75).effect(rows) == pytest.approx(0.25)
        assert SameAs("f", {}, to=number, margin=0.25).effect(rows) == pytest.approx(-0.25)
    assert SameAs("f", {}, to=0, margin=1).effect(rows_of(a=None)) is None
    assert SameAs("f", {}, to=0, margin=1).values(rows) == [1.5]


def test_bounds_are_for_every_row():
    rows = rows_of(a=[3, 5], b=1)
    assert AtLeast("f", {"k": "a"}, bound=2).effect(rows) == 1
    assert AtLeast("f", {}, bound=2).effect(rows) == -1
    assert AtLeast("f", {}, bound=2).values(rows) == [1]
    assert AtMost("f", {"k": "a"}, bound=6).effect(rows) == 1
    assert AtMost("f", {}, bound=4).effect(rows) == -1
    assert AtMost("f", {}, bound=4).values(rows) == [5]


@pytest.mark.parametrize("rule", [AtLeast("f", {}, bound=0), AtMost("f", {}, bound=9)])
def test_a_bound_takes_one_row_and_cannot_tell_of_none(rule):
    assert rule.effect(rows_of(a=[4, None])) > 0
    assert rule.effect(rows_of(a=[nan, None])) is None
    assert rule.effect([]) is None


def test_ratio_is_at_most_so_many_times_the_other():
    """7 of 10: 0.75 times 10 leaves 0.5, 0.5 times 10 is 2 too few."""
    rows = rows_of(a=7, b=10)
    here = {"low": {"k": "a"}, "high": {"k": "b"}}
    assert Ratio("f", 0.75, **here).effect(rows) == pytest.approx(0.5)
    assert Ratio("f", 0.5, **here).effect(rows) == pytest.approx(-2)
    assert Ratio("f", 0.5, **here).values(rows) == [7, 10]
    assert Ratio("f", 0.5, **here).effect(rows_of(a=7, b=None)) is None


def test_fraction_is_of_another_figure_of_the_same_rows():
    """5.3 of 21.33 is below a third by 1.81, and above a fifth by 1.034."""
    rows, of = keyed({"emd": 5.3, "random": 21.33}), {"where": {}, "of": "random"}
    assert Ratio("emd", 1 / 3, **of).effect(rows) == pytest.approx(1.81)
    assert Ratio("emd", 0.2, **of).effect(rows) == pytest.approx(-1.034)
    assert Ratio("emd", 0.2, **of).values(rows) == [5.3, 21.33]
    assert Ratio("emd", 0.2, **of).effect(keyed({"emd": 5.3})) is None


@pytest.mark.parametrize(
    "given", [{}, {"low": {}}, {"where": {}}, {"low": {}, "high": {}, "of": "random"}, {"of": "x"}]
)
def test_a_ratio_is_of_two_places_or_of_two_figures(given):
    with pytest.raises(UserError, match=r"at_most 0\.5 needs low and high, or where and of"):
        Ratio("f", 0.5, **given)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [("ratio", {"low": {"k": "a"}, "high": {"k": "b"}}), ("fraction", {"where": {}, "of": "g"})],
)
def test_both_spellings_are_read_from_specs(kind, settings):
    claim = make_claim(kind, figure="f", at_most=0.5, **settings)
    assert claim.rule == Ratio("f", 0.5, **settings)


def test_least_is_against_the_best_of_the_others():
    """3 at step 1 is below the best other, 4, by 1; at step 0 it is 2 above the best, 3."""
    rows = by_step(5, 3, 4)
    assert Least("f", "x", {}, at=1).effect(rows) == 1
    assert Least("f", "x", {}, at=0).effect(rows) == -2
    assert Least("f", "x", {}, at=1).values(rows) == [5, 3, 4]


def test_a_run_that_failed_cannot_be_the_least():
    assert Least("f", "x", {}, at=1).effect(by_step(5, 3, None)) == 2
    assert Least("f", "x", {}, at=2).effect(by_step(5, 3, None)) is None
    assert Least("f", "x", {}, at=0).effect(by_step(5)) is None


def priced(name, private, price):
    (row,) = keyed({"name": name, "emd": private, "rmse": price})
    return row


def cheapest(at_least=21.0):
    return Cheapest("rmse", {"name": "ours"}, {"name": ["dp", "gan"]}, "emd", at_least)


def test_cheapest_looks_only_at_rows_that_are_private_enough():
    """Above 21 ours costs 5 and the best other 7: the effect is 2; above 15 DP costs 4: -1."""
    rows = [
        priced("ours", 22, 5),
        priced("ours", 30, 9),
        priced("dp", 20, 4),
        priced("dp", 21, 7),
        priced("gan", 25, 8),
    ]
    assert cheapest().effect(rows) == 2
    assert cheapest().values(rows) == [5, 7]
    assert cheapest(15).effect(rows) == -1


def test_cheapest_cannot_tell_where_a_side_is_never_private_enough():
    ours, other = priced("ours", 22, 5), priced("dp", 22, 6)
    assert cheapest().effect([ours, other]) == 1
    for rows in ([ours], [other], [], [ours, priced("dp", None, 6)], [ours, priced("dp", nan, 6)]):
        assert cheapest().effect(rows) is None


def test_a_figure_of_zero_is_private_enough_where_zero_is_asked_for():
    assert cheapest(0).effect([priced("ours", 0, 5), priced("dp", 0, 6)]) == 1


def test_our_most_private_row_is_on_the_frontier_unless_another_hides_as_much_for_less():
    """Ours hides 30 for 9; DP hides 31 for 8, which dominates it; for 10 it would not."""
    rule = Undominated("rmse", {"name": "ours"}, {"name": "dp"}, "emd")
    ours = [priced("ours", 22, 5), priced("ours", 30, 9), priced("ours", None, 1)]
    assert rule.effect([*ours, priced("dp", 31, 8)]) == -1
    assert rule.values([*ours, priced("dp", 31, 8)]) == [9, 8]
    assert rule.effect([*ours, priced("dp", 31, 10)]) == 1
    assert rule.effect([*ours, priced("dp", 29, 1)]) == 1
    assert rule.effect([priced("dp", 29, 1)]) is None


def test_every_rule_has_a_word_between_its_numbers():
    assert all(rule.joint.strip() for rule in RULES.values())
