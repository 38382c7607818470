import pytest

from veilmap.defences.combinations import combination_faults, cumulative_faults
from veilmap.study.notation import step_of


def faults(*texts):
    return [str(fault) for fault in combination_faults([step_of(text) for text in texts])]


@pytest.mark.parametrize(
    "texts",
    [
        ("farthest", "dp:epsilon=100"),
        ("geoind", "diverse"),
        ("diverse", "geoind"),
        ("gan", "farthest", "dp:true_epsilon=8"),
        ("diverse:eps_m=5", "farthest:eps_m=50"),
        ("geoind", "random:num=5", "dp:epsilon=1"),
    ],
)
def test_what_makes_sense_is_allowed(texts):
    assert faults(*texts) == []


def test_a_step_on_the_update_comes_last():
    (fault,) = faults("dp:epsilon=1", "diverse")
    assert "write dp last" in fault


def test_the_control_stands_alone():
    (fault,) = faults("random:eps_m=5", "farthest")
    assert "in place of farthest" in fault


def test_a_step_twice_is_refused_once():
    (fault,) = faults("geoind:epsilon_per_m=0.1", "geoind:epsilon_per_m=0.2")
    assert "geoind 2 times" in fault


def test_old_points_must_not_be_moved_again_and_again():
    steps = [step_of(text) for text in ("geoind", "diverse", "gan", "dp:epsilon=1")]
    assert [str(fault).split()[4] for fault in cumulative_faults(steps)] == ["geoind", "gan"]
