import json

import pytest

from tests.cli.test_cli import loaded_by, run
from tests.map_quality.making import TINY_OPTIONS, make_field
from veilmap.map_quality.settings import MAPS


@pytest.fixture(scope="module")
def field_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("field") / "field.parquet"
    make_field(400).write_parquet(path)
    return path


def test_a_table_of_all_predictors_and_what_it_means(capsys, monkeypatch, field_file, tmp_path):
    monkeypatch.setenv("COLUMNS", "80")
    words = ("quality", field_file, "--seeds", 2, "--out", tmp_path / "out", *TINY_OPTIONS)
    out, _ = run(capsys, *words, "--threshold", "-100", "--split", "block", "--block", "150")
    lines = out.splitlines()
    assert lines[0] == "field.parquet, cell a: 400 rows, 2 users, block split, 2 seeds"
    heads = [line.split()[:2] for line in lines]
    for name in ("constant", "linear", "k-NN", "random", "gradient", "central"):
        assert sum(head[:1] == [name] for head in heads) == 2, out
    # Kriging alone states intervals, which have a table of their own.
    for name, tables in zip(MAPS, (2, 3), strict=True):
        assert sum(head == ["federated", name] for head in heads) == tables, out
    assert sum(line.startswith("noise floor ") for line in lines) == 1
    assert "finding the places below -100 dBm" in out
    assert "The best centralised map is " in out
    assert "protect it like the data" in lines[-1]
    assert all(len(line) <= 80 for line in lines if str(tmp_path) not in line)
    rows = json.loads((tmp_path / "out" / "results.json").read_text())["rows"]
    assert len(rows) == 2 * (6 + len(MAPS))
    assert (tmp_path / "out" / "quality.png").is_file()


def test_nothing_is_saved_without_a_folder(capsys, field_file):
    out, _ = run(capsys, "quality", field_file, "--seeds", 1, *TINY_OPTIONS)
    assert "nothing was saved; add --out DIR" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--split", "weekly"), "--split"),
        (("--maps", "atlas"), "unknown map 'atlas'; choose one of: network"),
        (("--seeds", "0"), "seeds must be a whole number of at least 1, got 0"),
        (("--seeds", "1.5"), "--seeds must be a whole number, got '1.5'"),
        (("--threshold", "nan"), "threshold_dbm must be a finite number of dBm, got nan"),
        (("--block", "-5"), "block_m must be a number of metres above 0"),
        (("--split", "block", "--block", "1e9"), "change --split, --block or --test-share"),
    ],
)
def test_wrong_options_end_in_one_line(capsys, field_file, words, message):
    _, error = run(capsys, "quality", field_file, *words, code=2)
    assert error.startswith("veilmap: error: ")
    assert message in error
    assert len(error.splitlines()) == 1


def test_a_finished_folder_is_refused_before_the_data_are_read(capsys, tmp_path):
    (tmp_path / "results.json").write_text("{}")
    _, error = run(capsys, "quality", "gone.csv", "--out", tmp_path, code=2)
    assert "holds a finished comparison; choose another --out or add --overwrite" in error


def test_the_help_loads_neither_scikit_learn_nor_matplotlib():
    modules, out = loaded_by("quality", "--help")
    assert modules & {"sklearn", "matplotlib", "torch"} == set()
    assert "--threshold" in out
