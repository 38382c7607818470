import json
import re
from dataclasses import replace

import pytest

from tests.cli.test_cli import fresh, run
from tests.study.foreign_attacks import install
from veilmap.cli import main
from veilmap.cli.attack import verdict
from veilmap.metrics.scores import Scores

SMALL = [
    *("--map", "network", "--hidden", "16", "--activations", "relu", "--dropout", "0"),
    *("--interval", "1d", "--label-offset", "none", "--batch-size", "inf", "--epochs", "1"),
]
QUICK = ["--max-iterations", "50", "--grid-cells", "50", "--finest", "100"]


@pytest.fixture(scope="module")
def run_folder(campus_file, tmp_path_factory):
    folder = tmp_path_factory.mktemp("attack") / "run"
    main(["train", str(campus_file), *SMALL, "--out", str(folder)])
    return folder


def test_attack_shows_a_column_per_method_and_says_what_is_an_oracle(capsys, run_folder, tmp_path):
    out, _ = run(capsys, "attack", run_folder, "--out", tmp_path / "a", *QUICK)
    assert "dlg search first_layer heatmap joint" in " ".join(out.split())
    assert "blind prior" in " ".join(out.split())
    assert "prior knows besides where other people are: the squares where " in out
    assert "user 0: " in out
    assert "oracle, known to no real server: area, scaler" in out
    assert "EMD in the paper's unit" in out
    assert "protect them like the data" in out
    content = json.loads((tmp_path / "a" / "results.json").read_text())
    attacks = [row["attack"] for row in content["rows"]]
    assert attacks == ["dlg", "search", "first_layer", "heatmap", "joint"]
    assert [row["attack"] for row in content["guesses"]] == ["blind", "prior"]


def test_methods_are_named_with_commas_and_the_runs_folder_is_the_default(capsys, run_folder):
    run(capsys, "attack", run_folder, "--method", "first_layer, search")
    content = json.loads((run_folder / "attack" / "results.json").read_text())
    assert [row["attack"] for row in content["rows"]] == ["first_layer", "search"]
    _, error = run(capsys, "attack", run_folder, "--method", "first_layer", code=2)
    assert "holds results already; choose another --out or add --overwrite" in error
    run(capsys, "attack", run_folder, "--method", "first_layer", "--overwrite")


def test_an_attack_of_an_installed_package_is_found_by_name(
    capsys, run_folder, tmp_path, monkeypatch
):
    install(tmp_path, corner="tests.study.foreign_attacks:Corner")
    monkeypatch.syspath_prepend(tmp_path)
    out, _ = run(
        capsys, "attack", run_folder, "--out", tmp_path / "c", "--plot",
        "--method", "search,corner:depth=3,knows=true,first_layer",
    )  # fmt: skip
    rows = json.loads((tmp_path / "c" / "results.json").read_text())["rows"]
    names = [row["attack"] for row in rows]
    assert names == ["search", "corner:depth=3,knows=True", "first_layer"]
    assert re.search(r"cosine, median +0\.\d{4} +- +0\.\d{4}", out)
    assert "corner:depth=3,knows=True does no better than a guess that sees no message" in out


def test_old_names_work_and_a_line_says_the_new_ones(capsys, run_folder, tmp_path):
    old = ("--method", "neurons,heatmap", "--cells", "20", "--finest=200")
    _, error = run(capsys, "attack", run_folder, "--out", tmp_path / "n", *old)
    assert error.splitlines() == [
        "veilmap: warning: --cells is deprecated; use --grid-cells",
        "veilmap: warning: the method neurons is deprecated; use first_layer",
    ]
    settings = json.loads((tmp_path / "n" / "results.json").read_text())["settings"]
    assert settings["who"]["method"] == ["first_layer", "heatmap"]
    assert settings["heatmap"]["grid_cells"] == 20


def test_plot_draws_what_the_methods_allow(capsys, run_folder, tmp_path):
    out, _ = run(capsys, "attack", run_folder, "--out", tmp_path / "p", "--plot", *QUICK)
    drawn = {path.name for path in (tmp_path / "p").glob("*.png")}
    clouds = {"heatmap.png", "heatmap-first_layer.png", "heatmap-joint.png"}
    assert drawn == {"whereabouts.png", "rounds.png", "path.png", *clouds}
    assert all(f"wrote {tmp_path / 'p' / name}" in out for name in drawn)
    run(capsys, "attack", run_folder, "--out", tmp_path / "q", "--plot", "--method", "search")
    drawn = {path.name for path in (tmp_path / "q").glob("*.png")}
    assert drawn == {"whereabouts.png", "rounds.png"}


