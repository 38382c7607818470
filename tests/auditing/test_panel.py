import pytest

from tests.maps.making import Mean, Still
from veilmap import TorchMap
from veilmap.auditing.panel import DEFENCES, panel
from veilmap.auditing.settings import AuditSettings
from veilmap.errors import UserError
from veilmap.maps.network_map import NetworkMap
from veilmap.study.configuration import configure


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"gan": True, "epochs": 1, "batch_size": "inf"},
        {"label_offset_dbm": "mean", "defence": ["diverse"], "batch_size": 32},
        {"cumulative": True, "learning_rate": 1e-3},
        {"configurations": ["fedavg:learning_rate=1e-5 + dp:epsilon=3", "fedsgd + centre"]},
        {"configurations": [NetworkMap((8, 8)), NetworkMap((4, 4)), "fedavg"]},
        {"configurations": [NetworkMap((8, 8)), "fedavg"], "initialisation": "pytorch"},
    ],
)
def test_every_name_stands_for_its_settings(given):
    settings = AuditSettings.of(**given)
    for name, run in panel(settings).items():
        assert configure(settings.run, name) == run


def test_networks_of_other_layers_have_other_names():
    given = [NetworkMap((8, 8)), NetworkMap((4, 4), ("tanh", "relu")), "fedavg", Still()]
    names = list(panel(AuditSettings.of(configurations=given)))
    assert names == [
        "network:hidden=8 8",
        "network:hidden=4 4,activations=tanh relu",
        "fedavg",
        "still",
    ]


def test_the_panel_begins_with_the_settings_as_they_are():
    assert list(panel(AuditSettings()))[:2] == ["fedavg", "fedsgd:learning_rate=0.001"]
    assert len(panel(AuditSettings())) == 2 + len(DEFENCES)
    own = AuditSettings.of(batch_size=32, defence=["random:num=5"])
    names = list(panel(own))
    assert names[:2] == ["fedavg:batch_size=32 + random:num=5", "fedavg:batch_size=32"]
    assert panel(own)[names[0]] == own.run


def test_the_gan_comes_when_asked_for():
    assert not any("gan" in name for name in panel(AuditSettings()))
    assert "fedavg + gan:rho=0.5" in panel(AuditSettings.of(gan=True))


def test_what_does_not_go_with_the_settings_is_left_out_of_the_usual_panel():
    names = list(panel(AuditSettings.of(cumulative=True)))
    assert names[0] == "cumulative fedavg"
    assert not any("geoind" in name for name in names)


def test_all_faults_of_own_configurations_are_reported_at_once():
    given = ["fedavg + divers", "fedsgg", "fedavg", "fedavg"]
    with pytest.raises(
        UserError, match=r"'divers'.*'fedsgg'.*'fedavg' is there twice; leave one out"
    ):
        panel(AuditSettings.of(configurations=given))


def test_two_maps_of_one_name_need_names_of_their_own():
    given = [TorchMap(lambda: None), TorchMap(lambda: None)]
    with pytest.raises(UserError, match=r"'torch:label=lambda' is there twice; give them names of"):
        panel(AuditSettings.of(configurations=given))
    given = [TorchMap(each.make_module, label=f"net {i}") for i, each in enumerate(given)]
    named = panel(AuditSettings.of(configurations=given))
    assert list(named) == ["torch:label=net 0", "torch:label=net 1"]


def test_fedsgd_alone_has_a_rate_at_which_it_learns():
    def names(**given):
        texts = ["fedsgd", "fedsgd + centre", "fedsgd:learning_rate=1e-2"]
        return list(panel(AuditSettings.of(configurations=texts, **given)))

    assert names() == [
        "fedsgd:learning_rate=0.001",
        "fedsgd:learning_rate=0.001 + centre",
        "fedsgd:learning_rate=0.01",
    ]
    assert names(learning_rate=1e-4)[0] == "fedsgd"


@pytest.mark.parametrize(
    "given",
    [(Mean(), "fedsgd"), (Mean(), "fedsgd", "centre"), (Mean(), "fedsgd + centre")],
)
def test_fedsgd_has_that_rate_also_behind_a_map(given):
    settings = AuditSettings.of(configurations=[given])
    (run,) = panel(settings).values()
    assert run.training.learning_rate == 1e-3
    (run,) = panel(AuditSettings.of(configurations=[given], learning_rate=1e-4)).values()
    assert run.training.learning_rate == 1e-4


def test_fedsgd_has_that_rate_also_behind_a_map_in_a_text():
    settings = AuditSettings.of(configurations=["network + fedsgd + centre"])
    (run,) = panel(settings).values()
    assert run.training.learning_rate == 1e-3


def test_a_defence_beside_configurations_is_refused():
    given = {"configurations": ["fedavg"], "defence": ["dp:epsilon=100"]}
    with pytest.raises(UserError, match=r"leave out defence, or add it to each: fedavg \+ dp:eps"):
        panel(AuditSettings.of(**given))
