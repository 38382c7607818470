"""What a map of one's own returns is checked where it is returned."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from tests.federation.test_federation import USERS, make_plan, make_rounds
from tests.maps.making import Mean
from veilmap.errors import UserError
from veilmap.federation import verbs
from veilmap.federation.evaluation import Evaluation
from veilmap.federation.map_family import Prediction
from veilmap.federation.plan import Plan
from veilmap.federation.server import federate

AS_IT_IS = object()


@dataclass(frozen=True)
class Returning(Mean):
    """The mean, with one verb that returns something else."""

    verb: str = ""
    value: Any = field(default=AS_IT_IS)

    def _of(self, verb, value):
        return self.value if self.verb == verb else value

    def start(self, plan):
        return self._of("start", super().start(plan))

    def answer(self, plan, state, batch, user, t):
        return self._of("answer", super().answer(plan, state, batch, user, t))

    def combine(self, plan, state, messages, senders):
        return self._of("combine", super().combine(plan, state, messages, senders))

    def predict(self, footing, state, xy_m):
        return self._of("predict", super().predict(footing, state, xy_m))


def train_and_evaluate(family):
    plan = Plan(**{**vars(make_plan()), "map": family})
    (*_, last) = federate(plan, make_rounds(), USERS)
    return Evaluation(plan, make_rounds()[0].data["a"]).rmse_db(last.state)


def column(*shape):
    return np.zeros(shape)


WRONG_ARRAYS = [
    (None, "arrays by name, got None"),
    ([column(1)], r"arrays by name, got \[array\(\[0.\]\)\]"),
    ({"sum": [0.0]}, r"arrays by name, got \[0.0\] as 'sum'"),
    ({3: column(1)}, r"arrays by name, got array\(\[0.\]\) as 3"),
    ({"sum": np.array(["a"])}, "real numbers, got <U1 in the array sum"),
    ({"sum": column(1) * 1j}, "real numbers, got complex128 in the array sum"),
    ({"sum": np.zeros(1, np.longdouble)}, "real numbers, got float128 in the array sum"),
]


@pytest.mark.parametrize("verb", ["start", "answer", "combine"])
@pytest.mark.parametrize(("value", "message"), WRONG_ARRAYS)
def test_states_and_messages_are_arrays_by_name(verb, value, message):
    with pytest.raises(UserError, match=f"{verb} of map mean must return {message}; fix it there"):
        train_and_evaluate(Returning(verb, value))


@pytest.mark.parametrize("verb", ["start", "combine"])
def test_a_state_is_finite(verb):
    with pytest.raises(UserError, match=f"{verb} of map mean must return finite numbers, such as"):
        train_and_evaluate(Returning(verb, {"sum": column(1), "count": column(1) * np.nan}))


@pytest.mark.parametrize("verb", ["start", "combine"])
def test_a_state_has_the_layout_of_files(verb):
    given = np.arange(6.0).reshape(2, 3)

    @dataclass(frozen=True)
    class Transposed(Mean):
        def start(self, plan):
            return {"sum": given.T}

        def answer(self, plan, state, batch, user, t):
            return {"sum": given.T}

        def combine(self, plan, state, messages, senders):
            return {"sum": sum(given.T + sent.n for sent in messages)[::-1]}

    plan = Plan(**{**vars(make_plan()), "map": Transposed()})
    (first, *_) = federate(plan, make_rounds(), USERS)
    for state in (verbs.start(plan), first.state):
        assert state["sum"].shape == (3, 2)
        assert state["sum"].flags.c_contiguous


@pytest.mark.parametrize("what", ["state", "batch", "state of combine", "message", "place"])
def test_a_verb_cannot_write_into_what_it_is_given(what):
    @dataclass(frozen=True)
    class Writing(Mean):
        def answer(self, plan, state, batch, user, t):
            if what == "state":
                state["sum"] += 1
            if what == "batch":
                batch.xy_m[:] += 1
            return super().answer(plan, state, batch, user, t)

        def combine(self, plan, state, messages, senders):
            messages = list(messages)
            if what == "state of combine":
                state["sum"] += 1
            if what == "message":
                messages[0].message["sum"] += 1
            return super().combine(plan, state, messages, senders)

        def predict(self, footing, state, xy_m):
            if what == "place":
                xy_m -= 1
            return super().predict(footing, state, xy_m)

    with pytest.raises(ValueError, match="read-only"):
        train_and_evaluate(Writing())


def test_an_answer_has_an_array():
    with pytest.raises(UserError, match="answer of map mean must return one array at least"):
        train_and_evaluate(Returning("answer", {}))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "a Prediction, got None"),
        (column(53), r"a Prediction, got array"),
        (
            Prediction(column(53, 1)),
            r"rsrp_dbm of shape \(53,\) for 53 places, got shape \(53, 1\)",
        ),
        (Prediction(column(52)), r"rsrp_dbm of shape \(53,\) for 53 places, got shape \(52,\)"),
        (Prediction([0.0] * 53), "an array of real numbers as rsrp_dbm, got"),
        (Prediction(column(53) * 1j), "an array of real numbers as rsrp_dbm, got"),
        (Prediction(column(53), column(1)), r"std_db of shape \(53,\) for 53 places, got shape"),
    ],
)
def test_a_prediction_has_one_number_for_each_place(value, message):
    with pytest.raises(UserError, match=f"predict of map mean must return {message}"):
        train_and_evaluate(Returning("predict", value))


def test_a_combine_that_leaves_messages_is_refused():
    @dataclass(frozen=True)
    class Deaf(Mean):
        def combine(self, plan, state, messages, senders):
            return state

    @dataclass(frozen=True)
    class Hasty(Mean):
        def combine(self, plan, state, messages, senders):
            return next(iter(messages)).message

    for family, left in ((Deaf(), "a"), (Hasty(), "b")):
        with pytest.raises(
            UserError, match=f"must take all messages, and left that of user '{left}'"
        ):
            train_and_evaluate(family)


def test_a_combine_that_counts_its_messages_takes_them_all():
    @dataclass(frozen=True)
    class Counting(Mean):
        def combine(self, plan, state, messages, senders):
            sent = [next(messages) for _ in range(senders)]
            return super().combine(plan, state, iter(sent), senders)

    assert train_and_evaluate(Counting()) == train_and_evaluate(Mean())
