import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from tests.maps.making import Mean
from veilmap.errors import UserError
from veilmap.study.prepare import prepare
from veilmap.study.run_folder import RunFolder
from veilmap.study.settings import RunSettings
from veilmap.study.train import train
from veilmap.transcript import Transcript

DAILY = {"interval": "1d"}
LAYERS = {"hidden": [16], "activations": ["tanh"], "dropout": [0.05]}
NETWORK = {"map": "network", **LAYERS, **DAILY}


def assert_same_state(one, other):
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name])


def test_a_run_folder_holds_the_whole_run(small_campus, tmp_path):
    run = train(small_campus, out=tmp_path / "run", seed=4, **DAILY)
    folder = RunFolder(tmp_path / "run")
    content = json.loads(folder.results.read_text())
    assert content["schema"] == 1
    (row,) = content["rows"]
    assert row["configuration"] == "kriging + centre"
    assert (row["attack"], row["target"], row["seed"]) == ("none", None, 4)
    assert row["rounds"] == len(run.history) == len(content["history"])
    assert row["rmse_db"] == pytest.approx(run.rmse_db)
    assert row["rmse_by_place_db"] == content["history"][-1]["rmse_by_place_db"]
    assert row["skill_by_place"] == content["history"][-1]["skill_by_place"]
    settings = json.loads(folder.settings.read_text())
    assert settings == content["settings"]
    assert settings["task"]["seed"] == 4
    assert settings["data"]["fingerprint"] == run.prepared.data.fingerprint
    assert set(settings["versions"]) >= {"python", "veilmap", "torch"}
    assert settings["device"] == "cpu"
    assert_same_state(folder.load_map().state, run.signal_map.state)
    observed = list(Transcript(folder.transcript))
    assert len(observed) == sum(record.users for record in run.history)
    assert sum(observation.n for observation in observed) == sum(r.n for r in run.history)


def test_a_run_on_a_gpu_differs_by_rounding_and_says_so(small_campus, monkeypatch):
    """Many phones at once; here they are on the processor, which the run does not know."""
    alone = train(small_campus, **NETWORK)
    monkeypatch.setattr("veilmap.study.train.torch_device", lambda name: torch.device("cpu"))
    monkeypatch.setattr("veilmap.study.train.torch_for", lambda family, name: None)
    run = train(small_campus, device="cuda", **NETWORK)
    np.testing.assert_allclose(run.signal_map.weights, alone.signal_map.weights, atol=1e-4)
    assert (run.signal_map.weights != alone.signal_map.weights).any()
    assert run.results()["settings"]["device"] == "cuda"


def test_the_same_seed_gives_bit_identical_weights(small_campus):
    one, again, other = (train(small_campus, seed=seed, **NETWORK) for seed in (0, 0, 1))
    assert (one.signal_map.weights == again.signal_map.weights).all()
    assert (one.signal_map.weights != other.signal_map.weights).any()


def test_training_points_and_test_points_are_the_whole_cell(small_campus):
    prepared = prepare(small_campus, RunSettings.of(interval="1d"))
    trained = sum(len(data) for this in prepared.rounds for data in this.data.values())
    assert trained + len(prepared.test) == len(prepared.data)


def test_a_map_trained_long_enough_beats_the_constant(small_campus):
    run = train(small_campus, learning_rate=0.02, epochs=30, **NETWORK)
    assert run.rmse_db < 0.97 * run.prepared.rmse_constant_db


def test_the_final_rmse_is_that_of_the_saved_map(small_campus):
    run = train(small_campus, **DAILY)
    test = run.prepared.test
    errors = run.signal_map.predict_dbm(test.xy_m) - test.rsrp_dbm
    assert run.rmse_db == pytest.approx(np.sqrt(np.mean(errors.astype(float) ** 2)), rel=1e-5)


