import pytest

from tests.map_quality.making import summary
from veilmap.map_quality.narrative import narrative
from veilmap.map_quality.noise_floor import NoiseFloor

CONSTANT = summary(rmse_by_place_db=10.0)
LINEAR = summary("linear", "central", rmse_by_place_db=9.9, skill_by_place=0.02, share_of_best=0.1)
FOREST = summary(
    "random_forest", "central", rmse_by_place_db=5.0, skill_by_place=0.75, share_of_best=1.0
)


def federated(rmse_db, skill, share=None):
    return summary(
        "network", "federated", rmse_by_place_db=rmse_db, skill_by_place=skill, share_of_best=share
    )


def floor(by_place_db):
    return NoiseFloor(by_place_db, by_place_db, 100, 0.5)


def words(*summaries, floor=None):
    return " ".join(narrative(summaries, floor))


def test_the_best_centralised_map_is_named_with_its_skill():
    found = words(CONSTANT, LINEAR, FOREST)
    assert found == "The best centralised map is random forest, with a skill by place of 0.75."


@pytest.mark.parametrize(
    ("floor_db", "means"),
    [(4.9, "expect no better map"), (5.4, "expect no better map"), (3.0, "more places would help")],
)
def test_the_noise_floor_says_whether_a_better_map_is_to_be_expected(floor_db, means):
    assert means in words(CONSTANT, FOREST, floor=floor(floor_db))


@pytest.mark.parametrize(
    ("map_", "means"),
    [
        (
            federated(9.8, 0.04, 0.05),
            "federated network is no better than the constant, and random",
        ),
        (
            federated(17.0, -1.9, -2.5),
            "is no better than the constant, and random forest is:",
        ),
        (federated(7.0, 0.51, 0.68), "federated network reaches 68% of that skill: smaller"),
        (federated(5.1, 0.74, 0.99), "as good as the best centralised map (99% of its skill)."),
        (federated(4.0, 0.84, 1.12), "as good as the best centralised map (112% of its skill)."),
    ],
)
def test_a_federated_map_stands_beside_the_constant_and_the_best(map_, means):
    assert means in words(CONSTANT, LINEAR, FOREST, map_)


def test_beside_a_better_federated_map_others_are_compared_with_it():
    other = summary(
        "kriging", "federated", rmse_by_place_db=5.2, skill_by_place=0.73, share_of_best=0.97
    )
    found = words(CONSTANT, FOREST, federated(17.0, -1.9, -2.5), other)
    assert "network is no better than the constant; federated kriging has 0.73." in found
    assert "The federated kriging is as good as the best centralised map (97%" in found
    found = words(CONSTANT, FOREST, federated(7.0, 0.51, 0.68), other)
    assert "The federated network has a skill by place of 0.51; federated kriging has" in found


def test_where_no_predictor_beats_the_constant_the_data_are_to_blame():
    found = words(CONSTANT, LINEAR, federated(11.0, -0.2), floor=floor(9.0))
    assert found.startswith("No centralised predictor is better than the constant")
    assert "Measure at more places" in found
    assert found.endswith("The federated network is no better than the constant either.")
    assert words(CONSTANT, LINEAR, federated(5.0, 0.75)).endswith("better than the constant.")