def test_the_options_of_each_method_reach_it(capsys, run_folder, tmp_path):
    options = [
        *("--start", "grid", "--starts", "3", "--optimiser", "sgd", "--attack-rate", "5"),
        *("--still", "0.5", "--circling", "2", "--label", "-80", "--weights", "after", "--inside"),
        *("--linearise", "middle", "--sign", "one", "--secure-aggregation", "--seed", "3"),
    ]
    run(capsys, "attack", run_folder, "--out", tmp_path / "o", *QUICK, *options)
    content = json.loads((tmp_path / "o" / "results.json").read_text())
    settings = content["settings"]
    assert settings["dlg"]["start"] == "grid"
    assert settings["dlg"]["still_m"] == 0.5
    assert settings["dlg"]["circling_m"] == 2
    assert settings["dlg"]["label_dbm"] == -80
    assert settings["search"]["inside"] is True
    assert settings["heatmap"]["linearise"] == "middle"
    assert settings["who"]["secure_aggregation"] is True
    assert {row["target"] for row in content["rows"]} == {"the sum of all users"}
    assert sum(line["attack"] == "dlg" for line in content["history"]) == 3 * sum(
        line["attack"] == "search" for line in content["history"]
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--method", "dgl"],
            "unknown attack 'dgl'; choose one of: dlg, search, first_layer, heatmap",
        ),
        (["--method", ","], "method is empty; choose one or more of: dlg"),
        (["--target", "nobody"], "there is no user 'nobody' in the transcript; choose one of: "),
        (["--starts", "0"], "starts must be above 0, got 0"),
        (["--finest", "-1"], "finest_m must be above 0 metres, got -1.0"),
        (["--optimiser", "newton"], "optimiser"),
        (["--data", "nowhere.csv"], "there is no file 'nowhere.csv'"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(capsys, run_folder, tmp_path, options, message):
    _, error = run(capsys, "attack", run_folder, "--out", tmp_path / "x", *options, code=2)
    assert message in error
    assert error.count("\n") == 1
    assert "Traceback" not in error
    assert not (tmp_path / "x").exists()


def test_something_that_is_no_run_is_refused(capsys, tmp_path):
    _, error = run(capsys, "attack", tmp_path / "nothing", code=2)
    assert "does not exist; give the folder" in error
    _, error = run(capsys, "attack", tmp_path, code=2)
    assert "holds neither a finished run nor a transcript" in error


@pytest.mark.processes
def test_without_pictures_no_plotting_library_is_loaded(run_folder, tmp_path):
    code = (
        "import sys\nfrom veilmap.cli import main\n"
        f"main(['attack', {str(run_folder)!r}, '--out', {str(tmp_path / 'n')!r}, "
        "'--method', 'first_layer'])\nassert 'matplotlib' not in sys.modules"
    )
    done = fresh("-c", code)
    assert done.returncode == 0, done.stderr


def test_an_attack_found_nothing_only_if_no_place_is_near():
    lost = Scores(rounds=3, emd_m=400.0, nearest_m=300.0, home_error_m=500.0)
    guesses = {"blind": lost, "prior": replace(lost, emd_m=410.0)}
    nothing = "dlg does no better than a guess that sees no message"
    assert verdict("dlg", lost, guesses) == nothing
    assert verdict("dlg", replace(lost, nearest_m=20.0), guesses).endswith(
        "but 20 m from a place where the user was (a guess: 300 m)"
    )
    assert verdict("dlg", replace(lost, home_error_m=9.0), guesses).endswith(
        "but 9 m from home (a guess: 500 m)"
    )
    assert verdict("dlg", replace(lost, emd_m=100.0), guesses) is None
    assert verdict("dlg", replace(lost, nearest_m=None), guesses) == nothing
    assert verdict("dlg", Scores(rounds=3), {"blind": Scores(rounds=3)}) is None


def test_iterations_are_shown_of_every_attack_that_has_some(
    capsys, run_folder, tmp_path, monkeypatch
):
    (tmp_path / "site").mkdir()
    install(tmp_path / "site", drift="tests.study.foreign_attacks:Drift")
    monkeypatch.syspath_prepend(tmp_path / "site")
    options = ("--out", tmp_path / "a", "--method", "drift,search")
    out, _ = run(capsys, "attack", run_folder, *options)
    assert re.search(r"iterations, mean +3 +- +- +-\n +ran out of them +0% +- +- +-\n", out)
