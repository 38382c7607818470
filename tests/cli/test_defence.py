import json

import pytest

from tests.cli.test_cli import SMALL, run

TWO_STEPS = ("farthest:eps=50,num=7", "dp:epsilon=100")


def test_a_defended_run_tells_what_the_phones_did_and_is_attacked(capsys, campus_file, tmp_path):
    out, _ = run(
        capsys, "train", campus_file, "--defence", *TWO_STEPS, *SMALL, "--out", tmp_path / "run"
    )
    assert "farthest:eps_m=50,num=7, then dp:epsilon=100" in out
    assert "epsilon nominal 100, delta 1e-05, rounds 11, epsilon one round 300.1" in out
    farthest, dp = json.loads((tmp_path / "run" / "results.json").read_text())["defences"]
    assert farthest["points"] == pytest.approx(7, abs=1)
    assert dp["figures"]["noise_std"] == pytest.approx(0.0484, abs=1e-4)
    out, _ = run(capsys, "attack", tmp_path / "run", "--method", "first_layer")
    assert "fedavg + farthest:eps_m=50,num=7 + dp:epsilon=100 + centre" in out


def test_a_settings_file_may_hold_the_defence(capsys, campus_file, tmp_path):
    config = tmp_path / "my.toml"
    config.write_text('[protection]\ndefence = ["diverse:eps_m=20"]\ndefended = ["0"]\n')
    out, _ = run(capsys, "train", campus_file, *SMALL, "--config", config)
    assert "diverse:eps_m=20 on the phones of 0" in out
    out, _ = run(
        capsys, "train", campus_file, *SMALL, "--config", config, "--defence", "random:num=3"
    )
    assert "random:num=3 on the phones of 0" in out


def test_a_round_of_fewer_points_than_asked_for_is_no_secret(capsys, campus_file):
    out, _ = run(capsys, "train", campus_file, *SMALL, "--defence", "farthest:num=100000")
    assert "turns had too few points and kept all of them, so nothing is hidden" in out
    out, _ = run(capsys, "train", campus_file, *SMALL, "--defence", "farthest:num=1")
    assert "nothing is hidden" not in out


def test_a_budget_for_fewer_rounds_than_there_were_is_no_secret(capsys, campus_file):
    out, _ = run(capsys, "train", campus_file, *SMALL, "--defence", "dp:true_epsilon=8")
    assert "not 8: a user took part 11 times; give rounds=11" in out
    out, _ = run(capsys, "train", campus_file, *SMALL, "--defence", "dp:true_epsilon=8,rounds=11")
    assert "a user took part" not in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--defence", "fartest"], "unknown defence 'fartest'; choose one of: diverse, farthest"),
        (["--defence", "diverse:eps=0"], "eps_m must be a finite number of metres above 0, got 0"),
        (["--defence", "diverse:eps=nan"], "eps_m must be a finite number of metres above 0"),
        (["--defence", "dp:epsilon=1", "diverse"], "write dp last"),
        (
            ["--defence", "geoind", "--cumulative"],
            "move the points of earlier rounds again and again",
        ),
        (["--defended", "0"], "say how with --defence"),
        (["--defence"], "--defence has no value after it"),
        (["--defence", "diverse", "--defended", "x"], "choose one of: "),
    ],
)
def test_a_mistaken_defence_is_one_line_and_exit_code_2(capsys, campus_file, options, message):
    _, errors = run(capsys, "train", campus_file, *SMALL, *options, code=2)
    assert message in errors
    assert errors.count("\n") == 1


def test_one_place_is_reported_as_one_place(capsys, campus_file):
    out, _ = run(capsys, "train", campus_file, *SMALL, "--defence", "farthest:eps=50,num=1")
    assert "lie in one place, which the server can read off" in out


def test_a_defence_that_leaves_nothing_is_reported(capsys, campus_file):
    nothing = "diverse:min_points=100000,noise=drop"
    out, _ = run(capsys, "train", campus_file, *SMALL, "--defence", nothing, "dp:epsilon=1")
    assert "no phone sent anything" in out
    assert "no better than a constant" not in out


def test_a_user_without_a_defence_is_reported(capsys, campus_file, tmp_path):
    options = ("--defence", "diverse", "--defended", "0", "--out", tmp_path / "run")
    run(capsys, "train", campus_file, *SMALL, *options)
    out, _ = run(capsys, "attack", tmp_path / "run", "--method", "first_layer", "--target", "2")
    assert "this user does not use the defence" in out
    out, _ = run(
        capsys,
        "attack",
        tmp_path / "run",
        "--method",
        "first_layer",
        "--target",
        "0",
        "--overwrite",
    )
    assert "does not use the defence" not in out
