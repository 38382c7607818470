from dataclasses import replace
from math import inf

import pytest

from tests.auditing.making import guesses, make_data, ranked, ranking
from veilmap.auditing.headline import headline
from veilmap.auditing.narrative import (
    FEW_ROWS,
    clock,
    homeless,
    oracle,
    scarcity,
    sentences,
    table_lines,
)
from veilmap.auditing.one_configuration import hidden, metres
from veilmap.metrics.spread import Spread, Strongest
from veilmap.study.prepare import prepare
from veilmap.study.settings import RunSettings

PLAIN = ranked("fedavg", 5.0, 43.2, off=5.1, recall=0.6, nearest_m=20.0)
FAR = ranked("fedavg + farthest", 5.5, 900.0, nearest_m=13.0)
FREE = ranked("fedavg + centre", 4.9, 200.0, nearest_m=100.0)


def test_the_headline_by_hand():
    """3 of 5 is a recall of 0.6."""
    assert headline(ranking(PLAIN), ["0"]) == (
        "Baseline (fedavg): the strongest attack (search) locates the home of user 0 within "
        "43 m (38 to 48) and finds 3 of the user's 5 main places to within 50 m."
    )


def test_several_users_are_distinguished():
    said = headline(ranking(PLAIN), ["0", "1", "2"])
    assert "a user's home within 43 m (38 to 48), as the median of 3 users" in said
    assert "as the median of 3 users (best located 22 m, worst located 86 m), and finds" in said
    assert said.endswith("and finds 60% of their main places to within 50 m.")


def test_a_user_that_is_never_found_is_counted():
    known = {"home_error_m": (40.0, 60.0, inf)}
    said = headline(ranking(replace(PLAIN, over_targets=known)), ["0", "1", "2"])
    assert "worst located 60 m; for 1 user no attack names a home in most runs)" in said


def test_a_user_with_two_places_has_no_five():
    assert "1 of the user's 2 main places" in headline(
        ranking(ranked("a", 5.0, 9.0, recall=0.5, top_places=2.0)), ["0"]
    )


DRIVES = "no measurement between 22:00 and 07:00 at a main place"


def test_a_user_without_nights_has_a_heaviest_place_and_no_home():
    drive = ranking(replace(PLAIN, no_home={"0": DRIVES}))
    assert "(search) locates the heaviest place of user 0 within 43 m" in headline(drive, ["0"])
    assert hidden(drive.baseline, "home_error_m").startswith("heaviest place within 43 m")
    assert next(table_lines(drive))[4] == "heaviest place, m"
    assert any("RMSE and the error of the heaviest place: fedavg." in s for s in sentences(drive))
    assert list(homeless(drive)) == [
        f"The cell's data name no home of the attacked user: {DRIVES}. In its place stands the "
        "heaviest place, where most measurements are, also in bounds on the home error."
    ]


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("given", []),
        ("file", []),
        (
            "position",
            [
                "Nights follow the clock of Europe/London, guessed from the position; give "
                "--timezone for another."
            ],
        ),
        (
            "writing",
            [
                "Times are written without an offset and read as UTC, which decides nights; "
                "where they are local, give --timezone."
            ],
        ),
    ],
)
def test_the_clock_of_the_nights_is_said_where_nobody_gave_one(by, said):
    data = replace(make_data(), timezone="Europe/London", timezone_by=by)
    assert list(clock(data)) == said


def test_of_several_users_those_without_a_home_are_counted():
    one = ranking(replace(PLAIN, no_home={"1": DRIVES}, targets=3))
    assert "a user's home within" in headline(one, ["0", "1", "2"])
    assert next(homeless(one)).startswith(
        f"The cell's data name no home of 1 of 3 users: {DRIVES}."
    )
    both = replace(PLAIN, no_home={"0": DRIVES, "1": "one night"}, targets=2)
    assert next(homeless(ranking(both))).startswith(
        f"The cell's data name no home of any of the 2 users: {DRIVES}; or one night."
    )
    assert not list(homeless(ranking(PLAIN)))


NEAR = replace(PLAIN, guesses=guesses(home_error_m={"blind": 566.0, "prior": 74.0}))


