from dataclasses import dataclass, replace

import numpy as np
import pytest

from tests.attacks.sums.making import heaviest_m
from tests.shadows.making import AREA, NETWORK, Away, people, person, scene_of, seen_of
from veilmap.attacks.attack import AttackInput, attacked
from veilmap.attacks.secure_sum import SUM
from veilmap.attacks.sums.frequency import Frequency
from veilmap.errors import UserError
from veilmap.shadows import learned
from veilmap.shadows.answers import all_answers, summed
from veilmap.shadows.learned import Learned
from veilmap.shadows.training import train_attacker

OTHERS = people(60, first=100)


def given_of(scene, who, others=OTHERS):
    return replace(seen_of(scene, who), people=others)


def guesses_m(attack, scene, targets):
    found = [attacked(attack, attack.name, given_of(scene, who)) for who in targets]
    return np.array([heaviest_m(each) for each in found])


def away_m(attack, scene, targets):
    homes_m = np.array([who.home_m for who in targets])
    return np.hypot(*(guesses_m(attack, scene, targets) - homes_m).T)


def test_it_learns_where_home_is_from_other_people():
    errors_m = away_m(Learned(60, "others"), scene_of(), people(12))
    assert np.median(errors_m) < 30
    assert (errors_m <= 50).mean() > 0.8


def test_it_learns_through_a_defence_that_nobody_told_it_about():
    """Without the points around home the most visited squares are those of work.

    A network of streets would say more; that home lies at the other end of straight ways is enough
    to be nearer than the most visited squares.
    """
    scene, targets = scene_of(steps=(Away(),)), people(12)
    through = away_m(Learned(60, "others"), scene, targets)
    naive = away_m(Frequency(), scene, targets)
    assert np.median(through) < 0.6 * np.median(naive)


def test_every_message_has_the_same_map_and_shares_sum_to_one():
    found = Learned(60, "others").attack(given_of(scene_of(), person(1)))
    assert [each.round for each in found] == [1, 2, 3, 4]
    assert all(each.cloud is found[0].cloud for each in found)
    assert found[0].cloud.weights.sum() == pytest.approx(1)
    assert (
        Learned(60, "others").attack(replace(given_of(scene_of(), person(1)), observations=[]))
        == []
    )


def test_the_same_seed_gives_the_same_bits():
    one = Learned(20, "others").attack(given_of(scene_of(), person(1)))
    learned._trained.cache_clear()
    same = Learned(20, "others").attack(given_of(scene_of(), person(1)))
    other = Learned(20, "others", seed=1).attack(given_of(scene_of(), person(1)))
    assert np.array_equal(one[0].cloud.weights, same[0].cloud.weights)
    assert one[0].cloud.weights.tolist() != other[0].cloud.weights.tolist()


def test_it_is_trained_once_for_all_targets_of_a_run_and_again_for_another_defence():
    learned._trained.cache_clear()
    for scene in (scene_of(), scene_of(), scene_of(steps=(Away(),))):
        for rounds in (3, 4):
            Learned(20, "others").attack(given_of(scene, person(rounds, rounds)))
    assert learned._trained.cache_info().misses == 2
    # Other people under the same names are other people.
    same_names = tuple(replace(each, home_m=each.home_m + 1) for each in OTHERS)
    Learned(20, "others").attack(given_of(scene_of(), person(1), same_names))
    assert learned._trained.cache_info().misses == 3


def test_it_reads_updates_of_networks_from_the_states_that_the_server_had():
    states = tuple({"weights": NETWORK.initialise(seed)} for seed in (0, 1))
    scene = scene_of(NETWORK, states=states, knows_density=False, rounds=2)
    others = people(20, first=100, rounds=2, points=20)
    (first, *_), who = (
        Learned(20, "others").attack(given_of(scene, person(1, rounds=2, points=20), others)),
        person(1),
    )
    assert AREA.contains(first.xy_m)
    assert np.isfinite(first.cloud.weights).all()
    assert who.user == "p1"


def test_of_sums_it_learns_from_the_sum_of_all_shadows():
    scene = scene_of()
    targets = people(30)
    total = summed(scene, list(all_answers(scene, targets, 0, lambda count: None)))
    given = AttackInput(scene.header, total, people=OTHERS)
    found = Learned(60, "others").attack(given)
    assert {each.user for each in found} == {SUM}
    trained = Learned(60, "others").trained(given)
    assert trained.calibration is None
    # A sum of thirty names no one: the map is as wide as homes are.
    assert np.hypot(*found[0].cloud.xy_m.std(axis=0)) > 200


def test_a_fifth_is_set_aside_and_says_how_good_the_maps_are():
    checked = Learned(60, "others").trained(given_of(scene_of(), person(1)))
    assert checked.calibration.people == 12
    assert [each.within_m for each in checked.limits] == [50.0, 100.0, 200.0]
    assert checked.limits[0].learned == pytest.approx(checked.calibration.hit[0])


def test_it_tells_how_far_the_training_is():
    learned._trained.cache_clear()
    said, given = [], given_of(scene_of(), person(1), people(20, first=100))
    Learned(20, "others").attack(replace(given, on_training=lambda *how_far: said.append(how_far)))
    assert said[0] == (1, 40)
    assert said[-1] == (40, 40)
    assert [done for done, _ in said] == sorted(done for done, _ in said)


def test_simulated_people_are_public_and_others_are_not():
    assert not Learned().oracle
    assert not Learned().reads_people
    assert Learned(source="others").oracle
    assert Learned(source="others").oracle_text == "what the other users measured, for learned"


@dataclass(frozen=True)
class Unread:
    """A map whose messages nothing reads."""

    name = "unread"


def test_too_few_people_and_maps_without_features_are_refused():
    with pytest.raises(
        UserError, match=r"learned needs 20 people to learn from and got .* 5; give"
    ):
        train_attacker(scene_of(), people(5), 0, knows_homes=True)
    with pytest.raises(UserError, match="no features read messages of the map unread; register"):
        train_attacker(scene_of(Unread()), people(5), 0, knows_homes=True)
    with pytest.raises(UserError, match="the run's other users and got none with a home; give"):
        Learned(source="others").attack(given_of(scene_of(), person(1), ()))
    assert not Learned().reads(scene_of(Unread()).header)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"people": 5}, "people must be a whole number of at least 20, got 5"),
        ({"source": "moon"}, "unknown source 'moon'; choose one of: campus, others"),
        ({"seed": -1}, "seed must be a whole number of at least 0, got -1"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(UserError, match=message):
        Learned(**settings)
