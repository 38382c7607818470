from math import inf

import pytest

from tests.auditing.making import make_row as row
from veilmap.auditing.over_people import about_people, over_people, people_lines, shown_people
from veilmap.auditing.ranking import rank
from veilmap.experiments.result import TrialResult

CENTRE = "fedavg + centre"


def results(guess_m=400.0):
    """Search has a at 20 m and b at 120 m, nearer than dlg; under centre b is not located."""
    by_attack = {"search": {"a": 20.0, "b": 120.0}, "dlg": {"a": 500.0, "b": 600.0}}

    def rows(name, found):
        return tuple(
            row(attack, target=user, name=name, home_error_m=error_m)
            for attack, own in found.items()
            for user, error_m in own.items()
        )

    guesses = {"blind": {"a": guess_m, "b": 150.0}, "prior": {"a": 300.0, "b": 90.0}}
    hidden = {"search": {"a": 30.0, "b": None}}
    return [
        TrialResult("fedavg", 0, rows=rows("fedavg", by_attack), guesses=rows("fedavg", guesses)),
        TrialResult(CENTRE, 0, rows=rows(CENTRE, hidden), guesses=rows(CENTRE, guesses)),
    ]


@pytest.fixture
def people():
    return over_people(rank(results()), results())


def test_every_configuration_stands_beside_its_guesses(people):
    assert [(each.configuration, each.attack, each.errors_m) for each in people] == [
        ("fedavg", "search", (20, 120)),
        ("fedavg", "blind", (150, 400)),
        ("fedavg", "prior", (90, 300)),
        (CENTRE, "search", (30, inf)),
        (CENTRE, "blind", (150, 400)),
        (CENTRE, "prior", (90, 300)),
    ]
    assert [each.is_guess for each in people] == [False, True, True] * 2


def test_where_no_attack_names_a_home_nobody_is_located():
    nowhere = [TrialResult("fedavg", 0, rows=tuple(row(target=t, home_error_m=None) for t in "ab"))]
    (only,) = over_people(rank(nowhere), nowhere)
    assert (only.attack, only.errors_m) == (None, (inf, inf))
    assert next(about_people([only])).startswith("Over 2 people, no attack under fedavg finds")


def test_the_table_has_the_guesses_once(people):
    assert [each.attack for each in shown_people(people)] == ["search", "search", "blind", "prior"]
    assert list(people_lines(people)) == [
        ("m from home, best located", "10%", "25%", "50%", "75%", "≤ 50 m", "≤ 100 m", "≤ 200 m"),
        ("fedavg", "20", "20", "20", "120", "50%", "50%", "100%"),
        (CENTRE, "30", "30", "30", "-", "50%", "50%", "50%"),
        ("(blind guess)", "150", "150", "150", "400", "0%", "0%", "50%"),
        ("(guess from others' places)", "90", "90", "90", "300", "0%", "50%", "50%"),
    ]
    assert next(people_lines(people, "heaviest place"))[0] == "m from heaviest place, best located"


def test_the_baseline_is_said_beside_the_blind_guess(people):
    assert list(about_people(people)) == [
        "Over 2 people, search under fedavg finds the home of 50% within 50 m, 50% within 100 m, "
        "100% within 200 m; a blind guess 0%, 0%, 50%."
    ]


def test_one_person_is_no_distribution():
    alone = [TrialResult("fedavg", 0, rows=(row(),))]
    assert list(about_people(over_people(rank(alone), alone))) == []
