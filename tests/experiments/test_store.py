import json
from dataclasses import replace

import numpy as np
import pytest

from tests.auditing.making import TINY
from tests.auditing.making import make_data as make_audit_data
from tests.experiments.making import make_trial, run
from tests.sweeping.making import make_data
from veilmap.auditing.panel import panel
from veilmap.auditing.settings import AuditSettings
from veilmap.experiments.result import TrialResult
from veilmap.experiments.store import TrialStore
from veilmap.experiments.trial import Trial
from veilmap.files import write_whole
from veilmap.metrics.rows import RoundRecord
from veilmap.study import code_fingerprint
from veilmap.study.attack_settings import AttackSettings

EVERYTHING = frozenset({"history", "found", "chosen", "path", "past", "gradient"})
DATA = make_data()
TRIAL = make_trial(
    DATA,
    "fedavg + diverse:eps_m=50",
    attacks=AttackSettings.of(method=("dlg", "first_layer"), max_iterations=5),
    theory=True,
    keep=EVERYTHING,
)
NAME = "fedavg + farthest:eps_m=50,num=5"


def make_audited(targets=("u0", "u1"), **given):
    settings = AuditSettings.of(**{**TINY, **given})
    keep = frozenset({"history", "positions"})
    return Trial(NAME, panel(settings)[NAME], targets, settings.attacks(0), theory=True, keep=keep)


@pytest.fixture(scope="module")
def data():
    return make_audit_data()


@pytest.fixture(scope="module")
def result():
    return run(TRIAL, DATA)


@pytest.fixture(scope="module")
def audited(data):
    return run(make_audited(), data)


@pytest.fixture
def store(tmp_path, data, audited):
    """With a trial of an audit, which has positions."""
    store = TrialStore(tmp_path / "trials")
    store.save(make_audited(), data, audited)
    return store


def load(store, trial, data=DATA):
    return store.load(trial, data).result


def arrays(found):
    return found.positions.arrays(("u0", "u1"))


def same(one, other):
    """Equal but for their positions, which are arrays; and those equal too."""
    assert replace(one, positions=None) == replace(other, positions=None)
    ours, theirs = arrays(one), arrays(other)
    assert ours.keys() == theirs.keys()
    for name, values in ours.items():
        np.testing.assert_array_equal(values, theirs[name])
        assert values.dtype == theirs[name].dtype
    return True


def test_what_was_saved_is_loaded_to_the_bit(tmp_path, result):
    assert result.failed is None
    for table in ("rows", "history", "rounds", "training", "steps", "gradient", "oracle"):
        assert getattr(result, table), table
    store = TrialStore(tmp_path / "runs")
    assert load(store, TRIAL) is None
    store.save(TRIAL, DATA, result)
    found = load(store, TRIAL)
    assert same(found, result)
    assert repr(replace(found, positions=None)) == repr(replace(result, positions=None))


@pytest.mark.parametrize("step", ["farthest:num=5", "geoind:epsilon_per_m=0.01", "dp:epsilon=8"])
def test_whole_numbers_of_a_defence_stay_whole(tmp_path, step):
    """A run that is read back must leave the same bits in results.json as one just finished."""
    trial = make_trial(DATA, f"fedavg + {step}")
    result, store = run(trial, DATA), TrialStore(tmp_path)
    store.save(trial, DATA, result)
    assert result.steps
    assert repr(load(store, trial)) == repr(result)


def test_positions_of_an_audit_are_loaded_too(store, data, audited):
    found = load(store, make_audited(), data)
    assert same(found, audited)
    assert found.positions.homes == audited.positions.homes
    assert found.positions.named_homes == audited.positions.named_homes
    assert set(found.positions.homes) == {"u0", "u1"}
    assert found.positions.area == audited.positions.area


def test_refused_updates_are_of_the_same_users_and_no_file_names_them(tmp_path, result):
    refused = replace(
        result,
        training=(RoundRecord(1, 0.0, 1, 9, 5.0, 5.0, 0.1, None, 0.1, {"u1": "not finite"}),),
    )
    store = TrialStore(tmp_path / "runs")
    store.save(TRIAL, DATA, refused)
    assert load(store, TRIAL).training == refused.training
    (file,) = store.path.glob("*.json")
    assert "u0" not in file.read_text()
    assert "u1" not in file.read_text()


def test_a_file_is_named_after_its_trial(tmp_path, result):
    store = TrialStore(tmp_path / "runs")
    for trial, start in (
        (TRIAL, "fedavg-diverse-eps_m=50-centre-seed0-"),
        (replace(TRIAL, counted=True), "data-seed0-"),
    ):
        store.save(trial, DATA, result)
        assert any(path.name.startswith(start) for path in store.path.iterdir())


