import numpy as np

from tests.shadows.making import Away, people, scene_of, seen_of
from veilmap.shadows.examples import examples
from veilmap.shadows.features import readers
from veilmap.shadows.home_model import fitted
from veilmap.shadows.training import candidates_of

SCENE = scene_of(knows_density=False)
CANDIDATES_M = candidates_of(SCENE)
FEATURES = readers(SCENE.header)


def learned_from(who, homes_m=None, scene=SCENE):
    seen = list(examples(scene, who, 0, lambda count: None))
    return fitted(FEATURES, CANDIDATES_M, homes_m, seen, 0, lambda count: None)


def test_chances_of_all_candidates_add_up_to_one_home_though_few_were_learned_from():
    """Behind a defence that leaves home open; on 50 m squares one candidate is home."""
    hidden = scene_of(steps=(Away(),), knows_density=False)
    model = learned_from(people(60, first=100), scene=hidden)
    total = [model.chances(seen_of(hidden, each)).sum() for each in people(20)]
    assert 0.7 < np.mean(total) < 1.4


def test_where_people_live_is_learned_without_the_person_learned_from():
    who = people(30, first=100)
    homes_m = np.array([each.home_m for each in who])
    model = learned_from(who, homes_m)
    given = seen_of(SCENE, who[0])
    assert (model.chances(given) != model.chances(given, leave_out=(0,))).any()
    assert model.homes_m is homes_m