def test_the_guesses_stand_beside_the_strongest_attack():
    assert headline(ranking(NEAR), ["0"]) == (
        "Baseline (fedavg): the strongest attack (search) locates the home of user 0 within "
        "43 m (38 to 48), where a blind guess has 566 m and a guess from others' places has 74 m, "
        "and finds 3 of the user's 5 main places to within 50 m."
    )
    several = headline(ranking(NEAR), ["0", "1", "2"])
    assert "(best located 22 m, worst located 86 m), where a blind guess has 566 m and" in several
    assert "a guess from others' places has 74 m, and finds 60% of their main" in several
    assert hidden(NEAR, "home_error_m") == (
        "home within 43 m (38 to 48) by search, where a guess from others' places has 74 m"
    )


def test_a_configuration_is_praised_for_no_more_than_a_guess_leaves():
    far = replace(FAR, guesses=NEAR.guesses)
    assert hidden(far, "home_error_m") == (
        "home in most runs no nearer than a guess from others' places, 74 m: 900 m by search"
    )
    lost = ranked("fedavg + dp", 5.5, None, guesses=NEAR.guesses)
    assert hidden(lost, "home_error_m") == (
        "home in most runs no nearer than a guess from others' places, 74 m: no attack names a "
        "place in most runs"
    )


def test_the_choice_of_hindsight_is_said_where_it_differs():
    best = PLAIN.strongest["home_error_m"]
    later = Strongest("dlg", Spread(21.0, 9.0, 80.0))
    chosen = {**PLAIN.strongest, "home_error_m": replace(best, hindsight=later)}
    said = list(sentences(ranking(replace(PLAIN, strongest=chosen))))
    assert said[-1] == (
        "The strongest attack is chosen on other seeds than it is scored on. Hindsight would "
        "choose dlg for fedavg, with 21 m (9 to 80)."
    )
    same = {**PLAIN.strongest, "home_error_m": replace(best, hindsight=best)}
    assert "Hindsight" not in " ".join(sentences(ranking(replace(PLAIN, strongest=same))))
    alone = replace(PLAIN, chosen_on="the same run")
    assert "chosen on the run that it is scored on" in " ".join(sentences(ranking(alone)))


def test_attacks_that_find_nothing_are_said_to():
    blind = ranked("fedavg", 5.0, 43.0, is_blind=True)
    assert headline(ranking(blind), ["0"]) == (
        "Baseline (fedavg): no attack does better than a guess that sees no message."
    )


def test_a_missing_home_falls_back_to_emd():
    nowhere = ranked("fedavg", 5.0, None, emd=12.34)
    assert headline(ranking(nowhere), ["0"]) == (
        "Baseline (fedavg): no attack names a home in most runs: EMD 12.3 √m by search."
    )


def test_better_ones_are_reported_with_their_cost():
    said = list(sentences(ranking(PLAIN, FAR, FREE)))
    assert said[0] == (
        "With fedavg + centre: home within 200 m by search, and the RMSE falls by 0.10 dB."
    )
    assert said[1] == (
        "With fedavg + farthest: home within 900 m by search, at a cost of 0.50 dB. "
        "But search still points to within 13 m of a place where the user was."
    )
    free = ranked("free", 5.0, 200.0)
    assert "With free: home within 200 m by search, at no cost." in sentences(ranking(PLAIN, free))


def test_what_speaks_against_a_defence_is_said_with_it():
    """300 m as the median, but 44 m at worst; and 6.5 dB where the constant baseline has 6."""
    lucky = ranked("lucky", 5.1, 300.0, homes_at_worst_m={"0": 44.0})
    useless = ranked("useless", 6.5, 900.0)
    first, second, *_ = sentences(ranking(PLAIN, lucky, useless))
    assert first.endswith("by search, at worst 44 m by another attack, at a cost of 0.10 dB.")
    assert second.endswith("But its map is no better than the constant baseline.")


