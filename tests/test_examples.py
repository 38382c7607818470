"""The example scripts, on little data."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import make_measurements

ROOT = Path(__file__).parents[1]


def test_the_study_of_defences_prints_tables_and_goes_on_where_it_was(little_file, tmp_path):
    command = [
        sys.executable, ROOT / "examples" / "defences.py", little_file, "--target", "0",
        "--interval", "1w", "--schemes", "fedsgd", "--defences", "", "diverse:eps_m=50",
        "--seeds", "1", "--jobs", "1", "--out", tmp_path / "rows.jsonl", "--plot", tmp_path / "p",
    ]  # fmt: skip
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    assert done.returncode == 0, done.stderr
    assert "| diverse:eps_m=50 | " in done.stdout
    assert "| diverse:eps_m=50 above plain | " in done.stdout
    assert (tmp_path / "p-fedsgd.png").read_bytes().startswith(b"\x89PNG")
    rows = (tmp_path / "rows.jsonl").read_text()
    assert len([json.loads(line) for line in rows.splitlines()]) == 8
    again = subprocess.run(command, capture_output=True, text=True)
    assert again.stdout == done.stdout
    assert (tmp_path / "rows.jsonl").read_text() == rows
    subprocess.run([*command, "--drop-invalid"], capture_output=True, check=True)
    assert len((tmp_path / "rows.jsonl").read_text().splitlines()) == 16


def test_an_audit_from_python_prints_words_and_tables(tmp_path):
    make_measurements().write_parquet(tmp_path / "little.parquet")
    command = [
        sys.executable, ROOT / "examples" / "audit.py", tmp_path / "little.parquet", "--seeds", "1",
        "--interval", "1d", "--configurations", "fedsgd", "fedsgd + dp:epsilon=100",
        "--report", tmp_path / "report.html",
    ]  # fmt: skip
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("As it is (fedsgd:learning_rate=0.001), ")
    assert "veilmap train " in done.stdout
    assert "is_on_frontier" in done.stdout
    assert (tmp_path / "report.html").exists()
