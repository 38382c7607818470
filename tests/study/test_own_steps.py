"""Steps of a stranger's, as objects and by name."""

import json
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pytest

import veilmap
from tests.auditing.making import TINY
from tests.study.foreign_attacks import install
from tests.study.foreign_steps import First, Noise
from veilmap.auditing.panel import panel
from veilmap.defences.diverse import DiverseBatch
from veilmap.defences.farthest import FarthestBatch
from veilmap.defences.step import UpdateStep
from veilmap.errors import UserError
from veilmap.federation.observation import Recorder
from veilmap.settings import load_toml, parse, plain
from veilmap.strategy import as_text
from veilmap.study.configuration import configure
from veilmap.study.evidence.evidence import evidence_of
from veilmap.study.prepare import prepare
from veilmap.study.protection import Protection
from veilmap.study.settings import RunSettings, SettingsFile
from veilmap.study.step_notation import DEFENCES, step_of
from veilmap.study.train import train_prepared

LAYERS = {"hidden": [8], "activations": ["tanh"], "dropout": [0.0]}
SMALL = {"map": "network", **LAYERS, "interval": "1d"}
HERE = "tests.study.foreign_steps"
RAW = RunSettings.of(map="network", label_offset_dbm="none")


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Installs a package that registers these classes."""
    monkeypatch.syspath_prepend(tmp_path)
    return partial(install, tmp_path, "veilmap.defences")


@pytest.mark.parametrize("given", [First(4), [First(4)], (First(4),)])
def test_an_object_is_a_step_wherever_a_text_is(given):
    for protection in (Protection(given), RunSettings.of(defence=given).protection):
        assert protection.steps == (First(4),)
        assert protection.texts == ("first:num=4",)
        assert plain(protection)["defence"] == ["first:num=4"]


def test_objects_and_texts_stand_in_one_list():
    protection = Protection(["diverse", First(4), "dp:epsilon=1"])
    assert protection.texts == ("diverse:eps_m=50", "first:num=4", "dp:epsilon=1")


def test_a_registered_step_is_found_by_its_name(installed, tmp_path):
    installed(first=f"{HERE}:First", noise=f"{HERE}:Noise")
    assert step_of("first:num=4") == First(4)
    assert DEFENCES.names[-2:] == ("first", "noise")
    (tmp_path / "run.toml").write_text(
        '[task]\nmap = "network"\n[protection]\ndefence = ["first", "noise:sigma=0.5"]\n'
    )
    tables = load_toml(tmp_path / "run.toml")
    settings = parse(SettingsFile, tables, "run.toml")
    assert settings.protection.steps == (First(), Noise(0.5))
    assert isinstance(settings.protection.steps[1], UpdateStep)
    with pytest.raises(
        UserError, match=r"unknown defence 'frist'; choose .* gan, first, noise, or"
    ):
        step_of("frist")
    with pytest.raises(UserError, match="first: unknown setting 'number'; did you mean 'num'"):
        step_of("first:number=3")


@dataclass
class Melting:
    name = "melting"


@dataclass(frozen=True)
class Nameless:
    num: int = 3


@dataclass(frozen=True)
class Idle:
    name = "idle"


@dataclass(frozen=True)
class Numbered:
    name = "numbered"
    on_points = 3


class Ours(FarthestBatch):
    """Another step under a name of ours."""


@dataclass(frozen=True)
class Centred(First):
    name = "centre"


@dataclass(frozen=True)
class Drawn(First):
    places_m: np.ndarray = field(default_factory=lambda: np.zeros(2))
    name = "drawn"


@dataclass(frozen=True)
class Roundless(First):
    name = "roundless"

    def on_points(self, batch):
        return batch, {}


@dataclass(frozen=True)
class Counting(First):
    name = "counting"
    spent = 3


@dataclass(frozen=True)
class Sized(First):
    sizes_m: tuple[float, ...] = ()
    whole: bool = False
    name = "sized"


@dataclass(frozen=True)
class Labelled(First):
    label: str = "a"
    name = "labelled"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (First, r"defence First is a class; give an instance: First\(\)"),
        (Melting(), "defence Melting must be a frozen dataclass, .*; put @dataclass"),
        (Nameless(), "defence Nameless has no name; add what is missing"),
        (Idle(), "defence idle must have one of on_points, on_update, learn, got none of them"),
        (Ours(), "the defence Ours has the name 'farthest', which is one of ours; choose another"),
        (Centred(), "the defence Centred has the name 'centre', which is one of ours"),
        (Drawn(), "the settings of defence Drawn must be numbers, truth values, texts"),
        (Labelled(label="a,b"), "the settings of defence Labelled must be numbers"),
        *(
            (Labelled(label=text), r"none of them NaN or empty, got Labelled\(num=3, label=")
            for text in ("", "a + b", "a+b", "1 + 2", (), float("nan"))
        ),
        (Numbered(), "on_points of defence Numbered must be a method, got 3; write def on_points"),
        (
            Roundless(),
            r"Roundless must take batch, turn, got \['batch'\]; write def on_points\(self, ba",
        ),
        (
            Counting(),
            r"spent of defence Counting must be a method, got 3; write def spent\(self, tu",
        ),
        (
            5,
            "defence must be a text such as 'diverse' or an object of a class of yours, got 5",
        ),
        (None, "defence must be a text such as 'diverse' or an object .*, got None"),
        ({}, r"defence must be a text such as 'diverse' or an object .*, got \{\}"),
        (print, "defence must be a text such as 'diverse' or an object .*, got <built-in function"),
    ],
    ids=str,
)
def test_what_is_no_step_is_refused_with_the_way_out(wrong, message):
    for given in (wrong, [wrong]):
        with pytest.raises(UserError, match=message):
            Protection(given)
        with pytest.raises(UserError, match=message):
            RunSettings.of(defence=given)


def test_settings_that_can_be_written_are_taken():
    assert Protection(Labelled(2, "b c")).texts == ("labelled:num=2,label=b c",)


def test_numbers_of_numpy_are_settings():
    sizes_m = (np.float64(50), np.float32(0.5))
    (step,) = Protection(Sized(np.int64(4), sizes_m, np.bool_(True))).steps
    assert as_text(step) == "sized:num=4,sizes_m=50 0.5,whole=True"


def test_a_name_that_a_package_has_registered_is_taken(installed):
    installed(
        first=f"{HERE}:First", centre=f"{HERE}:First", drawn="tests.study.test_own_steps:Idle"
    )
    assert Protection(First()).texts == ("first:num=3",)
    with pytest.raises(UserError, match="has the name 'first', by which an installed package regi"):
        Protection(type("Other", (First,), {})())
    with pytest.raises(UserError, match="Idle is registered as 'drawn' and its name is 'idle'"):
        step_of("drawn")


def test_a_registered_class_that_is_no_step_is_refused(installed):
    installed(
        path="pathlib:Path", gone="nowhere_at_all:Gone", idle="tests.study.test_own_steps:Idle"
    )
    for name, message in {
        "path": "defence Path must be a frozen dataclass",
        "gone": r"cannot import nowhere_at_all:Gone .*uninstall strange",
        "idle": "defence idle must have one of on_points",
    }.items():
        with pytest.raises(UserError, match=message):
            step_of(name)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (First(4), "fedavg + first:num=4"),
        (("fedsgd", First(4)), "fedsgd + first:num=4"),
        (("fedsgd + diverse", First(4), "centre:offset=-90"),
         "fedsgd + diverse:eps_m=50 + first:num=4 + centre:offset_dbm=-90"),
        ((First(4), "dp:epsilon=1"), "fedavg + first:num=4 + dp:epsilon=1"),
        (["fedsgd"], "fedsgd"),
    ],
)  # fmt: skip
def test_a_configuration_may_have_objects(given, name):
    assert configure(RAW, given).configuration == name


def test_a_configuration_of_objects_keeps_the_scheme_and_the_users_of_the_settings():
    base = RunSettings.of(epochs=3, defence="diverse", defended="a")
    run = configure(base, First(4))
    assert run.training == base.training
    assert run.protection == Protection(First(4), ("a",))


@pytest.mark.parametrize("given", [(), "", First, ("fedavg", 3), 3])
def test_what_is_no_configuration_is_refused(given):
    with pytest.raises(UserError, match=r"unknown scheme|defence"):
        configure(RAW, given)


def test_a_run_by_an_object_is_that_by_the_name(installed, small_campus, tmp_path):
    by_object = veilmap.train(small_campus, out=tmp_path / "a", defence=[First(4)], **SMALL)
    installed(first=f"{HERE}:First")
    by_name = veilmap.train(small_campus, out=tmp_path / "b", defence=["first:num=4"], **SMALL)
    assert (by_object.signal_map.weights == by_name.signal_map.weights).all()
    plain_run = veilmap.train(small_campus, **SMALL)
    assert (by_object.signal_map.weights != plain_run.signal_map.weights).any()
    for file in ("settings.json", "transcript/transcript.json"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    header = json.loads((tmp_path / "a/transcript/transcript.json").read_text())
    assert "first:num=4" in str(header)


def test_a_run_is_read_where_its_defence_is_not_installed(small_campus, tmp_path):
    run = veilmap.train(small_campus, out=tmp_path / "run", defence=[First(4)], **SMALL)
    assert Protection("diverse").steps == (DiverseBatch(),)
    with pytest.raises(UserError, match="unknown defence 'first'"):
        Protection("first:num=4")
    done = veilmap.attack(tmp_path / "run", data=small_campus, method="search", theory=True)
    assert done.configuration == run.prepared.settings.configuration
    assert done.truth is not None
    assert not any(done.predicted.values())


def test_theory_speaks_of_updates_that_no_step_altered(small_campus):
    for step, spoken_of in ((First(4), True), (Noise(), False)):
        prepared = prepare(small_campus, RunSettings.of(defence=[step], **SMALL))
        seen = Recorder(prepared.users)
        run = train_prepared(prepared, seen, keep=prepared.users)
        known = evidence_of(prepared, seen.observations, run.batches)
        done = veilmap.attack(known, method="first_layer", theory="theorem 1")
        assert {each is not None for each in done.predicted.values()} == {spoken_of}


def test_an_audit_compares_objects_and_texts():
    given = ["fedavg", First(4), ("fedsgd", First(4))]
    settings = veilmap.AuditSettings.of(**{**TINY, "configurations": given})
    assert plain(settings.audit)["configurations"] == [
        "fedavg", "first:num=4", ["fedsgd", "first:num=4"],
    ]  # fmt: skip
    assert list(panel(settings)) == [
        "fedavg", "fedavg + first:num=4", "fedsgd:learning_rate=0.001 + first:num=4",
    ]  # fmt: skip
