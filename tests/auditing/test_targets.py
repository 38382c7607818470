import pytest

from tests.auditing.making import make_data
from veilmap.auditing.settings import Question
from veilmap.auditing.targets import BUDGET_MS, Targets, choose, rounds_by_user
from veilmap.errors import UserError
from veilmap.study.prepare import prepare
from veilmap.study.settings import RunSettings

# Users with most measurements first, and their rounds.
ROUNDS = {"a": 2, "b": 12, "c": 3, "d": 5, "e": 1}


def chosen(rounds=None, per_round_ms=1.0, **question):
    return choose(ROUNDS if rounds is None else rounds, Question(**question), "x1", per_round_ms)


def test_rounds_are_those_with_training_data():
    """The rows of two users within 33 hours from 10:00 are of two days."""
    prepared = prepare(make_data(), RunSettings.of(interval="1d"))
    assert rounds_by_user(prepared) == {"u0": 2, "u1": 2}
    assert [*rounds_by_user(prepared)] == prepared.data.users


def test_all_are_those_with_three_rounds():
    assert chosen(targets="all").users == ("b", "c", "d")
    # Where nobody has so many, everybody.
    assert chosen({"a": 1, "b": 2}, targets="all").users == ("a", "b")


def test_so_many_are_first_those_with_three_rounds():
    assert chosen(targets=2).users == ("b", "c")
    assert chosen(targets=4).users == ("b", "c", "d", "a")


def test_by_default_they_fit_into_the_budget():
    """Users b and c have 15 rounds, and d five more."""
    fitting_ms = BUDGET_MS / 15
    assert chosen(per_round_ms=fitting_ms).users == ("b", "c")
    assert chosen(per_round_ms=1.01 * fitting_ms).users == ("b",)
    assert chosen(per_round_ms=BUDGET_MS / 20).users == ("b", "c", "d")
    # Every third round makes 4, 1 and 2 of them.
    assert chosen(per_round_ms=fitting_ms, every=3).users == ("b", "c", "d")


def test_one_is_attacked_however_long_it_takes():
    assert chosen(per_round_ms=1e9).users == ("b",)
    assert chosen({"a": 1, "b": 2}, per_round_ms=1e9).users == ("a",)


def test_who_is_named_is_attacked():
    assert chosen(target=("e", "b")).users == ("e", "b")


def test_what_is_said_of_whom():
    some, names = chosen(targets=2), ("no. 1", "no. 2")
    assert some.about(names) == "2 of 5 users (no. 1, no. 2)"
    assert list(some.remarks()) == [
        "Not attacked: 1 user with at least 3 rounds; --targets all attacks all of them, at 1.3 "
        "times the work.",
        "Not attacked: 2 users with fewer than 3 rounds.",
    ]
    everybody = Targets(("a", "b"), {"a": 9, "b": 9})
    assert (everybody.about(("a", "b")), list(everybody.remarks())) == ("all 2 users", [])
    assert Targets(("a",), {"a": 9}).about(("a",)) == "the only user, a"


def test_targets_with_too_few_rounds_are_said_to_have_them():
    (left_out, others, few) = chosen(target=("a", "b")).remarks()
    assert left_out.startswith("Not attacked: 2 users with at least 3 rounds")
    assert others == "Not attacked: 1 user with fewer than 3 rounds."
    assert few.startswith("Fewer than 3 rounds are known of 1 of 2 targets: ")


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"target": ("z",)}, "user 'z' has no measurement in cell x1; choose one of: a, b, c, d"),
        ({"targets": 6}, "targets must be at most 5, the users of cell x1, got 6"),
    ],
)
def test_a_mistake_is_one_line(question, message):
    with pytest.raises(UserError, match=message):
        chosen(**question)