@pytest.mark.parametrize(
    "given",
    [{"learning_rate": 1e-3}, {"every": 2}, {"exact_m": 0.5}, {"seed": 1}, {"targets": ("u0",)}],
)
def test_other_settings_are_another_trial(store, data, given):
    assert load(store, make_audited(), data) is not None
    assert load(store, make_audited(**given), data) is None


def test_other_data_are_another_trial(store, data):
    assert load(store, make_audited(), make_audit_data(rows=199)) is None
    assert load(store, make_audited(), replace(data, timezone="Europe/Athens")) is None
    assert load(store, make_audited(), data) is not None


@pytest.mark.parametrize("kind", ["json", "npz"])
@pytest.mark.parametrize("damage", ["gone", "half", "empty", "text", "zeros", "folder"])
def test_a_damaged_file_counts_as_not_there(store, data, kind, damage):
    (file,) = store.path.glob(f"*.{kind}")
    whole = file.read_bytes()
    damaged = {"half": whole[: len(whole) // 2], "empty": b"", "text": b"[1]", "zeros": bytes(99)}
    file.unlink()
    if damage == "folder":
        file.mkdir()
    elif damage != "gone":
        file.write_bytes(damaged[damage])
    assert load(store, make_audited(), data) is None


@pytest.mark.parametrize(
    "content", [b"{", b"null", b"{}", b'{"layout": 1}', b'{"result": 3}', b"\xff\xfe"]
)
def test_what_is_no_result_is_not_reused(store, data, content):
    (file,) = store.path.glob("*.json")
    file.write_bytes(content)
    assert load(store, make_audited(), data) is None


def test_a_result_of_wrong_types_is_not_reused(store, data):
    (file,) = store.path.glob("*.json")
    content = json.loads(file.read_text())
    for wrong in ({"seconds": "long"}, {"rows": [{"target": 0}]}, {"steps": [3]}, {"kept": 3}):
        file.write_text(json.dumps({**content, "result": {**content["result"], **wrong}}))
        assert load(store, make_audited(), data) is None


def test_figures_alone_do_without_positions(store, data):
    (file,) = store.path.glob("*.npz")
    file.unlink()
    assert load(store, make_audited(), data) is None
    bare = replace(make_audited(), keep=frozenset({"history"}))
    assert load(store, bare, data).positions is None


def test_a_result_that_lacks_what_is_to_be_kept_is_not_reused(store, data):
    more = replace(make_audited(), keep=frozenset({"history", "positions", "path"}))
    assert load(store, more, data) is None
    assert store.load(more, data).kept == {"history", "positions"}


def test_a_failure_is_reused_unless_another_try_may_not_meet_it(tmp_path):
    store = TrialStore(tmp_path / "runs")
    failed = TrialResult("fedsgd", 0, failed="training diverged", kept=tuple(sorted(EVERYTHING)))
    store.save(TRIAL, DATA, failed)
    assert load(store, TRIAL) == failed
    store.save(TRIAL, DATA, replace(failed, again=True))
    assert load(store, TRIAL) is None


def test_a_result_of_other_code_is_not_reused_and_replaced(store, data, audited, monkeypatch):
    before = sorted(store.path.iterdir())
    monkeypatch.setattr(code_fingerprint, "package_fingerprint", lambda: "other")
    assert load(store, make_audited(), data) is None
    assert store.load(make_audited(), data).is_of_other_code
    store.save(make_audited(), data, audited)
    assert sorted(store.path.iterdir()) == before
    assert load(store, make_audited(), data) is not None


def test_files_of_an_older_layout_are_counted(store):
    assert store.older() == 0
    (store.path / "fedavg-seed0-0123456789abcdef.json").write_text("{}")
    assert store.older() == 1


def test_hostile_names_stay_in_the_folder(tmp_path, data, audited):
    store = TrialStore(tmp_path / "audit" / "trials")
    trial = replace(make_audited(), configuration="../../</script> (on ../x)")
    store.save(trial, data, audited)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["audit"]
    assert len(list(store.path.iterdir())) == 2


def test_positions_are_there_before_the_mark_that_a_trial_is_finished(
    tmp_path, data, audited, monkeypatch
):
    def killed(path, *rest):
        if path.suffix == ".json":
            raise KeyboardInterrupt
        write_whole(path, *rest)

    store = TrialStore(tmp_path / "trials")
    monkeypatch.setattr("veilmap.experiments.store.write_whole", killed)
    with pytest.raises(KeyboardInterrupt):
        store.save(make_audited(), data, audited)
    assert [path.suffix for path in store.path.iterdir()] == [".npz"]
    assert load(store, make_audited(), data) is None
