import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import fields

import pytest

from tests.auditing.making import make_data, renamed
from tests.cli.test_cli import run
from veilmap.auditing.settings import AuditSettings
from veilmap.cli import audit as command
from veilmap.cli.app import make_app
from veilmap.errors import UserError
from veilmap.experiments import run_trial
from veilmap.study.train import train_prepared

TINY = [
    "--interval", "1d", "--hidden", "8", "--activations", "relu", "--dropout", "0",
    "--method", "search", "first_layer", "--configurations", "fedavg", "fedavg + farthest:num=5",
]  # fmt: skip
QUICK = [*TINY, "--seeds", "2", "--jobs", "1"]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "little.parquet"
    make_data().write_parquet(path)
    return path


def settings_of(*words):
    """The settings that a command line comes to."""
    _, bound, _ = make_app().parse_args(
        ["audit", *map(str, words)], exit_on_error=False, print_error=False
    )
    given = bound.arguments.get("settings", AuditSettings())
    return AuditSettings(**{part.name: getattr(given, part.name) for part in fields(AuditSettings)})


def test_without_options_the_settings_are_those_of_python():
    assert settings_of() == AuditSettings()


def test_an_option_leaves_the_base_beside_it(tmp_path):
    settings = settings_of("--interval", "1d", "--epochs", "2", "--max-rmse-loss", "0.3")
    assert settings == AuditSettings.of(interval="1d", epochs=2, max_rmse_loss_db=0.3)


def test_a_file_stands_between_base_and_options(tmp_path):
    file = tmp_path / "audit.toml"
    file.write_text(
        '[audit]\nseeds = 5\ntarget = ["0"]\n[task]\ninterval = "1d"\n[training]\n'
        "learning_rate = 1e-3\n[dlg]\nstarts = 2\n"
    )
    settings = settings_of("--config", file, "--seeds", "4")
    assert settings == AuditSettings.of(
        seeds=4, target=["0"], interval="1d", learning_rate=1e-3, starts=2
    )


def test_an_audit_is_reported_in_words_and_written(capsys, file, tmp_path, monkeypatch):
    # A network that trains for a moment learns less than a constant.
    monkeypatch.setattr("veilmap.auditing.ranking.has_skill", lambda skill: True)
    out, _ = run(capsys, "audit", file, "--out", tmp_path / "a", *QUICK, "--min-home-error", "1")
    assert "little.parquet, cell a: 200 rows of 2 users" in out
    assert "km, clock of UTC, as the file says\n" in out
    assert "attacking 1 of 2 users (u0) in 4 runs\n" in out
    assert "\nfedavg: RMSE " in out
    assert "\nBaseline (fedavg): no attack does better than a guess that sees no message" in out
    words = " ".join(out.split())
    # Of a day and a half.
    one_night = "measurements between 22:00 and 07:00 on one night only at a main place"
    assert f"The cell's data name no home of the attacked user: {one_night}." in words
    assert "fedavg: RMSE" in words
    assert "heaviest place in most runs no nearer than a guess from others' places, 1" in words
    assert re.search(r"\nblind guess +[0-9]+ +[0-9]+ +\n", out)
    assert "On the frontier of RMSE and the error of the heaviest place: " in words
    assert "the attacker knew:\n  every update" in out
    assert "oracle, known to no real server:\n  the area is the bounding box" in out
    assert "To meet the bound (home error of at least 1 m in every run), use fedavg" in " ".join(
        out.split()
    )
    assert f"veilmap train {file} --map=network --interval=1d" in out
    assert f"wrote {tmp_path / 'a' / 'report.html'}" in out
    content = json.loads((tmp_path / "a" / "results.json").read_text())
    assert content["settings"]["resolved"]["configurations"][0] == "fedavg"
    again, _ = run(capsys, "audit", file, "--out", tmp_path / "a", *QUICK, "--redact")
    assert "removed 4 files with positions" in again
    assert "4 runs (4 cached)" in again
    assert "cores busy" in out
    assert "cores busy" not in again


NAMES = ("alice-77", "bob-88")


