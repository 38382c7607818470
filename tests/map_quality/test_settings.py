import pytest

from tests.maps.making import Mean
from veilmap.errors import UserError
from veilmap.map_quality.settings import MAPS, QualitySettings, Question
from veilmap.maps.network_map import NetworkMap
from veilmap.rounds import Split


def test_by_default_whole_sessions_are_set_aside_for_three_seeds():
    settings = QualitySettings()
    assert "network" in MAPS
    assert settings.quality == Question(MAPS, 3, -110.0)
    assert settings.test.split == "session"
    assert settings.base.test == Split("session")


def test_predictors_are_the_constant_the_central_ones_and_the_federated_maps():
    settings = QualitySettings.of(maps=["network", Mean()], seed=5, seeds=2)
    assert settings.predictors == (
        "constant", "linear", "k_nn", "random_forest", "gradient_boosting", "central_kriging",
        "network", "mean",
    )  # fmt: skip
    assert settings.seeds == (5, 6)
    assert QualitySettings.of(maps=()).predictors[-1] == "central_kriging"


def test_every_map_is_trained_with_the_settings_of_the_run():
    settings = QualitySettings.of(
        maps=("network", "network:hidden=7,activations=relu,dropout=0"), hidden=(5,),
        activations=("tanh",), dropout=(0.0,), epochs=9, defence=("farthest:eps_m=50,num=20",),
    )  # fmt: skip
    plain, other = settings.runs.values()
    assert (plain.model.hidden, other.model.hidden) == ((5,), (7,))
    assert plain.training.epochs == other.training.epochs == 9
    assert plain.protection.texts == other.protection.texts == ("farthest:eps_m=50,num=20",)


def test_a_network_as_an_object_has_layers_of_its_own():
    settings = QualitySettings.of(maps=(NetworkMap((5,), ("tanh",), (0.1,)),))
    assert settings.predictors[-1] == "network"
    assert settings.runs["network"].model.hidden == (5,)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"seeds": 0}, "seeds must be a whole number of at least 1, got 0"),
        ({"threshold_dbm": float("nan")}, "threshold_dbm must be a finite number of dBm, got nan"),
        (
            {"threshold_dbm": float("-inf")},
            "threshold_dbm must be a finite number of dBm, got -inf",
        ),
        ({"split": "weekly"}, "split"),
        ({"block_m": 0}, "block_m must be a number of metres above 0, got 0"),
        ({"maps": ("netwrok",)}, "unknown map 'netwrok'; choose one of: network"),
        ({"maps": ("network", "network")}, "each map must have a name of its own, got network, "),
        ({"map": Mean()}, "quality compares several maps, got map Mean(); name it in --maps"),
    ],
)
def test_wrong_settings_are_refused(given, message):
    with pytest.raises(UserError) as refused:
        QualitySettings.of(**given)
    assert message in str(refused.value)
