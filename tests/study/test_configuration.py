from dataclasses import fields

import pytest

from tests.maps.making import Mean, Still
from veilmap.auditing.settings import AuditSettings
from veilmap.defences.diverse import DiverseBatch
from veilmap.defences.farthest import FarthestBatch
from veilmap.defences.steps import STEPS
from veilmap.errors import UserError
from veilmap.maps.kriging_map import KrigingMap
from veilmap.maps.network_map import NetworkMap
from veilmap.model.network import Network
from veilmap.notation import name_and_values, settings_of
from veilmap.settings import parse
from veilmap.strategy import as_text
from veilmap.study.configuration import configure
from veilmap.study.protection import Protection
from veilmap.study.settings import RunSettings
from veilmap.study.step_notation import step_of

RAW = RunSettings.of(map="network", label_offset_dbm="none", seed=3)
SLOW = RunSettings.of(label_offset_dbm="none", learning_rate=1e-4)

TWO_LAYERS = NetworkMap((8, 8), ("tanh", "elu"), (0.0, 0.0))


@pytest.mark.parametrize(
    "given",
    [TWO_LAYERS, "network:hidden=8 8,activations=tanh elu,dropout=0 0"],
    ids=["object", "text"],
)
def test_the_layers_of_the_papers_map_are_those_of_the_settings(given):
    settings = RunSettings.of(map=given)
    same = {"hidden": (8, 8), "activations": ("tanh", "elu"), "dropout": (0, 0)}
    assert settings == RunSettings.of(map="network", **same)
    assert settings.map == TWO_LAYERS
    assert settings.configuration == "fedavg + centre"


def test_a_text_adds_to_the_layers_that_are_given_elsewhere():
    settings = RunSettings.of(map="network:initialisation=pytorch", hidden=(8, 8))
    assert settings.model == Network((8, 8), initialisation="pytorch")
    one = {"hidden": [5], "activations": ["relu"], "dropout": [0.0]}
    assert RunSettings.of(map="network:hidden=6", **one).model.hidden == (6,)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"map": TWO_LAYERS, "hidden": (4, 4)},
            "map has settings of its own; leave out hidden, or",
        ),
        ({"map": "network:hidden=8"}, "one entry per hidden layer, got 1, 2 and 2 entries"),
        ({"map": "network:hidden=8 x"}, "network: hidden.1: input should be a valid integer"),
        ({"map": "network:width=8"}, "unknown setting 'width'; .*hidden"),
    ],
)
@pytest.mark.parametrize("settings", [RunSettings, AuditSettings])
def test_wrong_layers_are_refused(settings, given, message):
    with pytest.raises(UserError, match=message):
        settings.of(**given)


def test_a_map_that_builds_on_the_papers_has_its_own_name():
    settings = RunSettings.of(map=Still())
    assert settings.map == Still()
    assert settings.configuration == "still + centre"


def test_a_setting_with_several_values_is_written_with_spaces_and_read_back():
    layers = Still((8, 4), activations=("tanh", "elu"), dropout=(0.0, 0.25))
    text = "still:hidden=8 4,activations=tanh elu,dropout=0 0.25"
    assert as_text(layers) == text
    assert parse(Still, settings_of(name_and_values(text)[1], Still), "still") == layers
    assert RunSettings.of(map=layers).map == layers


def test_settings_of_kriging_come_from_a_text_an_object_or_tables():
    given = {"square_m": 47.5, "most_squares": 3, "kernel": "public", "layout": "sparse"}
    text = "kriging:square_m=47.5,most_squares=3,kernel=public,layout=sparse,bits=32"
    ways = ({"map": text}, {"map": KrigingMap(**given, bits=32)}, {**given, "bits": 32})
    settings = [RunSettings.of(**way) for way in ways]
    assert settings[0] == settings[1] == settings[2]
    assert settings[0].configuration == f"{text} + centre"
    assert configure(RAW, f"{text} + diverse").map == settings[0].map
    assert RunSettings.of(map="kriging:bits=32", square_m=50.0).kriging == KrigingMap(50.0, bits=32)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"map": KrigingMap(), "square_m": 50.0},
            "map has settings of its own; leave out square_m",
        ),
        ({"map": "kriging:bits=8"}, "bits must be 16 or 32, got 8"),
        ({"map": "kriging:square=x"}, "kriging: square_m: input should be a valid number, .*'x'"),
        ({"map": "kriging:width=8"}, "unknown setting 'width'; .*square_m"),
        (
            {"map": "kriging", "defence": "dp:epsilon=1"},
            "dp alters updates, and messages of the ma",
        ),
        (
            {"cumulative": True},
            "forgets no round, so phones must not send one twice; leave out --cum",
        ),
    ],
)
def test_wrong_settings_of_kriging_are_refused(given, message):
    with pytest.raises(UserError, match=message):
        RunSettings.of(**given)