def test_a_public_mean_saves_the_rounds_that_learn_it(small_campus):
    """Raw dBm labels: after one round of FedSGD the map is still tens of dB off; centred, not."""
    fedsgd = {**NETWORK, "epochs": 1, "batch_size": "inf"}
    raw = train(small_campus, label_offset_dbm="none", **fedsgd)
    centred = train(small_campus, **fedsgd)
    assert raw.history[0].rmse_db > 50
    assert centred.history[0].rmse_db < 1.2 * centred.prepared.rmse_constant_db


def test_the_rmse_on_earlier_rounds_is_that_of_their_data(small_campus):
    run = train(small_campus, past=True, **DAILY)
    assert run.history[0].rmse_past_db is None
    earlier = [data for this in run.prepared.rounds[:-1] for data in this.data.values()]
    points = type(earlier[0]).join(earlier)
    errors = run.signal_map.predict_dbm(points.xy_m) - points.rsrp_dbm
    expected = np.sqrt(np.mean(errors.astype(float) ** 2))
    assert run.history[-1].rmse_past_db == pytest.approx(expected, rel=1e-5)


def test_cumulative_training_grows(small_campus):
    run = train(small_campus, cumulative=True, **NETWORK)
    sizes = [record.n for record in run.history if record.users == 3]
    assert sizes == sorted(sizes)
    assert run.results()["rows"][0]["configuration"] == "cumulative fedavg + centre"


def test_the_scaler_of_the_paper_and_of_a_deployment(small_campus):
    fitted = prepare(small_campus, RunSettings.of(scaler="fitted"))
    pieces = [data.xy_m for this in fitted.rounds for data in this.data.values()]
    points = np.concatenate(pieces)
    assert fitted.plan.scaler.mean_m == pytest.approx(points.mean(axis=0).tolist())
    assert fitted.plan.scaler.scale_m == pytest.approx(points.std(axis=0).tolist())
    box = [-117.86, 33.63, -117.82, 33.66]
    public = prepare(small_campus, RunSettings.of(area=box))
    assert public.plan.area.width_m == pytest.approx(3710, rel=0.01)
    assert public.plan.scaler.scale_m[0] == pytest.approx(public.plan.area.width_m / np.sqrt(12))


def test_settings_and_keywords_exclude_each_other(small_campus):
    with pytest.raises(
        UserError,
        match="takes only one of settings, keywords, prepared data, got settings and keyw",
    ):
        train(small_campus, RunSettings(), epochs=3)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"learning_rate": 0.01}, "kriging has no setting learning-rate; leave out, or train"),
        ({"epochs": 1, "batch_size": "inf"}, "kriging has no setting epochs, batch-size; leave"),
        (LAYERS, "kriging has no setting hidden, activations, dropout; .* with --map network$"),
        ({"trimmed_share": 0.1}, "kriging has no setting trimmed-share"),
        ({"most_norm": 5.0}, "kriging has no setting most-norm"),
        ({**NETWORK, "square_m": 50.0}, "network has no setting square; .* or take --map kriging$"),
        (
            {"map": Mean(), "kernel": "public", "most_squares": 3},
            "the map mean has no setting most-squares, kernel; leave",
        ),
    ],
)
def test_settings_that_the_map_does_not_have_are_refused(small_campus, given, message):
    with pytest.raises(UserError, match=message):
        train(small_campus, **given)


def test_steps_on_updates_are_refused_where_none_are_sent(small_campus):
    with pytest.raises(
        UserError, match=r"dp alters updates, .* or moves points, or --map network$"
    ):
        train(small_campus, defence=["dp:epsilon=1"])


@pytest.mark.parametrize("defence", [("farthest:eps_m=50,num=5",), ("geoind", "random:num=3")])
def test_steps_on_points_choose_what_squares_are_named(small_campus, defence):
    bare, run = (train(small_campus, interval="1d", defence=each) for each in ((), defence))
    assert run.prepared.settings.configuration.startswith("kriging + ")
    assert sum(record.n for record in run.history) < sum(record.n for record in bare.history)
    assert [step.step for step in run.defences] == list(run.prepared.settings.protection.texts)