def test_a_choice_that_hindsight_makes_much_worse_speaks_against_a_defence():
    """900 m by what other seeds choose, 54 m by what these would."""
    far = FAR.strongest["home_error_m"]
    for later_m, is_said in ((54.0, True), (500.0, False)):
        later = Strongest("dlg", Spread(later_m, 34.0, 832.0))
        own = {**FAR.strongest, "home_error_m": replace(far, hindsight=later)}
        said = next(sentences(ranking(PLAIN, replace(FAR, strongest=own))))
        assert ("hindsight would choose dlg, with 54 m (34 to 832)" in said) is is_said


def test_where_nothing_is_found_is_better_than_anywhere():
    nowhere = ranked("fedavg + dp", 5.5, None)
    said = list(sentences(ranking(PLAIN, nowhere)))
    assert said[0] == (
        "With fedavg + dp: no attack names a place in most runs, at a cost of 0.50 dB."
    )
    assert "No other configuration is more private." in next(sentences(ranking(nowhere, PLAIN)))


def test_a_place_is_found_only_if_guesses_are_farther():
    """13 m where a guess has 20 m is what chance gives."""
    crowded = replace(FAR, guesses=guesses(nearest_m={"blind": 300.0, "prior": 20.0}))
    assert not any("still points" in each for each in sentences(ranking(PLAIN, crowded)))


def test_nothing_better_is_said_too():
    near = ranked("fedavg + dp", 7.0, 10.0, dominated_by="fedavg")
    said = list(sentences(ranking(PLAIN, near)))
    assert said[0] == "No other configuration is more private."
    assert any("fedavg + dp (by fedavg)" in each for each in said)
    assert "Maps no better by place than the constant baseline: fedavg + dp." in said


def test_a_map_that_the_constant_baseline_beats_is_called_so():
    said = list(sentences(ranking(ranked("fedavg", 6.5, 43.0))))
    assert any("By place the map is no better: train with --map kriging" in each for each in said)
    said = list(sentences(ranking(PLAIN)))
    assert any("By place its skill is 0.50, 60% of what kriging all" in each for each in said)
    assert not any("no better" in each for each in said)


def test_what_failed_is_reported_with_its_reason():
    said = list(sentences(ranking(PLAIN, failed={"fedavg + dp": "training diverged"})))
    assert said[-1] == "fedavg + dp has no figures: training diverged."


def test_one_seed_is_said_to_be_one():
    alone = replace(PLAIN, seeds=1)
    assert any(each.startswith("Only one seed") for each in sentences(ranking(alone)))
    assert not any(each.startswith("Only one seed") for each in sentences(ranking(PLAIN)))


def test_attacks_that_could_not_read_a_map_are_named_with_it():
    rings = ranked("rings", 5.5, 594.0, unread=("dlg", "search"))
    said = list(sentences(ranking(PLAIN, rings)))
    assert said[0].endswith(
        "But dlg and search cannot read this kind of map and did not attack it."
    )
    assert said[-1].startswith("Not attacked by dlg and search, which cannot read this kind of map")
    assert said[-1].endswith("less private than it looks: rings.")
    assert not any("cannot read" in each for each in sentences(ranking(PLAIN, FAR)))


@pytest.mark.parametrize(
    ("figure", "text"),
    [
        (Spread(1234.5, 1234.5, 1234.5), "1,234 m"),
        (Spread(9.6, 9.2, 1234.0), "10 m (9 to 1,234)"),
        (Spread(9.6, 9.55, 9.7), "10 m"),
    ],
)
def test_metres(figure, text):
    assert metres(figure) == text


def test_what_no_attack_found_is_said_so():
    assert hidden(ranked("a", 5.0, None), "home_error_m") == "no attack names a place in most runs"


def test_an_oracle_comes_with_its_cure():
    (area, start) = oracle(["area", "the start of dlg"])
    assert "--area" in area
    assert "true centroid" in start


def test_few_data_are_audited_with_a_warning_and_many_without():
    settings = RunSettings.of(interval="1d", split="random")
    (said,) = scarcity(prepare(make_data(rows=40, users=1), settings))
    assert said.startswith("The cell has only 40 rows and 1 user and 1 round: figures from so few")
    assert list(scarcity(prepare(make_data(rows=FEW_ROWS, users=2), settings))) == []
