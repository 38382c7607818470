"""What every attack is held to."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from tests.attacks.sums.making import OF_SUMS
from tests.attacks.worlds import make_header, silent
from veilmap.attacks.attack import AttackInput, attacked, can_read
from veilmap.attacks.methods import ATTACKS
from veilmap.attacks.reconstruction import Cloud, Reconstruction
from veilmap.errors import UserError
from veilmap.maps.kriging_map import KrigingMap

HEADER = make_header()
SEEN = [silent(HEADER, user=user) for user in "bca"]


@dataclass(frozen=True)
class Returning:
    """Returns whatever it is told to."""

    found: object
    name = "mine"
    oracle = False

    def reads(self, header):
        return True

    def attack(self, given):
        return self.found


@dataclass(frozen=True)
class Saying(Returning):
    """Returns it also when it is asked what it reads."""

    def reads(self, header):
        return self.found


def place(observation, **changed):
    return replace(Reconstruction.of(observation, np.array([1.0, 2.0])), **changed)


def test_several_starts_of_an_update_may_follow_each_other():
    found = [place(SEEN[0]), place(SEEN[0], start=1), place(SEEN[1]), place(SEEN[2])]
    assert attacked(Returning(found), "mine", AttackInput(HEADER, SEEN)) is found


def test_an_attack_cannot_write_into_what_the_next_one_reads():
    @dataclass(frozen=True)
    class Writing(Returning):
        def attack(self, given):
            given.observations[0].message["weights"] *= 2
            return self.found

    before = SEEN[0].weights_after.copy()
    with pytest.raises(ValueError, match="read-only"):
        attacked(Writing([]), "mine", AttackInput(HEADER, SEEN))
    assert (SEEN[0].weights_after == before).all()


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (None, "a list of Reconstruction, got None"),
        ([[1.0, 2.0]] * 3, r"a list of Reconstruction, got \[1.0, 2.0\] in it"),
        *(
            ([place(each, **wrong) for each in SEEN], message)
            for wrong, message in (
                ({"xy_m": None}, "a location .* for each update, got xy_m None"),
                ({"xy_m": [1.0, 2.0]}, r"a location .*, an array, for each .* xy_m \[1.0, 2.0\]"),
                ({"xy_m": np.zeros(3)}, "a location .* for each update, got xy_m array"),
                ({"cloud": None}, "a Cloud of arrays for each update, got cloud None"),
                ({"cloud": Cloud([[1.0, 2.0]], [1.0])}, "a Cloud of arrays .*, got cloud Cloud"),
                ({"cloud": Cloud(np.zeros((0, 2)), np.zeros(0))}, "clouds with weight at one pl"),
                ({"cloud": Cloud(np.zeros((1, 2)), np.zeros(1))}, "clouds with weight at one pl"),
                ({"outcome": "done"}, "an Outcome for each update, got outcome 'done'"),
                ({"seconds": None}, "a finite number as seconds .*, got seconds None"),
                ({"seconds": np.nan}, "a finite number as seconds .*, got seconds nan"),
                ({"iterations": "many"}, "a finite number as iterations .* 'many'"),
                ({"cosine": None}, "a number as cosine for each update, got cosine None"),
                ({"path_m": [(1.0, 2.0)]}, "an array of locations as path_m"),
            )
        ),
        (
            [place(each, cloud=Cloud(np.zeros((2, 2)), np.array([0.5, -0.5]))) for each in SEEN],
            "usable clouds: the weights of cloud 1 of 3 must be finite and none negative",
        ),
        (
            [place(each) for each in SEEN[:2]],
            "for each of 3 updates, in order; got 2 for 2 updates",
        ),
        ([place(each) for each in SEEN[::-1]], "for each of 3 updates, in order"),
    ],
)
def test_a_wrong_result_names_the_attack(found, message):
    with pytest.raises(UserError, match=f"attack mine must return .*{message}"):
        attacked(Returning(found), "mine", AttackInput(HEADER, SEEN))


@pytest.mark.parametrize("said", [None, np.zeros(2), "yes"])
def test_an_attack_that_says_neither_yes_nor_no_is_named(said):
    with pytest.raises(UserError, match="reads of attack mine must return True or False, got"):
        can_read(Saying(said), "mine", HEADER)
    assert can_read(Saying(np.True_), "mine", HEADER)


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_of_ours_is_known_by_its_own_name_and_needs_no_settings(name):
    made = ATTACKS[name]()
    assert made.name == name
    assert made.oracle == (name == "differencing")
    assert made.reads(HEADER) == (name not in OF_SUMS)
    assert made.reads(replace(HEADER, map=KrigingMap())) == (name in OF_SUMS)
