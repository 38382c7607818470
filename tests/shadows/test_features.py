from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint

import numpy as np
import pytest

from tests.shadows.making import AREA, NETWORK, SUMS, header_of, person, scene_of, seen_of
from veilmap.attacks.attack import AttackInput
from veilmap.attacks.person import Person
from veilmap.errors import UserError
from veilmap.local_data import LocalData
from veilmap.shadows.features import FEATURES, measured, readers
from veilmap.shadows.training import candidates_of

CANDIDATES_M = candidates_of(scene_of())


@dataclass(frozen=True)
class Distance:
    """How far the candidate is from the middle; for runs with the defence away."""

    name = "distance"

    def reads(self, header):
        return any(text.startswith("away") for text in header.side_knowledge.defence)

    def of(self, given, candidates_m):
        return np.hypot(*(candidates_m - AREA.centre_m).T)[:, None]


class NoRows(Distance):
    def of(self, given, candidates_m):
        return np.zeros((3, 1))


@pytest.fixture
def registered(monkeypatch):
    point = EntryPoint("distance", "tests.shadows.test_features:Distance", "veilmap.features")
    names = (*FEATURES.own, "distance")
    monkeypatch.setattr(type(FEATURES), "names", property(lambda self: names))
    found = {**FEATURES.own, "distance": point.load()}
    monkeypatch.setattr(type(FEATURES), "class_of", lambda self, name: found[name])


def names(header):
    return [each.name for each in readers(header)]


def test_each_map_family_has_features_of_its_own():
    assert names(header_of(SUMS)) == ["visits", "holes"]
    assert names(header_of(NETWORK)) == ["clouds"]


def test_a_defence_can_bring_its_own_which_are_added_to_those_of_the_family(registered):
    plain = header_of(SUMS)
    known = replace(plain.side_knowledge, defence=("away:radius_m=150",))
    assert names(replace(plain, side_knowledge=known)) == ["visits", "holes", "distance"]
    assert names(plain) == ["visits", "holes"]


def test_features_without_one_row_per_candidate_are_refused():
    given = seen_of(scene_of(), person(1))
    with pytest.raises(UserError, match=r"features distance must be one row for each of .* got"):
        measured([NoRows()], given, CANDIDATES_M)


@pytest.mark.parametrize("rounds", [1, 4])
def test_every_input_has_the_same_columns(rounds):
    features, scene = readers(header_of(SUMS)), scene_of()
    one = measured(features, seen_of(scene, person(1, rounds)), CANDIDATES_M)
    nothing = AttackInput(scene.header, seen_of(scene, person(1)).observations[:0])
    empty = measured(features, nothing, CANDIDATES_M)
    assert one.shape == empty.shape
    assert one.dtype == np.float32


def test_visits_moved_by_whole_squares_move_the_features_by_as_many():
    who, scene = person(2, points=30), scene_of()
    kept = {
        t: data.take(np.flatnonzero((np.abs(data.xy_m - AREA.centre_m) < 250).all(axis=1)))
        for t, data in who.rounds.items()
    }
    moved = {t: LocalData(np.add(d.xy_m, (100, 50)), d.rsrp_dbm, d.time_s) for t, d in kept.items()}
    features = readers(scene.header)[:1]
    columns = 21  # of 20 m squares
    one, two = (
        measured(features, seen_of(scene, Person("a", who.home_m, rounds)), CANDIDATES_M)
        for rounds in (kept, moved)
    )
    grid = (17, columns, -1)
    here, there = one.reshape(grid), two.reshape(grid)
    np.testing.assert_allclose(there[6:12, 8:14], here[5:11, 6:12], rtol=2e-3, atol=5e-3)


def test_updates_are_measured_by_the_clouds_of_the_cheap_attacks():
    """The candidate at the place where everything was measured is nearest to the clouds."""
    state = {"weights": NETWORK.initialise(0)}
    scene = scene_of(NETWORK, states=(state,), knows_density=False, rounds=1)
    place_m = np.array([700.0, 300.0])
    data = LocalData(np.tile(place_m, (40, 1)), np.full(40, -80.0), np.arange(40.0))
    given = seen_of(scene, Person("a", place_m, {1: data}))
    candidates_m = np.vstack([place_m, AREA.corners_m])
    found = measured(readers(scene.header), given, candidates_m)
    assert np.isfinite(found).all()
    nearest = found[:, [4, 8]].argmin(axis=0)
    assert nearest.tolist() == [0, 0]
    # Of all points' gradients that of the place itself is most like the one that leaked.
    assert found[:, -2].argmax() == 0
