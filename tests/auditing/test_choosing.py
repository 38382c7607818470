"""The strongest attack, chosen on other runs than those that it is scored on."""

import numpy as np
import pytest

from tests.auditing.making import make_row as row
from veilmap.auditing.choosing import choose_strongest, chosen_on
from veilmap.metrics.spread import Spread, Strongest

HOME = "home_error_m"


def rows_of(homes_m, target="0"):
    """By attack the home error of each seed."""
    return [
        row(attack, seed, target, home_error_m=each)
        for attack, own in homes_m.items()
        for seed, each in enumerate(own)
    ]


def test_by_hand_every_seed_is_scored_under_what_the_others_choose():
    """The medians without seed 0: a 65, b 40; without 1: a 50, b 55; without 2: a 25, b 35.

    So b's 50, a's 40 and a's 90, whose median is 50. In hindsight a has 40.
    """
    found = choose_strongest(rows_of({"a": (10.0, 40.0, 90.0), "b": (50.0, 20.0, 60.0)}), HOME, min)
    assert [(each.attack, each.value) for each in found.scored] == [("b", 50), ("a", 40), ("a", 90)]
    assert found.strongest.figure == Spread(50.0, 40.0, 90.0)
    assert found.strongest.attack == "a"
    assert found.strongest.hindsight == Strongest("a", Spread(40.0, 10.0, 90.0))


def test_of_one_seed_every_user_is_scored_under_what_the_others_choose():
    """The first finds users 0 and 1 at 10 m and misses 2; the second finds each at 100 m."""
    rows = [
        row(attack, 0, str(target), home_error_m=each)
        for attack, own in {"a": (10.0, 10.0, 900.0), "b": (100.0, 100.0, 100.0)}.items()
        for target, each in enumerate(own)
    ]
    assert chosen_on(rows) == "other users"
    found = choose_strongest(rows, HOME, min)
    assert [each.value for each in found.scored] == [100.0, 100.0, 900.0]
    assert found.strongest.hindsight.figure.median == 10.0


def test_of_a_single_run_hindsight_is_all_there_is():
    found = choose_strongest(rows_of({"a": (10.0,), "b": (50.0,)}), HOME, min)
    assert found.strongest == Strongest("a", Spread(10.0, 10.0, 10.0), hindsight=None)
    assert chosen_on(rows_of({"a": (10.0,)})) == "the same run"


def test_one_attack_alone_is_the_strongest_by_either_choice():
    found = choose_strongest(rows_of({"a": (10.0, 40.0, 90.0)}), HOME, min)
    assert found.strongest.figure == found.strongest.hindsight.figure


def test_the_luck_of_a_choice_is_not_counted():
    """Ten attacks of pure chance around 100 m: the least of ten medians is far below it."""
    draw = np.random.default_rng(0)
    chosen_m, hindsight_m = [], []
    for _ in range(200):
        homes_m = {f"attack {n}": draw.uniform(0, 200, 5).tolist() for n in range(10)}
        found = choose_strongest(rows_of(homes_m), HOME, min).strongest
        chosen_m.append(found.figure.median)
        hindsight_m.append(found.hindsight.figure.median)
    assert np.mean(chosen_m) == pytest.approx(100, abs=10)
    assert np.mean(hindsight_m) < 60


def test_an_attack_that_is_better_everywhere_is_always_chosen():
    homes_m = {"good": (10.0, 12.0, 14.0), "bad": (300.0, 310.0, 290.0)}
    found = choose_strongest(rows_of(homes_m), HOME, min)
    assert {each.attack for each in found.scored} == {"good"}
    assert found.strongest.figure == Spread(12.0, 10.0, 14.0)


def test_more_is_worse_of_a_recall():
    rows = [row(a, s, recall_50m=r) for a, r in (("a", 0.2), ("b", 0.6)) for s in range(3)]
    assert choose_strongest(rows, "recall_50m", max).strongest.attack == "b"


def test_a_run_without_the_figure_counts_as_infinitely_far():
    assert choose_strongest(rows_of({"a": (10.0, None, None)}), HOME, min) is None
    found = choose_strongest(rows_of({"a": (10.0, 20.0, None)}), HOME, min)
    assert found.strongest.figure == Spread(20.0, 10.0, 20.0)
    assert found.over_targets == (20.0,)


def test_an_attacker_who_finds_little_takes_what_finds_it_most_often():
    """Without any seed both have the median infinity, and b has found the user more often."""
    found = choose_strongest(
        rows_of({"a": (9.0, *[None] * 5), "b": (10.0, 20.0, 30.0, *[None] * 3)}), HOME, min
    )
    assert {each.attack for each in found.scored} == {"b"}
    assert found.strongest.figure == Spread(30.0, 10.0, 30.0)
