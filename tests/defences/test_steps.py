from veilmap.defences.steps import STEPS


def test_every_step_is_found_by_its_own_name():
    assert list(STEPS) == ["diverse", "farthest", "random", "dp", "geoind", "gan"]
    assert all(step.name == name for name, step in STEPS.items())