def test_a_finished_run_is_not_overwritten_by_accident(small_campus, tmp_path):
    train(small_campus, out=tmp_path, **DAILY)
    with pytest.raises(UserError, match="holds a finished run; choose another --out or add --ove"):
        train(small_campus, out=tmp_path, **DAILY)
    run = train(small_campus, out=tmp_path, overwrite=True, interval="1w")
    observed = list(Transcript(RunFolder(tmp_path).transcript))
    assert len(observed) == sum(record.users for record in run.history)


def test_training_that_diverges_is_one_line_and_no_run(small_campus, tmp_path):
    with pytest.raises(UserError, match=r"training diverged in round 1 .*lower --learning-rate"):
        train(small_campus, out=tmp_path, learning_rate=1e10, **NETWORK)
    assert not (tmp_path / "results.json").exists()


def test_an_area_elsewhere_is_refused(small_campus):
    with pytest.raises(UserError, match="only 0% of the cell's measurements lie in the area"):
        prepare(small_campus, RunSettings.of(area=[10, 50, 11, 51]))


def test_what_was_taken_from_the_data_is_named(small_campus, tmp_path):
    """Nothing is an oracle's when area and mean are given and the scaler is the area's."""
    train(small_campus, out=tmp_path / "a", **DAILY)
    public = {"area": [-117.86, 33.63, -117.82, 33.66], "label_offset_dbm": -95}
    train(small_campus, out=tmp_path / "b", **DAILY, **public)
    oracles = [
        Transcript(RunFolder(tmp_path / name).transcript).header.side_knowledge.oracle
        for name in "ab"
    ]
    assert oracles == [("area", "scaler", "label_offset_dbm"), ()]


@pytest.mark.processes
@pytest.mark.parametrize("given", [{}, {"map": "network", "epochs": 1}], ids=["kriging", "network"])
def test_bits_depend_on_neither_process_nor_threads(small_campus, campus_file, given):
    threads = "2" if torch.get_num_threads() == 1 else "1"
    code = (
        "import hashlib, sys, veilmap\n"
        f"run = veilmap.train(veilmap.read(sys.argv[1]), interval='1w', **{given})\n"
        "print(hashlib.sha256(run.signal_map.as_bytes()).hexdigest())"
    )
    environment = {**os.environ, "OMP_NUM_THREADS": threads, "PYTHONHASHSEED": threads}
    done = subprocess.run(
        [sys.executable, "-c", code, campus_file],
        capture_output=True, text=True, check=True, env=environment,
    )  # fmt: skip
    file = train(small_campus, interval="1w", **given).signal_map.as_bytes()
    assert done.stdout.strip() == hashlib.sha256(file).hexdigest()


def test_clearing_a_run_leaves_other_files_alone(small_campus, tmp_path):
    train(small_campus, out=tmp_path, **DAILY)
    (tmp_path / "notes.txt").write_text("mine")
    RunFolder(tmp_path).clear()
    left = [path.name for path in tmp_path.rglob("*") if path.is_file()]
    assert left == ["notes.txt"]


@pytest.mark.parametrize(
    "scheme",
    [
        {"batch_size": "inf", "epochs": 1, "learning_rate": 1e-3},
        {"batch_size": 20, "epochs": 5, "learning_rate": 1e-5},
    ],
)
def test_chania_fedsgd_and_fedavg_are_near_the_constant(shared_data, scheme):
    """A phone that rests at home 98 % of the time: position explains little of its signal."""
    import polars as pl

    from veilmap.sources import read
    from veilmap.sources.reading import Reading

    data = read(
        shared_data / "chania-gsm" / "chania.csv.gz",
        reading=Reading(max_accuracy_m=100, drop_invalid=True),
    ).keep(pl.col("user").str.starts_with("22223276"))
    run = train(
        data, cell="60561", scaler="fitted", label_offset_dbm="none", split="random",
        map="network", **scheme,
    )  # fmt: skip
    assert len(run.history) == 25
    assert 4.5 < run.prepared.rmse_constant_db < 4.9
    assert 4.5 < run.rmse_db < 5.2
