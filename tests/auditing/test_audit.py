import json
import re
import tomllib
from dataclasses import fields, replace
from html import unescape
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

import veilmap
from tests.auditing.making import ALL_ATTACKS, ON_NETWORKS, ON_SUMS, TINY, make_data, renamed
from veilmap.auditing.audit import audit
from veilmap.auditing.folder import AuditFolder
from veilmap.auditing.settings import AuditFile, AuditSettings
from veilmap.errors import UserError
from veilmap.experiments import schedule
from veilmap.experiments.schedule import Progress
from veilmap.settings import parse, plain
from veilmap.sources.columns import Columns


@pytest.fixture(scope="module")
def data():
    return make_data()


@pytest.fixture(scope="module")
def finished(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("audits") / "out"
    with every_map_has_skill():
        return audit(data, out=out, jobs=1, min_home_error_m=1.0, **TINY), out


def every_map_has_skill():
    """Networks that train for a moment learn less than a constant."""
    return patch("veilmap.auditing.ranking.has_skill", lambda skill: True)


def run(data, out, **given):
    """The audit, and which trials it had to run."""
    ran = []
    progress = Progress(on_trial=lambda trial, _: ran.append((trial.configuration, trial.seed)))
    found = audit(data, out=out, progress=progress, jobs=1, **{**TINY, **given})
    return found, ran


def without_seconds(table):
    return table.drop("seconds")


def test_the_tables_have_a_line_per_case(finished):
    found, out = finished
    assert found.rows.height == 2 * 2 * 2
    assert found.guesses["attack"].unique().sort().to_list() == ["blind", "prior"]
    assert found.guesses.height == found.rows.height
    assert found.configurations["configuration"].to_list() == list(TINY["configurations"])
    assert set(found.history.columns) >= {"round", "cosine", "distance_m", "norm", "bound_m"}
    assert isinstance(found.rows, pl.DataFrame)
    assert found.rows["home_error_m"].dtype == pl.Float64
    content = json.loads((out / "results.json").read_text())
    assert content["schema"] == 1
    assert len(content["rows"]) == found.rows.height
    assert content["verdict"]["headline"] == found.verdict.headline
    assert (out / "report.html").exists()


def test_maps_are_compared_each_under_the_attacks_that_read_it(data, tmp_path):
    given = {**ALL_ATTACKS, "configurations": ("fedavg", "kriging", "kriging + random:num=2")}
    found, ran = run(data, tmp_path, **{**given, "seeds": 1})
    assert ran == [(name, 0) for name in given["configurations"]]
    attacks = found.rows.group_by("configuration", maintain_order=True).agg("attack").rows()
    assert attacks == [
        ("fedavg", list(ON_NETWORKS)),
        ("kriging", list(ON_SUMS)),
        ("kriging + random:num=2", list(ON_SUMS)),
    ]
    assert "kriging" in (tmp_path / "report.html").read_text()


def test_the_same_call_runs_nothing_again(data, tmp_path):
    first, ran = run(data, tmp_path)
    assert len(ran) == 4
    again, ran = run(data, tmp_path)
    assert ran == []
    assert again.rows.equals(first.rows)
    assert again.verdict == first.verdict


def test_only_what_is_new_is_run(data, tmp_path):
    run(data, tmp_path)
    more = (*TINY["configurations"], "fedsgd")
    assert run(data, tmp_path, configurations=more, seeds=3)[1] == [
        ("fedavg", 2),
        ("fedavg + farthest:eps_m=50,num=5", 2),
        ("fedsgd:learning_rate=0.001", 0),
        ("fedsgd:learning_rate=0.001", 1),
        ("fedsgd:learning_rate=0.001", 2),
    ]


def test_other_settings_are_run_again(data, tmp_path):
    run(data, tmp_path)
    assert len(run(data, tmp_path, exact_m=0.5)[1]) == 4
    assert len(run(data, tmp_path, target=["u1"])[1]) == 4


def test_a_damaged_file_is_run_again(data, tmp_path):
    first, _ = run(data, tmp_path)
    file = sorted((tmp_path / "trials").glob("*seed1*.json"))[0]
    file.write_bytes(file.read_bytes()[:100])
    again, ran = run(data, tmp_path)
    assert len(ran) == 1
    assert without_seconds(again.rows).equals(without_seconds(first.rows))


def test_an_interrupt_keeps_what_is_finished(data, tmp_path):
    def interrupt(trial, result):
        if trial.seed == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        audit(data, out=tmp_path, jobs=1, progress=Progress(on_trial=interrupt), **TINY)
    assert len(list((tmp_path / "trials").glob("*.json"))) == 2
    assert not (tmp_path / "report.html").exists()
    assert len(run(data, tmp_path)[1]) == 2


@pytest.mark.processes
def test_an_interrupt_stops_the_workers_too(data, tmp_path):
    def interrupt(trial, result):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        audit(data, out=tmp_path, jobs=2, progress=Progress(on_trial=interrupt), **TINY)
    kept = len(list((tmp_path / "trials").glob("*.json")))
    assert 1 <= kept < 4
    assert len(run(data, tmp_path)[1]) == 4 - kept


@pytest.mark.processes
def test_the_number_of_jobs_changes_no_bit(data, finished):
    found, _ = finished
    parallel = audit(data, jobs=2, min_home_error_m=1.0, **TINY)
    for name in ("rows", "history"):
        one, two = getattr(found, name), getattr(parallel, name)
        assert without_seconds(one).equals(without_seconds(two))
    ours, theirs = (each.content.ground for each in (found, parallel))
    for key, own in ours.found.items():
        np.testing.assert_array_equal(own.cloud.lat_deg, theirs.found[key].cloud.lat_deg)


def test_two_targets_are_distinguished(data):
    found = audit(data, jobs=1, targets=2, **TINY)
    assert found.content.targets == ("u0", "u1")
    assert set(found.rows["target"]) == {"u0", "u1"}
    assert found.rows.height == 2 * 2 * 2 * 2
    assert "2 users" in found.verdict.headline
    assert {user for _, _, user in found.content.ground.found} == {"u0", "u1"}


def test_hostile_names_do_no_harm(data, tmp_path):
    names = {"u0": "../../u0", "u1": "</script><img src=x>"}
    found, _ = run(renamed(data, names), tmp_path / "out", targets=2)
    assert set(found.content.targets) == set(names.values())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]
    assert "</script><img" not in (tmp_path / "out" / "report.html").read_text()
    single, _ = run(renamed(data, names), tmp_path / "out", target=[names["u1"]])
    assert "&lt;/script&gt;" in single._repr_html_()
    assert "</script>" not in single._repr_html_()