@pytest.fixture(scope="module")
def named_file(tmp_path_factory):
    """As above, by users whose names occur in no other word."""
    path = tmp_path_factory.mktemp("named") / "named.parquet"
    renamed(make_data(), dict(zip(("u0", "u1"), NAMES, strict=True))).write_parquet(path)
    return path


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--seeds", "1", "--targets", "2", "--figures", "--min-home-error", "1"], 0),
        (["--seeds", "1", "--target", "bob-88"], 0),
        (["--target", "carol"], 2),
        (["--target", "bob-88", "bob-88"], 2),
        (["--targets", "3"], 2),
        (["--defended", "bob-88"], 2),
        (["--defended", "carol"], 2),
        (["--broken", "carol=nan"], 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_redacted_audit_names_no_user_in_the_terminal(capsys, named_file, tmp_path, words, code):
    given = [*TINY, "--jobs", "1", "--redact", "--out", tmp_path / "a", *words]
    shown = run(capsys, "audit", named_file, *given, code=code)
    assert not [name for name in NAMES if name in "".join(shown)]
    assert code or "attacking " in shown[0]


@pytest.mark.parametrize("is_defended", [False, True])
def test_why_a_redacted_trial_failed_names_no_user(
    capsys, named_file, tmp_path, monkeypatch, is_defended
):
    """A baseline that fails ends the audit, another configuration that does not."""

    def fails(prepared, *given, **more):
        if bool(prepared.settings.protection.defence) is is_defended:
            raise UserError(f"user {NAMES[1]} sent nothing; choose one of: {', '.join(NAMES)}")
        return train_prepared(prepared, *given, **more)

    monkeypatch.setattr(run_trial, "train_prepared", fails)
    words = [*TINY, "--seeds", "1", "--jobs", "1", "--redact", "--out", tmp_path / "a"]
    shown = run(capsys, "audit", named_file, *words, code=0 if is_defended else 2)
    assert "user … sent nothing" in " ".join("".join(shown).split())
    assert not [name for name in NAMES if name in "".join(shown)]


def test_files_left_out_may_be_called_after_their_users(capsys, tmp_path):
    folder = tmp_path / "uploads"
    folder.mkdir()
    make_data().write_parquet(folder / "whole.parquet")
    (folder / "alice-77.csv").write_text("nothing")
    words = [folder, "--keep-going", "--timezone", "UTC", *QUICK, "--out", tmp_path / "a"]
    named = "".join(run(capsys, "audit", *words))
    assert "left out: 1 file: alice-77.csv: " in named
    redacted = "".join(run(capsys, "audit", *words, "--redact"))
    assert "left out: 1 file\n" in redacted
    assert "alice" not in redacted


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--configurations", "fedavg + divers"], "unknown defence 'divers'"),
        (["--target", "nobody"], "user 'nobody' has no measurement in cell a"),
        (["--seeds", "0"], "seeds must be at least 1, got 0"),
        (["--seeds", "1.5"], "--seeds must be a whole number, got '1.5'"),
        (["--targets", "2.5"], "--targets must be a whole number or all, got '2.5'"),
        (["--targets", "every"], "--targets must be a whole number or all, got 'every'"),
        (["--targets", "0"], "targets must be at least 1, got 0"),
        (["--jobs", "0"], "jobs must be at least 1, got 0"),
        (["--max-rmse-los", "1"], "max-rmse-loss"),
        (["--tiles", "foo"], "tiles must be a web address"),
        (
            ["--method", "search", "search"],
            "error: method names 'search' twice; leave",
        ),
    ],
)
def test_a_mistake_is_one_line_and_code_2(capsys, file, tmp_path, words, message):
    _, err = run(capsys, "audit", file, "--out", tmp_path / "a", *words, code=2)
    assert message in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "a").exists()


def test_a_broken_file_is_named(capsys, tmp_path):
    broken = tmp_path / "broken.csv"
    broken.write_text("user,cell,time,lat,lon,rsrp\n0,a,2024-01-01 10:00:00,51.5,-0.1,42\n")
    _, err = run(capsys, "audit", broken, "--out", tmp_path / "a", code=2)
    assert "broken.csv" in err
    assert not (tmp_path / "a").exists()
    _, err = run(capsys, "audit", tmp_path / "none.csv", "--out", tmp_path / "a", code=2)
    assert "there is no file" in err


def test_a_folder_of_something_else_is_refused_before_the_data_are_read(
    capsys, tmp_path, monkeypatch
):
    monkeypatch.setattr(command, "read_and_say", lambda *_: pytest.fail("data were read"))
    (tmp_path / "settings.json").write_text("{}")
    _, err = run(capsys, "audit", "campus", "--out", tmp_path, code=2)
    assert "holds a run or a transcript" in err


@pytest.mark.processes
@pytest.mark.parametrize(("presses", "jobs"), [(1, "1"), (3, "2")])
def test_ctrl_c_keeps_what_is_finished_and_the_same_command_resumes(file, tmp_path, presses, jobs):
    words = [
        sys.executable, "-m", "veilmap", "audit", str(file), "--out", str(tmp_path / "a"),
        *TINY, "--seeds", "60", "--jobs", jobs,
    ]  # fmt: skip
    # A session of its own, so that the interrupt reaches the workers as in a terminal.
    running = subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Tests that run in the background of a script inherit deaf ears.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 300
    while len(list(tmp_path.glob("a/trials/*.json"))) < 2 and running.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    for _ in range(presses):
        os.killpg(running.pid, signal.SIGINT)
        time.sleep(0.05)
    _, err = running.communicate(timeout=300)
    kept = len(list(tmp_path.glob("a/trials/*.json")))
    # A late one may find the interpreter on its way out.
    assert running.returncode in ((130,) if presses == 1 else (130, -signal.SIGINT)), err
    # The last one may be on the disk and not yet counted.
    assert err in [
        f"stopped; {counted} of 120 runs kept in {tmp_path / 'a'}; rerun the command to resume\n"
        for counted in (kept, kept - 1)
    ]
