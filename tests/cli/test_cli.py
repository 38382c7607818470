import io
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import make_measurements
from tests.sources import fakes
from veilmap.cli import console, main
from veilmap.cli.console import visible

LAYERS = ["--hidden", "16", "--activations", "tanh", "--dropout", "0.05"]
DAILY = ["--interval", "1d"]
SMALL = ["--map", "network", *LAYERS, *DAILY]


def run(capsys, *arguments, code=0):
    """Run a command in this process; gives its output and its errors."""
    try:
        main([str(argument) for argument in arguments])
        reached = 0
    except SystemExit as stop:
        reached = stop.code or 0
    captured = capsys.readouterr()
    assert reached == code, captured.err
    return captured.out, captured.err


def fresh(*arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "100", **environment},
    )


def loaded_by(*arguments):
    """The modules that a command has loaded when it is done, and what it printed."""
    code = (
        "import sys, veilmap\nfrom veilmap.cli import main\n"
        f"try: main({[str(each) for each in arguments]!r})\nexcept SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = fresh("-c", code)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split()), done.stdout


def test_help_loads_only_the_parser():
    modules, out = loaded_by("--help")
    slow = {"torch", "matplotlib", "polars", "scipy", "optuna", "numpy", "pydantic", "pyproj"}
    assert modules & (slow | {"importlib.metadata"}) == set()
    assert "train" in out


def test_inspect_loads_nothing_that_only_training_needs(campus_file):
    modules, out = loaded_by("inspect", campus_file)
    assert modules & {"torch", "scipy", "matplotlib", "optuna", "numba", "jinja2"} == set()
    assert "densest: user " in out


def test_version(capsys):
    import veilmap

    assert run(capsys, "--version")[0].strip() == veilmap.__version__


def test_inspect_shows_the_facts(capsys, campus_file, small_campus):
    out, _ = run(capsys, "inspect", campus_file)
    assert f"{len(small_campus):,}" in out
    assert "densest: user " in out
    for interval in ("1h", "3h", "1d", "1w"):
        assert f"\n{interval} " in out


@pytest.fixture
def uploads(tmp_path):
    """Two logs of 40 scans, one of 3G alone, one cut off, and a page about them."""
    gsm = '<gsmserving mcc="234" mnc="10" lac="1" id="7" ss="-60" act="UMTS"/>'
    members = {
        "a.xml": fakes.radiocells(40),
        "b.xml": fakes.radiocells(40, first=50, model="Pixel"),
        "c.xml": fakes.radiocells(3, serving=gsm),
        "cut.xml": fakes.radiocells(3)[:-30],
        "README": b"Logs of 2024",
    }
    return fakes.zipped(tmp_path / "uploads.zip", members)


def test_inspect_names_the_format_and_what_it_left_out(capsys, uploads, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    out, _ = run(capsys, "inspect", uploads, "--keep-going")
    words = " ".join(out.split())
    assert "format Radiocells, 3 files" in words
    assert "left out 2 of 5 files: cut.xml: broken XML at line" in words
    assert "README: not a table: it has a single column" in words
    assert "passed over 83 with a neighbouring cell 3 with another radio technology (UMTS)" in words
    assert "rows 80 " in words


def test_a_broken_member_is_one_line_with_the_way_out(capsys, uploads):
    _, err = run(capsys, "inspect", uploads, code=2)
    assert err.startswith("veilmap: error: uploads.zip: cut.xml is broken XML at line ")
    assert err.endswith("--keep-going reads the others\n")
    assert err.count("\n") == 1


def test_train_says_what_it_left_out(capsys, uploads, tmp_path):
    options = ["--keep-going", "--interval", "1h", "--split", "random"]
    out, _ = run(capsys, "train", uploads, *options, "--cell", "53762", "--out", tmp_path / "run")
    assert "dropped: 3 with another radio technology (UMTS)\n" in out
    assert "left out: 2 files: cut.xml: broken XML" in out
    data = json.loads((tmp_path / "run" / "settings.json").read_text())["data"]
    assert data["files_left_out"] == 2


def test_train_then_map(capsys, campus_file, tmp_path):
    out, _ = run(capsys, "train", campus_file, *DAILY, "--out", tmp_path / "run", "--past")
    assert "RMSE" in out
    assert "the constant (mean) baseline" in out
    assert "burst split" in out
    results = json.loads((tmp_path / "run" / "results.json").read_text())
    assert out.count("\nround  ") == results["rows"][0]["rounds"]
    for kind, name in (("geotiff", "map.tif"), ("geojson", "map.geojson"), ("png", "map.png")):
        out, _ = run(capsys, "map", tmp_path / "run", "--format", kind)
        assert (tmp_path / "run" / name).stat().st_size > 1000
        assert "EPSG:32611" in out


def test_a_finished_run_is_kept_unless_overwritten(capsys, campus_file, tmp_path):
    arguments = ("train", campus_file, *DAILY, "--out", tmp_path)
    run(capsys, *arguments)
    before = (tmp_path / "results.json").read_bytes()
    _, err = run(capsys, *arguments, code=2)
    assert "holds a finished run" in err
    run(capsys, "train", tmp_path / "nothing.csv", "--out", tmp_path, "--overwrite", code=2)
    assert (tmp_path / "results.json").read_bytes() == before
    run(capsys, *arguments, "--overwrite")


def test_a_gpu_that_is_not_there_is_missed_before_the_data_are_read(capsys, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    _, err = run(capsys, "train", "nothing.csv", "--device", "cuda", code=2)
    assert "device 'cuda' needs a GPU that torch can use" in err


def test_a_settings_file_lies_under_the_options(capsys, campus_file, tmp_path):
    config = tmp_path / "run.toml"
    config.write_text(
        '[task]\nmap = "network"\ninterval = "1d"\nseed = 5\nlabel_offset_dbm = -90\n'
        '[training]\nepochs = 2\nbatch_size = "inf"\n'
        '[model]\nhidden = [8]\nactivations = ["tanh"]\ndropout = [0.0]\n'
        '[reading]\nsince = "2017-02-10"\n'
    )
    out_folder = tmp_path / "run"
    run(capsys, "train", campus_file, "--config", config, "--epochs", "3", "--out", out_folder)
    settings = json.loads((out_folder / "settings.json").read_text())
    assert settings["training"]["epochs"] == 3
    assert settings["training"]["batch_size"] == "inf"
    assert settings["task"]["seed"] == 5
    assert settings["resolved"]["label_offset_dbm"] == -90
    assert settings["model"]["hidden"] == [8]
    assert settings["data"]["read_with"]["reading"] == {
        "since": "2017-02-10",
        "drop_invalid": False,
        "keep_going": False,
    }


def test_a_tuned_model_wins_over_the_config_and_loses_to_an_option(capsys, campus_file, tmp_path):
    model, config = tmp_path / "model.toml", tmp_path / "config.toml"
    model.write_text("[training]\nlearning_rate = 0.02\nepochs = 2\n")
    config.write_text("[training]\nlearning_rate = 0.03\nbatch_size = 50\n")
    run(capsys, "train", campus_file, *SMALL, "--config", config, "--model", model,
        "--epochs", "1", "--out", tmp_path / "run")  # fmt: skip
    training = json.loads((tmp_path / "run" / "settings.json").read_text())["training"]
    assert (training["learning_rate"], training["batch_size"], training["epochs"]) == (0.02, 50, 1)


def test_a_settings_file_with_an_unknown_key_is_refused(capsys, campus_file, tmp_path):
    config = tmp_path / "run.toml"
    config.write_text("[training]\nepoch = 2\n")
    _, err = run(capsys, "train", campus_file, "--config", config, code=2)
    assert "unknown setting 'training.epoch'; did you mean 'training.epochs'?" in err


def test_columns_may_be_named_in_the_settings_file(capsys, tmp_path):
    rows = ["who;where;when;north;east;strength"]
    rows += [f"a;1;2024-03-0{day} 10:00:0{s};51.5;-0.1;-9{s}" for day in (1, 2) for s in range(9)]
    (tmp_path / "odd.csv").write_text("\n".join(rows))
    (tmp_path / "odd.toml").write_text(
        '[columns]\nuser = "who"\ncell_column = "where"\ntime = "when"\n'
        'lat = "north"\nlon = "east"\nsignal = "strength"\n'
    )
    out, _ = run(capsys, "inspect", tmp_path / "odd.csv", "--config", tmp_path / "odd.toml")
    assert "densest: user a in cell 1, 18 measurements" in out
    options = "--user who --cell-column where --time when --lat north --lon east --signal strength"
    out, _ = run(capsys, "inspect", tmp_path / "odd.csv", *options.split())
    assert "18 measurements" in out


def test_tune_writes_what_train_takes(capsys, campus_file, tmp_path):
    tuned = tmp_path / "tuned.toml"
    out, _ = run(capsys, "tune", campus_file, "--interval", "1d", "--epochs", "1",
                 "--batch-size", "200", "--trials", "2", "--out", tuned)  # fmt: skip
    assert "best of 2 trials" in out
    run(capsys, "train", campus_file, "--model", tuned, "--out", tmp_path / "run")
    settings = json.loads((tmp_path / "run" / "settings.json").read_text())
    assert settings["task"]["map"] == "network"
    assert f"hidden = {settings['model']['hidden']}" in tuned.read_text()


def test_inspect_draws_and_says_what_the_pictures_show(capsys, campus_file, tmp_path):
    out, _ = run(capsys, "inspect", campus_file, "--plot", tmp_path / "pictures")
    for name in ("map", "users", "top-cells", "similarity"):
        path = tmp_path / "pictures" / f"{name}.png"
        assert f"wrote {path}\n" in out
        assert path.read_bytes().startswith(b"\x89PNG")
    assert out.endswith("these pictures show where people were; protect them like the data\n")


def test_inspect_draws_the_sound_rows_of_a_file_with_bad_ones(capsys, tmp_path):
    rows = ["user,cell,time,lat,lon,rsrp", "u,7,2024-03-01 10:00:00,51.5,-0.1,-96"]
    (tmp_path / "bad.csv").write_text("\n".join([*rows, "u,7,2024-03-01 10:00:01,51.5,-0.1,99"]))
    out, _ = run(capsys, "inspect", tmp_path / "bad.csv", "--plot", tmp_path)
    assert "1 with signal at or above 0 dBm" in out
    assert (tmp_path / "map.png").exists()


def test_inspect_without_pictures_loads_no_plotting_library(campus_file):
    code = (
        "import sys\nfrom veilmap.cli import main\nmain(['inspect', sys.argv[1]])\n"
        "sys.exit('matplotlib' in sys.modules)"
    )
    done = fresh("-c", code, campus_file)
    assert done.returncode == 0, done.stderr
    assert "densest: user " in done.stdout


def test_simulate_takes_the_parameters_of_the_campus(capsys, tmp_path):
    small = ["--users", "2", "--days", "9", "--cells", "4"]
    out, _ = run(capsys, "simulate", "campus", *small, "--out", tmp_path / "c.parquet")
    assert "measurements of 2 users in" in out


def test_simulate_writes_what_inspect_reads(capsys, tmp_path):
    run(capsys, "simulate", "campus", "--seed", "1", "--out", tmp_path / "campus.parquet")
    out, _ = run(capsys, "inspect", tmp_path / "campus.parquet")
    assert "users     7" in out


MISTAKES = {
    "no file": (["inspect", "nothing.csv"], "there is no file 'nothing.csv'"),
    "no run": (["map", "nothing"], "there is no run nothing"),
    "interval": (["train", "campus", "--interval", "1x"], "cannot read the interval '1x'"),
    "epochs": (["train", "campus", "--epochs", "0"], "epochs must be from 1 to 100,000, got 0"),
    "fraction": (["train", "campus", "--epochs", "2.5"], "--epochs must be a whole number"),
    "half a batch": (
        ["train", "campus", "--batch-size", "2.5"],
        "--batch-size must be a whole number or inf, got '2.5'",
    ),
    "out is a file": (["train", "campus", "--out", __file__], "is a file; choose a folder"),
    "no folder": (["simulate", "campus", "--out", "/proc/x/y.parquet"], "cannot write /proc/x/y"),
    "type": (["train", "campus", "--epochs", "many"], "many"),
    "option": (["train", "campus", "--epoch", "3"], "--epochs"),
    "command": (["trian"], "train"),
    "layers": (["train", "campus", "--hidden", "3"], "one entry per hidden layer"),
    "huge": (["train", "campus", "--hidden", "200000", "200000"], "40,001,000,001 weights"),
    "csv": (["simulate", "campus", "--out", "x.csv"], "name the file x.parquet"),
    "trials": (["tune", "campus", "--trials", "0"], "trials must be at least 1"),
}


BROKEN_FILES = {
    "empty.csv": b"",
    "empty.csv.gz": b"",
    "binary.csv": bytes(range(256)) * 9,
    "delimiter.csv": b"user time lat lon\n1 2 3 4\n",
    "column.csv": b"user,time,lat,lon\n1,2024-01-01,3,4\n",
    "rows.csv": b"user,cell,time,lat,lon,rsrp\n1,1,2024-01-01,0,0,-90\n",
    "one.csv": b"user,cell,time,lat,lon,rsrp\n1,1,2024-01-01,50,5,-90\n",
}


@pytest.mark.parametrize("name", BROKEN_FILES)
def test_a_broken_file_is_exit_code_2_and_one_line(capsys, tmp_path, name):
    (tmp_path / name).write_bytes(BROKEN_FILES[name])
    _, err = run(capsys, "train", tmp_path / name, code=2)
    assert err.startswith("veilmap: error: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_exit_code_2_and_no_traceback(capsys, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments, message = MISTAKES[name]
    _, err = run(capsys, *arguments, code=2)
    assert message in err
    assert "Traceback" not in err


def test_names_with_brackets_and_colons_are_printed_as_they_are(capsys, tmp_path):
    rows = ["user,cell,time,lat,lon,rsrp"]
    rows += [
        f"[/x]:smile:,[bold]c,{1709287200 + 60 * i},51.{i:03d},0.1,-9{i % 10}" for i in range(99)
    ]
    (tmp_path / "odd.csv").write_text("\n".join(rows))
    assert "user [/x]:smile: in cell [bold]c" in run(capsys, "inspect", tmp_path / "odd.csv")[0]
    options = ["--split", "random", "--interval", "1h"]
    assert "cell [bold]c" in run(capsys, "train", tmp_path / "odd.csv", *options)[0]


def test_a_terminal_without_greek_letters_is_no_reason_to_stop(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "ascii", write_through=True))
    main(["train", "--help"])
    assert b"--learning-rate" in sys.stdout.buffer.getvalue()


def test_an_interrupt_is_one_line(monkeypatch, capsys):
    from veilmap.cli import train as command

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "read_and_say", interrupt)
    _, err = run(capsys, "train", "campus", code=130)
    assert err == "veilmap: interrupted; finished files are complete\n"


def test_the_readmes_python_runs(monkeypatch, tmp_path):
    """On little data, one seed and one configuration."""
    make_measurements(rows=400, step_s=3600.0).write_parquet(tmp_path / "little.parquet")
    code = (Path(__file__).parents[2] / "README.md").read_text().split("```python\n")[1]
    code = code.partition("```")[0]
    less = {
        '"campus"': '"little.parquet"',
        "seeds=3": "seeds=1, configurations=['fedavg']",
        "min_home_error_m=300": "min_home_error_m=30",
    }
    for told, instead in less.items():
        assert code.count(told) == 1
        code = code.replace(told, instead)
    (tmp_path / "readme.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    runpy.run_path("readme.py")
    assert (tmp_path / "map.tif").exists()


def test_what_would_steer_the_terminal_is_spelled_out(capsys, tmp_path):
    header, row = "user,cell,time,lat,lon,rsrp", "\x1b[31mred,7,2024-03-01 10:00:00,51.5,-0.1,-96"
    path = tmp_path / "ansi.csv"
    path.write_text(f"{header}\n{row}\n")
    out, _ = run(capsys, "inspect", path)
    assert "\x1b" not in out
    assert "user \\x1b[31mred in cell 7" in out
    _, err = run(capsys, "train", path, "--cell", "\x1b[31m", "--out", tmp_path / "run", code=2)
    assert "\x1b" not in err


def test_an_endless_value_is_shown_by_its_beginning(capsys):
    _, err = run(capsys, "train", "campus", "--activations", "x" * 5000, code=2)
    assert f'"{"x" * 254}… for --activations. Choose from: "relu"' in err
    _, err = run(capsys, "audit", "campus", "--defended", "x" * 5000, code=2)
    assert len(err) < 500
    folder = "/".join(["y" * 200] * 3)
    _, err = run(capsys, "train", folder, code=2)
    assert folder in err


def test_pictures_need_a_folder(capsys, campus_file, tmp_path):
    taken = tmp_path / "taken"
    taken.write_text("mine")
    out, err = run(capsys, "inspect", campus_file, "--plot", taken, code=2)
    assert "taken is a file; name a folder for the pictures" in err
    assert out == ""


def test_marks_that_turn_the_direction_of_writing_are_spelled_out():
    assert visible("a\u202egpj\u2066\x1b[31m\n") == "a\\u202egpj\\u2066\\x1b[31m\n"


def test_columns_that_do_not_fit_follow_in_tables_below(capsys, monkeypatch):
    monkeypatch.setattr(console, "stdout", type(console.stdout)(width=36, highlight=False))
    rows = [["home error, m", "12", "34", "56"], ["EMD, m", "1", "2", "3"]]
    console.print_side_by_side(rows, "", "a" * 8, "b" * 8, "c" * 8)
    one, other = capsys.readouterr().out.split("\n\n")
    assert [line.split()[-2:] for line in one.splitlines()[1:]] == [["12", "34"], ["1", "2"]]
    assert [line.split()[-1] for line in other.splitlines()] == ["c" * 8, "56", "3"]
    assert "error, m" in other
