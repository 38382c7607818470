import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from tests.auditing.making import TINY, make_data
from veilmap.auditing.panel import panel
from veilmap.auditing.settings import AuditSettings
from veilmap.auditing.store import Store
from veilmap.auditing.unit import Result, Unit, run_unit
from veilmap.errors import UserError
from veilmap.files import write_json


def make_unit(name="fedavg + farthest:eps_m=50,num=5", targets=("u0", "u1"), **given):
    settings = AuditSettings.of(**{**TINY, **given})
    return Unit(name, panel(settings)[name], settings.attacks(0), targets, True, True)


@pytest.fixture(scope="module")
def data():
    return make_data()


@pytest.fixture(scope="module")
def result(data):
    return run_unit(make_unit(), data)


@pytest.fixture
def store(tmp_path, data, result):
    store = Store(tmp_path / "audit")
    store.save(make_unit(), data, result)
    return store


def test_what_is_saved_is_found_again(store, data, result):
    found = store.load(make_unit(), data)
    assert found.rows == tuple(json.loads(json.dumps(result.rows)))
    assert found.history == tuple(json.loads(json.dumps(result.history)))
    assert (found.configuration, found.seed, found.failed) == (result.configuration, 0, None)
    ours, theirs = (each.positions.arrays(("u0", "u1")) for each in (result, found))
    assert ours.keys() == theirs.keys()
    for name, values in ours.items():
        np.testing.assert_array_equal(values, theirs[name])
    assert found.positions.homes == result.positions.homes
    assert found.positions.named_homes == result.positions.named_homes
    assert set(result.positions.homes) == {"u0", "u1"}


@pytest.mark.parametrize(
    "given",
    [{"learning_rate": 1e-3}, {"every": 2}, {"starts": 2}, {"seed": 1}, {"targets": ("u0",)}],
)
def test_other_settings_are_another_unit(store, data, given):
    assert store.load(make_unit(), data) is not None
    assert store.load(make_unit(**given), data) is None


def test_other_data_are_another_unit(store, data):
    assert store.load(make_unit(), make_data(rows=199)) is None
    assert store.load(make_unit(), replace(data, timezone="Europe/Athens")) is None
    assert store.load(make_unit(), data) is not None


@pytest.mark.parametrize("kind", ["json", "npz"])
@pytest.mark.parametrize("damage", ["gone", "half", "empty", "text", "zeros"])
def test_a_damaged_file_counts_as_not_there(store, data, kind, damage):
    (file,) = store.trials.glob(f"*.{kind}")
    whole = file.read_bytes()
    damaged = {"half": whole[: len(whole) // 2], "empty": b"", "text": b"[1]", "zeros": bytes(99)}
    file.unlink() if damage == "gone" else file.write_bytes(damaged[damage])
    assert store.load(make_unit(), data) is None


def test_figures_alone_do_without_positions(store, data):
    assert store.drop_positions() == 1
    assert store.load(make_unit(), data) is None
    assert store.load(replace(make_unit(), with_positions=False), data).positions is None


def test_what_a_killed_audit_left_is_dropped_too(store):
    (store.trials / ".x.npz.77.part").write_bytes(b"positions")
    store.figures.mkdir()
    (store.figures / "where-x.pdf").write_bytes(b"positions")
    (store.figures / "tradeoff-x.pdf").write_bytes(b"figures")
    store.report.write_text("positions")
    assert store.drop_positions() == 4
    assert [path.name for path in store.figures.iterdir()] == ["tradeoff-x.pdf"]


def test_hostile_names_stay_in_the_folder(tmp_path, data, result):
    store = Store(tmp_path / "audit")
    unit = replace(make_unit(), configuration="../../</script> (on ../x)")
    store.save(unit, data, result)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["audit"]
    assert len(list(store.trials.iterdir())) == 2


def test_a_folder_of_something_else_is_refused(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(UserError, match="file is a file; choose a folder for --out"):
        Store(file).refuse_taken()
    for name in ("settings.json", "model.safetensors", "transcript.json"):
        folder = tmp_path / name.partition(".")[0]
        folder.mkdir()
        (folder / name).write_text("{}")
        with pytest.raises(UserError, match="holds a run or a transcript"):
            Store(folder).refuse_taken()


def test_positions_are_there_before_the_mark_that_a_unit_is_finished(
    tmp_path, data, result, monkeypatch
):
    def killed(*_):
        raise KeyboardInterrupt

    store = Store(tmp_path / "audit")
    monkeypatch.setattr("veilmap.auditing.store.write_json", killed)
    with pytest.raises(KeyboardInterrupt):
        store.save(make_unit(), data, result)
    assert [path.suffix for path in store.trials.iterdir()] == [".npz"]
    assert store.load(make_unit(), data) is None


@pytest.mark.parametrize("name", ["report.html", "results.json"])
def test_files_of_others_are_not_taken_for_an_audits(tmp_path, name):
    (tmp_path / name).write_text("mine")
    with pytest.raises(UserError, match=f"has a {name} that is not an audit's"):
        Store(tmp_path).refuse_taken()


@pytest.mark.parametrize("change", [{"failed": "of u0"}, {"rows": [{"target": "7"}]}, {"seed": 1}])
def test_redaction_leaves_no_trial_that_may_name_a_user(store, change):
    """Why it failed may name them, and so did those of earlier versions; the last is sound."""
    before = len(list(store.trials.glob("*.json")))
    write_json(store.trials / "a.json", {**asdict(Result("a", 0)), **change})
    store.drop_positions()
    assert len(list(store.trials.glob("*.json"))) == before + ("seed" in change)


def test_redaction_leaves_nothing_with_a_place(store):
    names = ["report.html", "results.json", ".report.html.1.part", "figures/where-a.pdf"]
    names += ["figures/.where-a.pdf.1.part", "trials/.a.npz.1.part", "figures/rounds-a.png"]
    store.figures.mkdir()
    for name in names:
        (store.path / name).write_text("51.501")
    (store.figures / "tradeoff-emd_paper.pdf").write_text("")
    assert store.drop_positions() == len(names) + 1
    left = {path.name for path in store.path.rglob("*") if path.is_file()}
    assert {each for each in left if not each.endswith(".json")} == {"tradeoff-emd_paper.pdf"}
    assert "results.json" not in left