def test_a_notebook_shows_words_and_table(finished):
    found, _ = finished
    html = found._repr_html_()
    assert found.verdict.headline in unescape(html)
    assert html.count("<tr>") == 5  # the guesses below
    assert "<td>heaviest place, m</td>" in html


def test_the_report_goes_anywhere(finished, tmp_path):
    found, _ = finished
    found.report(tmp_path / "page.html")
    assert "Baseline (fedavg): " in (tmp_path / "page.html").read_text()


def test_an_unknown_configuration_is_refused_before_anything_is_trained(data, monkeypatch):
    monkeypatch.setattr(schedule, "run_all", lambda *_: pytest.fail("something was trained"))
    given = {**TINY, "configurations": ("fedavg", "fedavg + divers")}
    with pytest.raises(UserError, match="configuration 'fedavg \\+ divers': unknown defence"):
        audit(data, **given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"target": ("z",)}, "user 'z' has no measurement in cell a; choose one of: u0, u1"),
        ({"targets": 3}, "targets must be at most 2, the users of cell a, got 3"),
        (
            {"configurations": ("fedavg", "fedavg + diverse (on z)")},
            r"'fedavg \+ diverse:eps_m=50 \(on z\)': user 'z' is to be defended and has no "
            "training data in the cell; choose one of: u0, u1",
        ),
        ({"targetz": 3}, "did you mean 'target'"),
    ],
)
def test_what_the_data_do_not_allow_is_refused(data, given, message):
    with pytest.raises(UserError, match=message):
        audit(data, **{**TINY, **given})


def test_settings_and_keywords_do_not_mix(data):
    with pytest.raises(
        UserError, match="only one of settings, keywords, got settings and keywords"
    ):
        audit(data, AuditSettings(), seeds=2)
    with pytest.raises(UserError, match="jobs must be at least 1, got 0"):
        audit(data, jobs=0)


def test_a_configuration_that_fails_is_reported_and_the_baseline_must_not(data):
    bad = "fedavg:learning_rate=1e6"
    told = []
    progress = Progress(on_message=told.append)
    found = audit(data, jobs=1, progress=progress, **{**TINY, "configurations": ("fedavg", bad)})
    assert told[-1].startswith("fedavg:learning_rate=1000000.0: no figures: training diverged")
    assert found.verdict.sentences[-1].startswith("fedavg:learning_rate=1000000.0 has no figures")
    with pytest.raises(UserError, match="the baseline configuration fedavg:learning_rate"):
        audit(data, jobs=1, **{**TINY, "configurations": (bad, "fedavg")})


