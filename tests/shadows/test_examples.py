import numpy as np
import pytest

from tests.shadows.making import NETWORK, people, scene_of
from veilmap.shadows.examples import examples


def made(scene, who):
    return list(examples(scene, who, 0, lambda count: None))


def test_the_density_of_a_shadow_is_that_of_the_others():
    """Of all visits those that are not its own."""
    scene = scene_of()
    family, area = scene.header.map, scene.header.side_knowledge.area
    found = made(scene, people(3))
    own = [family.added(area, [e.message for e in each.given.observations]) for each in found]
    for number, each in enumerate(found):
        others = sum(k["visited"] for i, k in enumerate(own) if i != number)
        squares = np.flatnonzero(others)
        assert np.array_equal(each.given.density.weights, others[squares])
        assert np.array_equal(each.given.density.xy_m, family.grid(area).centres_m(squares))
        assert each.people == (number,)


def test_without_others_or_knowledge_of_them_there_is_no_density():
    states = ({"weights": NETWORK.initialise(0)},)
    unknown = scene_of(NETWORK, states=states, knows_density=False, rounds=1)
    for scene, who in (
        (scene_of(), people(1)),
        (scene_of(knows_density=False), people(2)),
        (unknown, people(2, rounds=1, points=10)),
    ):
        assert [each.given.density for each in made(scene, who)] == [None] * len(who)


def test_of_sums_there_is_one_example_of_all_people():
    (found,) = made(scene_of(is_sum=True), people(4))
    assert found.people == (0, 1, 2, 3)
    assert found.homes_m == pytest.approx(np.array([each.home_m for each in people(4)]))
