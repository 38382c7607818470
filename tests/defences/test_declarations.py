from dataclasses import dataclass, replace

import numpy as np
import pytest

from tests.defences.fakes import Average, East, First, Twice, turn
from tests.defences.making import on_a_line
from veilmap.defences.combinations import combination_faults, cumulative_faults
from veilmap.defences.declarations import declaration_faults, is_selection, looks_at, moves
from veilmap.defences.defence import Defence
from veilmap.defences.diverse import DiverseBatch
from veilmap.defences.dp import DifferentialPrivacy
from veilmap.defences.geoind import GeoIndistinguishability
from veilmap.defences.random_points import RandomPoints
from veilmap.defences.steps import STEPS
from veilmap.errors import UserError
from veilmap.federation.update_validation import usual_norm
from veilmap.model.network import Network
from veilmap.study.step_notation import step_of


class Declaring(First):
    """With what a test declares."""


def declaring(**attributes):
    return type("Declaring", (Declaring,), attributes)()


def messages_of(faults):
    return [str(fault) for fault in faults]


def test_of_a_step_that_says_nothing_the_worst_is_assumed():
    assert (looks_at(East()), moves(East())) == ("positions", "at random")
    assert (looks_at(Average()), moves(Average())) == ("positions", "at random")
    assert (looks_at(Twice()), moves(Twice())) == ("nothing", "nothing")
    (fault,) = messages_of(combination_faults([East(), GeoIndistinguishability()]))
    assert "east looks at the true positions" in fault
    (fault,) = messages_of(cumulative_faults([East()]))
    assert "or declare what it moves" in fault


def test_what_a_step_declares_is_believed():
    harmless = declaring(looks_at="nothing", moves="nothing")
    assert not messages_of(combination_faults([harmless, GeoIndistinguishability()]))
    assert not messages_of(cumulative_faults([harmless]))


def test_a_foreign_budget_for_positions_covers_like_ours():
    spending = declaring(spent=lambda self, turns: {})
    (fault,) = messages_of(combination_faults([DiverseBatch(), spending]))
    assert "the budget of first then does not cover" in fault


def test_the_control_stands_in_place_of_foreign_selections_too():
    choosing = declaring(moves="nothing")
    (fault,) = messages_of(combination_faults([RandomPoints(num=5), choosing]))
    assert "random is the control that stands in place of first" in fault
    assert not messages_of(combination_faults([RandomPoints(num=5), East()]))


@pytest.mark.parametrize("name", ["diverse", "farthest", "random:num=5", "random:eps_m=5", "geoind",
    "gan", "gan:learns_from=public", "dp:epsilon=1", "diverse:centre=mean"])  # fmt: skip
def test_our_own_steps_declare_what_is_allowed(name):
    assert messages_of(declaration_faults(step_of(name))) == []


def test_what_our_steps_declare():
    steps = [step_of(text) for text in ("diverse", "diverse:centre=mean", "random:num=5", "gan")]
    assert [moves(step) for step in steps] == ["nothing", "by rule", "nothing", "at random"]
    assert [name for name in STEPS if name != "random" and is_selection(_usual(name))] == [
        "diverse",
        "farthest",
    ]


def _usual(name):
    return step_of({"dp": "dp:epsilon=1"}.get(name, name))


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"fixed_size": 0}, "fixed_size of defence first must be at least 1, or None, got 0"),
        ({"looks_at": "labels"}, "unknown looks_at of defence first 'labels'; choose one of: noth"),
        ({"moves": False}, "unknown moves of defence first False; choose one of: nothing, by rule"),
        ({"control": "yes"}, "unknown control of defence first 'yes'; choose one of: True, False"),
        ({"on_update": lambda *_: None}, "got on_points and on_update; split it"),
        ({"sigma": -1.0}, "sigma of defence first must be a finite number of at least 0, got -1.0"),
        ({"mu": np.inf}, "mu of defence first must be a finite number"),
    ],
)
def test_a_declaration_that_cannot_be_is_refused(attributes, message):
    (fault,) = messages_of(declaration_faults(declaring(**attributes)))
    assert message in fault


def test_a_step_on_the_update_cannot_look_at_points():
    twice = type("Looking", (Twice,), {"looks_at": "positions"})()
    (fault,) = messages_of(declaration_faults(twice))
    assert "defence twice acts on the update and never has the points" in fault


def test_a_step_that_learns_says_from_what():
    assert messages_of(declaration_faults(Average("past"))) == []
    (fault,) = messages_of(declaration_faults(Average("hearsay")))
    assert "unknown learns_from of defence average 'hearsay'; choose one of: past, public" in fault


def test_an_object_that_does_nothing_is_no_step():
    nothing = type("Nothing", (), {"name": "nothing"})()
    (fault,) = messages_of(declaration_faults(nothing))
    assert "must have one of on_points, on_update, learn, got none of them" in fault