def test_the_recommendation_is_marked_everywhere(finished):
    found, _ = finished
    name = found.verdict.advice.configuration
    marked = found.configurations.filter(pl.col("is_recommended"))["configuration"].to_list()
    assert marked == [name]
    assert re.match(r"veilmap train DATA ", found.verdict.advice.command)


def test_a_transcript_folder_is_refused_before_the_data_are_read(tmp_path):
    (tmp_path / "transcript.json").write_text("{}")
    with pytest.raises(UserError, match="holds a run or a transcript"):
        audit("nowhere.csv", out=tmp_path)


def test_the_package_offers_it():
    assert veilmap.audit is audit
    assert veilmap.AuditSettings is AuditSettings


def test_figures_are_written_for_print(data, tmp_path):
    run_it = {**TINY, "seeds": 1, "target": ("u0",)}
    audit(data, out=tmp_path, jobs=1, figures=True, **run_it)
    names = {path.name for path in AuditFolder(tmp_path).figures.iterdir()}
    assert {"tradeoff-home_error_m.pdf", "tradeoff-emd_paper.png"} <= names
    assert {"where-fedavg-target0.pdf", "rounds-fedavg-target0.png"} <= names
    for path in AuditFolder(tmp_path).figures.iterdir():
        magic = {".pdf": b"%PDF", ".png": b"\x89PNG"}[path.suffix]
        assert path.read_bytes().startswith(magic)


def test_figures_of_an_earlier_audit_go_and_those_of_others_stay(data, tmp_path):
    once = {**TINY, "seeds": 1, "target": ("u0",)}
    audit(data, out=tmp_path, jobs=1, **once)
    AuditFolder(tmp_path).figures.mkdir()
    for name in ("where-old-target0.pdf", "thesis.pdf"):
        (AuditFolder(tmp_path).figures / name).write_text("")
    audit(data, out=tmp_path, jobs=1, figures=True, **once)
    names = {path.name for path in AuditFolder(tmp_path).figures.iterdir()}
    assert "where-old-target0.pdf" not in names
    assert "thesis.pdf" in names


def test_the_recommended_configuration_is_the_one_drawn(data, tmp_path):
    given = {**TINY, "seeds": 1, "target": ("u0",), "max_rmse_loss_db": 0.0}
    with every_map_has_skill():
        found = audit(data, out=tmp_path, jobs=1, figures=True, **given)
    drawn = {path.name for path in AuditFolder(tmp_path).figures.glob("where-*.pdf")}
    assert f"where-{found.verdict.advice.configuration}-target0.pdf" in drawn
    assert len(drawn) == len({found.ranking.baseline.name, found.verdict.advice.configuration})


def test_the_theorems_are_computed_for_the_first_seed(finished):
    found, _ = finished
    known = {
        seed: [line.bound_m is not None for line in found.content.history if line.seed == seed]
        for seed in found.settings.seeds
    }
    assert all(known[0])
    assert not any(known[1])


def test_a_bad_address_of_tiles_is_refused_before_anything_is_trained(data, monkeypatch):
    monkeypatch.setattr(schedule, "run_all", lambda *_: pytest.fail("something was trained"))
    for tiles in ("foo", "https://t.example.org/{z}/{x}/{y}.png?key={key}"):
        with pytest.raises(UserError, match="tiles must be a web address"):
            audit(data, tiles=tiles, **TINY)


def test_seed_1_of_one_audit_is_seed_0_of_one_that_begins_there(data):
    one = audit(data, jobs=1, **{**TINY, "configurations": ("fedavg",)})
    two = audit(data, jobs=1, seed=1, **{**TINY, "configurations": ("fedavg",), "seeds": 1})
    later = one.rows.filter(pl.col("seed") == 1)
    assert without_seconds(later).equals(without_seconds(two.rows))


def test_the_settings_in_the_report_make_the_same_audit(data):
    columns = plain(Columns(user="the user's", cell_column="Zelle"))
    read_so = replace(data, read_with={"path": "x.csv", "columns": columns})
    found = audit(read_so, jobs=1, **{**TINY, "seeds": 1, "targets": 2})
    given = parse(AuditFile, tomllib.loads(found.content.made.settings_toml), "file")
    assert given.columns == Columns(user="the user's", cell_column="Zelle")
    assert (given.task.cell, given.audit.target) == ("a", ("u0", "u1"))
    again = AuditSettings(
        **{part.name: getattr(given, part.name) for part in fields(AuditSettings)}
    )
    assert audit(data, again, jobs=1).rows.drop("seconds").equals(found.rows.drop("seconds"))
