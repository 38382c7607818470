from veilmap.report.strength import strengths


def test_a_family_is_distinguished_by_the_settings_that_differ():
    family = [f"fedavg + farthest:eps_m=50,num={num}" for num in (1, 20)]
    assert strengths(family) == ["num 1", "num 20"]


def test_a_lone_configuration_tells_the_settings_of_its_steps():
    assert strengths(["fedavg:learning_rate=1e-4 + diverse:eps_m=5 + dp:epsilon=1"]) == [
        "eps 5 m, ε 1"
    ]
    assert strengths(["fedavg"]) == [""]


def test_schemes_of_other_rates_are_distinguished():
    assert strengths(["fedavg", "fedavg:learning_rate=1e-5"]) == ["", "η 1e-5"]


def test_the_scheme_of_a_map_is_no_step():
    assert strengths(["rings:width_m=25 + fedavg:learning_rate=1e-4 + dp:epsilon=1"]) == ["ε 1"]


def test_a_setting_without_a_symbol_keeps_its_name():
    assert strengths(["fedavg + geoind:epsilon_per_m=0.01,remap=false"]) == [
        "ε 0.01/m, remap false"
    ]