def test_a_step_that_moves_against_its_word_is_refused():
    still = type("Still", (East,), {"moves": "nothing"})()
    with pytest.raises(
        UserError, match="east declares that it moves nothing, and on_points return"
    ):
        Defence((still,)).local_batch(on_a_line(0, 30), turn())
    batch, _, _ = Defence((East(),)).local_batch(on_a_line(0, 30), turn())
    assert len(batch) == 2


@dataclass(frozen=True)
class Returning:
    """Returns what a test gives it."""

    given: object = None
    name = "returning"

    def on_points(self, batch, turn):
        return self.given


@pytest.mark.parametrize("given", [None, on_a_line(1), (1, {}), (on_a_line(1), 3),
    (on_a_line(1), {"a": "b"}), (on_a_line(1), {1: 2})])  # fmt: skip
def test_points_come_back_with_figures(given):
    with pytest.raises(UserError, match=r"on_points of defence returning must return \(LocalData"):
        Defence((Returning(given),)).local_batch(on_a_line(0), turn())


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"xy_m": np.zeros((2, 1))}, r"got xy_m of shape \(2, 1\) for 2 points"),
        ({"xy_m": np.zeros((3, 2))}, r"got xy_m of shape \(3, 2\) for 2 points"),
        ({"xy_m": [[0.0, 0.0], [1.0, 0.0]]}, r"got xy_m = \[\[0.0, 0.0\]"),
        ({"xy_m": np.full((2, 2), np.nan)}, r"got xy_m = array\(\[\[nan"),
        ({"time_s": np.array(["a", "b"])}, "got time_s = array"),
    ],
)
def test_points_come_back_as_finite_numbers(changed, message):
    after = replace(on_a_line(0, 1), **changed)
    with pytest.raises(UserError, match=f"finite numbers in arrays, .*{message}.*; fix it there"):
        Defence((Returning((after, {})),)).local_batch(on_a_line(0, 1), turn())


@dataclass(frozen=True)
class InPlace:
    """Writes into what it is given."""

    kind: str
    learns_from = "past"

    @property
    def name(self):
        return self.kind

    def __getattr__(self, name):
        if name == self.kind:
            return {"on_points": self._points, "on_update": self._update, "learn": self._learn}[
                name
            ]
        raise AttributeError(name)

    def _points(self, batch, turn):
        batch.xy_m[:] += 1
        return batch, {}

    def _update(self, update, turn):
        update *= 2
        return update, {}

    def _learn(self, people, turn):
        people[turn.user].rsrp_dbm[:] = 0
        return First(), {}


@pytest.mark.parametrize("kind", ["on_points", "on_update", "learn"])
def test_a_step_cannot_write_into_what_it_is_given(kind):
    defence, data, update = Defence((InPlace(kind),)), on_a_line(0, 1), np.ones(2)

    def act():
        defence.local_batch(data, turn())
        defence.update(update, 2, turn())

    with pytest.raises(ValueError, match="read-only"):
        act()
    assert data.xy_m.tolist() == on_a_line(0, 1).xy_m.tolist()
    assert update.tolist() == [1, 1]


@pytest.mark.parametrize("given", [None, np.ones(2), (np.ones(3), {}), ([1.0, 1.0], {}),
    (np.ones(2) * 1j, {}), (np.array(["a", "b"]), {})])  # fmt: skip
def test_an_update_comes_back_in_its_shape(given):
    step = type("Sending", (Twice,), {"on_update": lambda *_: given})()
    with pytest.raises(UserError, match=r"on_update of defence twice must .* shape \(2,\)"):
        Defence((step,)).update(np.ones(2, np.float32), 1, turn())


def test_an_update_comes_back_in_its_precision():
    step = type("Fine", (Twice,), {"on_update": lambda *_: (np.ones(2), {})})()
    sent, _ = Defence((step,)).update(np.ones(2, np.float32), 1, turn())
    assert sent.dtype == np.float32


def test_what_was_learned_acts_on_points():
    step = type("Idle", (Average,), {"learn": lambda *_: (3, {})})()
    with pytest.raises(UserError, match="learn of defence average must return"):
        Defence((step,)).local_batch(on_a_line(0), turn())


def test_noise_of_any_step_lengthens_the_usual_norm():
    network = Network()
    noisy = type("Noisy", (Twice,), {"sigma": 0.5})()
    ours = DifferentialPrivacy(epsilon=1.0)
    plain_norm = usual_norm(network, [First()])
    assert usual_norm(network, [noisy]) == plain_norm + 2 * 0.5 * np.sqrt(network.size)
    assert usual_norm(network, [ours]) == plain_norm + 2 * ours.sigma * np.sqrt(network.size)
