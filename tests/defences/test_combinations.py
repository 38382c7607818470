import pytest

from veilmap.defences.combinations import combination_faults, cumulative_faults
from veilmap.defences.defence import Defence
from veilmap.defences.diverse import DiverseBatch
from veilmap.defences.dp import DifferentialPrivacy
from veilmap.errors import UserError
from veilmap.study.settings import RunSettings
from veilmap.study.step_notation import step_of


def faults(*texts):
    return [str(fault) for fault in combination_faults([step_of(text) for text in texts])]


@pytest.mark.parametrize(
    "texts",
    [
        ("farthest", "dp:epsilon=100"),
        ("geoind", "diverse"),
        ("random:num=5", "geoind"),
        ("geoind", "gan", "farthest"),
        ("gan", "farthest", "dp:true_epsilon=8"),
        ("diverse:eps_m=5", "farthest:eps_m=50"),
        ("geoind", "random:eps_m=5", "dp:epsilon=1"),
    ],
)
def test_what_makes_sense_is_allowed(texts):
    assert faults(*texts) == []


def test_a_step_on_the_update_comes_last():
    (fault,) = faults("dp:epsilon=1", "diverse")
    assert "write dp last" in fault


@pytest.mark.parametrize("selection", ["diverse", "farthest"])
def test_the_control_stands_alone(selection):
    (fault,) = faults("random:eps_m=5", selection)
    assert f"in place of {selection}" in fault


def test_a_step_twice_is_refused_once():
    (fault,) = faults("diverse:eps_m=0.1", "diverse:eps_m=0.2")
    assert "diverse 2 times" in fault


@pytest.mark.parametrize("seeing", ["diverse", "farthest", "random:eps_m=5", "gan"])
def test_nothing_may_look_at_true_positions_before_geoind(seeing):
    name = seeing.partition(":")[0]
    (fault,) = faults(seeing, "geoind")
    assert f"{name} looks at the true positions" in fault
    assert "write geoind first" in fault
    assert any(name in fault for fault in faults(seeing, "random:num=5", "geoind"))


def test_a_run_refuses_them_too():
    with pytest.raises(UserError, match="write dp last"):
        Defence((DifferentialPrivacy(epsilon=1.0), DiverseBatch()))
    with pytest.raises(UserError, match="write dp last"):
        RunSettings.of(map="network", defence=("dp:epsilon=1", "diverse"))
    with pytest.raises(UserError, match="move the points of earlier rounds again"):
        RunSettings.of(map="network", defence=("geoind",), cumulative=True)


def test_old_points_must_not_be_moved_again_and_again():
    steps = [step_of(text) for text in ("geoind", "diverse", "gan", "dp:epsilon=1")]
    assert [str(fault).split()[4] for fault in cumulative_faults(steps)] == ["geoind", "gan"]
