import json
from dataclasses import dataclass, field

import numpy as np
import pytest

import veilmap
from tests.federation.test_federation import USERS, make_plan, make_rounds
from tests.maps.making import Bumps, Mean
from tests.study.foreign_attacks import install
from veilmap.errors import UserError
from veilmap.federation.plan import Plan
from veilmap.federation.server import federate
from veilmap.maps.families import MAP_FAMILIES, MissingMap, map_of_record, map_record
from veilmap.maps.network_map import NetworkMap
from veilmap.model.network import Network
from veilmap.study.configuration import configure
from veilmap.study.settings import RunSettings

MEAN = "tests.maps.making:Mean"


@dataclass(frozen=True)
class WithoutVerbs:
    name = "empty"


class Melting:
    name = "melting"


@dataclass(frozen=True)
class Silent(Mean):
    name = "silent"
    predict = None


@dataclass(frozen=True)
class Deaf(Mean):
    name = "deaf"

    def combine(self, plan, state):
        return state


@dataclass(frozen=True)
class Gridded(Mean):
    at_m: np.ndarray = field(default_factory=lambda: np.zeros(3))
    name = "gridded"


def named(name):
    return dataclass(frozen=True)(type("Taking", (Mean,), {"name": name}))()


def test_a_record_makes_the_same_map_again():
    network = NetworkMap((5,), ("tanh",), (0.1,))
    assert map_of_record(map_record(network)) == network
    assert map_record(network)["name"] == "network"


def test_a_record_has_no_numbers_of_numpy():
    given = NetworkMap(tuple(np.array([5])), ("tanh",), (np.float32(0.5),))
    assert json.dumps(map_record(given)) == json.dumps(
        map_record(NetworkMap((5,), ("tanh",), (0.5,)))
    )


def test_a_map_that_is_not_installed_keeps_its_record():
    record = {"name": "elsewhere", "side_m": 25.0}
    missing = map_of_record(record)
    assert isinstance(missing, MissingMap)
    assert map_record(missing) == record
    for verb in (missing.start, missing.answer, missing.combine, missing.predict):
        with pytest.raises(UserError, match="'elsewhere' is of a family that is not installed"):
            verb(*[None] * {"start": 1, "answer": 5, "combine": 4, "predict": 3}[verb.__name__])


def test_a_text_is_read_with_its_settings():
    made = MAP_FAMILIES.of_text("network:initialisation=pytorch")
    assert made == NetworkMap(initialisation="pytorch")
    with pytest.raises(
        UserError, match="unknown map 'netwerk'; choose one of: network, kriging, or"
    ):
        MAP_FAMILIES.of_text("netwerk")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Bumps, r"map Bumps is a class; give an instance: Bumps\(\)"),
        (
            WithoutVerbs(),
            "map WithoutVerbs has no start, no answer, no combine, no predict; add",
        ),
        (Melting(), "map Melting must be a frozen dataclass, whose fields are its settings"),
        (object(), "map must be a text such as 'network' or an object of a class of yours, got <"),
        (None, "map must be a text such as 'network' or an object .*, got None; see docs"),
        (True, "map must be a text such as 'network' or an object .*, got True"),
        (Network(), r"Network has the layers alone; write map=NetworkMap\(…\) with the same ones"),
        (Silent(), "predict of map Silent must be a method, got None; write def predict"),
        (Deaf(), r"combine of map Deaf must take plan, state, messages, senders, got \['plan', 's"),
        (Gridded(), "the settings of map Gridded must be numbers, truth values, texts"),
        (named("fedavg"), "has the name 'fedavg', which is one of ours; choose another name"),
        (named("centre"), "has the name 'centre', which is one of ours"),
        (named("torch"), "has the name 'torch', which is one of ours"),
    ],
    ids=lambda given: given if isinstance(given, str) else type(given).__name__,
)
def test_an_object_that_is_no_map_is_refused_with_a_way_out(given, message, small_campus):
    with pytest.raises(UserError, match=message):
        veilmap.train(small_campus, map=given)


@pytest.mark.parametrize("name", ["fedavg", "network", "centre", "torch", "missing"])
def test_no_package_takes_a_name_of_ours(name, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    install(tmp_path, "veilmap.maps", **{name: MEAN, "mean": MEAN})
    assert MAP_FAMILIES.names == ("network", "kriging", "mean")
    assert MAP_FAMILIES.package_of("mean") == "strange"
    assert MAP_FAMILIES.package_of(name) is None
    assert isinstance(configure(RunSettings(), "fedavg + diverse").map, NetworkMap)


def test_sums_add_up_whatever_the_order():
    plan = Plan(**{**vars(make_plan()), "map": Mean()})
    (*_, last) = federate(plan, make_rounds(), USERS)
    (*_, reversed_) = federate(plan, make_rounds(), USERS[::-1])
    every = np.concatenate([d.rsrp_dbm for this in make_rounds() for d in this.data.values()])
    at = plan.map.predict(plan, last.state, np.zeros((1, 2))).rsrp_dbm
    assert at == pytest.approx(every.mean())
    assert last.state["sum"] == pytest.approx(reversed_.state["sum"])


@pytest.mark.parametrize("family", [Bumps(5), Mean()], ids=["weights", "sums"])
def test_an_object_of_ones_own_is_trained_kept_and_read_again(family, small_campus, tmp_path):
    run = veilmap.train(small_campus, map=family, interval="1w", epochs=1, out=tmp_path / "run")
    assert np.isfinite(run.rmse_db)
    with pytest.raises(UserError, match=f"{family.name!r} is of a family that is not installed"):
        veilmap.SignalMap.load(tmp_path / "run" / "model.safetensors").predict_dbm(np.zeros((1, 2)))
    again = veilmap.SignalMap.load(tmp_path / "run" / "model.safetensors", map=family)
    xy_m = small_campus.xy_m[:20]
    assert (again.predict_dbm(xy_m) == run.signal_map.predict_dbm(xy_m)).all()
    seen = veilmap.Transcript(tmp_path / "run" / "transcript", map=family)
    assert seen.header.map == family
    assert all(each.message.keys() == run.signal_map.state.keys() for each in seen)
    for read in (
        lambda: veilmap.SignalMap.load(tmp_path / "run" / "model.safetensors", map=Bumps(7)),
        lambda: veilmap.Transcript(tmp_path / "run" / "transcript", map=Bumps(7)),
        lambda: veilmap.attack(tmp_path / "run", map=Bumps(7)),
    ):
        with pytest.raises(UserError, match=f'map must be the one of the run, .*{family.name}.*"w'):
            read()