def test_a_scheme_without_a_map_trains_the_network():
    """Kriging trains nothing; a map of one's own may."""
    assert configure(RunSettings(), "fedavg").map == NetworkMap()
    assert configure(RunSettings(), "kriging").map == KrigingMap()
    assert configure(RunSettings.of(map=Mean()), "fedsgd").map == Mean()


def test_a_scheme_sets_b_and_e_and_leaves_the_rest():
    fedsgd, fedavg = (configure(SLOW, name).training for name in ("fedsgd", "fedavg"))
    assert (fedsgd.batch_size, fedsgd.epochs) == ("inf", 1)
    assert (fedavg.batch_size, fedavg.epochs) == (20, 5)
    assert fedsgd.learning_rate == fedavg.learning_rate == 1e-4
    assert configure(RAW, "fedsgd").task == RAW.task


def test_settings_of_a_scheme_stand_after_a_colon():
    training = configure(RAW, "fedavg:learning_rate=1e-5,epochs=2,cumulative=true").training
    assert (training.learning_rate, training.epochs, training.cumulative) == (1e-5, 2, True)


@pytest.mark.parametrize(
    "text",
    [
        "fedsgd",
        "fedavg + centre",
        "fedavg + diverse:eps_m=5 + centre",
        "fedsgd + farthest:eps_m=5,num=3 + dp:epsilon=100",
        "cumulative fedavg",
        "cumulative fedsgd + diverse:eps_m=5",
        "fedavg:epochs=2,learning_rate=1e-05",
        "fedavg + centre:offset_dbm=-80",
    ],
)
def test_a_configuration_has_the_name_it_was_made_from(text):
    assert configure(RAW, text).configuration == text


def test_what_differs_has_another_name():
    assert configure(RAW, "fedsgd:batch_size=5").configuration == "fedavg:epochs=1,batch_size=5"
    on_one = RunSettings.of(defence=("diverse",), defended=("0",), label_offset_dbm="none")
    assert on_one.configuration == "kriging + diverse:eps_m=50 (on 0)"
    assert configure(on_one, "fedavg + diverse").configuration == "fedavg + diverse:eps_m=50 (on 0)"


def test_centre_takes_the_mean_or_a_number():
    assert configure(RAW, "fedavg + centre").task.label_offset_dbm == "mean"
    assert configure(RAW, "fedavg + centre:offset_dbm=-80").task.label_offset_dbm == -80
    assert configure(RAW, "fedavg + centre:offset=-80").task.label_offset_dbm == -80
    with pytest.raises(UserError, match="one centre at most, got 2"):
        configure(RAW, "fedavg + centre + centre:offset=-80")


def test_a_plain_configuration_takes_the_defence_away():
    defended = RunSettings.of(defence=("diverse",), defended=("0",))
    assert configure(defended, "fedavg").protection == Protection()
    assert configure(defended, "fedavg + farthest").protection.defended == ("0",)


@pytest.mark.parametrize("name", ["diverse", "farthest", "geoind", "gan"])
def test_defaults_need_not_be_written(name):
    assert step_of(name) == step_of(as_text(step_of(name))) == STEPS[name]()


def test_the_main_setting_is_always_shown():
    assert as_text(step_of("diverse")) == "diverse:eps_m=50"
    assert as_text(step_of("farthest")) == "farthest:eps_m=50,num=20"
    assert as_text(step_of("geoind")) == "geoind:epsilon_per_m=0.01"
    assert as_text(step_of("dp:true_epsilon=8")) == "dp:true_epsilon=8"


@pytest.mark.parametrize(
    "text",
    ["diverse:eps_m=0.1", "farthest:eps_m=5,num=5", "random:num=5", "dp:true_epsilon=8,rounds=11"],
)
def test_what_is_written_is_read_back(text):
    assert as_text(step_of(text)) == text


def test_every_step_is_written_and_read_back_with_all_its_settings():
    given = {
        "diverse": "eps_m=1,size=9,min_points=2,noise=drop",
        "farthest": "eps_m=1,num=9,min_points=2,noise=drop",
        "random": "num=9",
        "dp": "epsilon=3,clip=2,delta=1e-06",
        "geoind": "epsilon_per_m=0.5,remap=False",
        "gan": "rho=0.25,learns_from=public",
    }
    assert set(given) == set(STEPS)
    for name, values in given.items():
        step = step_of(f"{name}:{values}")
        assert step_of(as_text(step)) == step
        assert all(pair in as_text(step) for pair in values.split(","))


def test_units_may_be_left_out():
    assert step_of("geoind:epsilon=0.5") == step_of("geoind:epsilon_per_m=0.5")
    assert step_of("farthest:eps=5,num=3") == FarthestBatch(eps_m=5.0, num=3)
    assert step_of(" diverse : eps = 5 ") == DiverseBatch(eps_m=5.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fartest", "unknown defence 'fartest'; choose one of: diverse, farthest, random"),
        ("farthest,diverse", "unknown defence .*; write spaces between steps"),
        ("diverse:eps", "cannot read 'diverse:eps'"),
        ("diverse:eps=", "cannot read"),
        ("diverse:epz=5", "unknown setting 'epz'; choose one of: eps_m, size"),
        ("diverse:eps=-1", "eps_m must be"),
        ("farthest:num=2.5", "num: .*2.5"),
        ("farthest:num=many", "num: .*'many'"),
        ("farthest:num=5,num=6", "gives a setting twice"),
        ("diverse:eps=5,eps_m=6", "with and without its unit"),
        ("centre", "choose it with --label-offset mean"),
    ],
)
def test_a_bad_step_is_refused_by_name(text, message):
    with pytest.raises(UserError, match=message):
        step_of(text)


def test_an_unknown_scheme_is_refused():
    with pytest.raises(UserError, match="unknown scheme 'fedsgg'; choose one of: fedsgd, fedavg"):
        configure(RAW, "fedsgg + diverse")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("fedavg", Mean()), r"a configuration begins with its map, got Mean\(\) later; write it"),
        ("fedavg + network", "begins with its map, got 'network' later; write it first"),
        (Mean, r"map Mean is a class; give an instance: Mean\(\)"),
        (Network(), "Network has the layers alone; write map=NetworkMap"),
        (("fedavg", None), "defence must be a text such as 'diverse' or an object .*, got None"),
    ],
    ids=str,
)
def test_a_misplaced_part_is_refused_with_the_way_out(given, message):
    with pytest.raises(UserError, match=message):
        configure(RAW, given)


def test_steps_may_also_be_joined_in_one_text():
    for text in ("diverse:eps=5 + dp:epsilon=1e+2", "diverse:eps=5+dp:epsilon=100"):
        assert Protection((text,)).texts == ("diverse:eps_m=5", "dp:epsilon=100")


@pytest.mark.parametrize("given", ["diverse", ["diverse"], [DiverseBatch()], ("diverse",)])
def test_one_text_or_a_step_will_do(given):
    assert RunSettings.of(defence=given, defended=0).protection.steps == (DiverseBatch(),)
    assert RunSettings.of(defence=given, defended="0").protection.defended == ("0",)


def test_all_mistakes_are_reported_at_once():
    with pytest.raises(UserError, match=r"unknown defence 'divers'.*; dp: .*epsilon must be"):
        Protection(("divers", "dp:epsilon=0"))


def test_users_in_a_name_are_read_back():
    text = "fedavg + diverse:eps_m=50 (on 0, b)"
    assert configure(RAW, text).protection.defended == ("0", "b")
    assert configure(RAW, text).configuration == text


def test_whom_to_defend_needs_a_defence():
    with pytest.raises(UserError, match="say how with --defence"):
        Protection(defended=("0",))


def test_a_public_sample_is_an_oracle():
    assert Protection(("gan:learns_from=public",)).oracle == ("public sample",)
    assert Protection(("gan",)).oracle == ()
    assert "public sample" in RunSettings.of(defence=("gan:learns_from=public",)).oracle


def test_the_run_settings_are_the_tables_of_a_file():
    names = [part.name for part in fields(RunSettings)]
    assert names == [
        "task", "test", "kriging", "model", "training", "protection", "robustness",
    ]  # fmt: skip
