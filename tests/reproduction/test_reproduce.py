import json

import pytest

from tests.conftest import make_measurements
from veilmap.errors import UserError
from veilmap.experiments.schedule import Progress
from veilmap.reproduction.labels import paper_specs
from veilmap.reproduction.reproduce import findings_of, reproduce

FEW = ("fig:all_comparison_1week", "fig:uci_stats_top_cells")


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """Every table and figure in its quick form."""
    folder = tmp_path_factory.mktemp("everything")
    return folder, reproduce(quick=True, out=folder, jobs=1)


def test_every_spec_runs_in_its_quick_form(everything):
    _, done = everything
    for label, figures in done.figures.items():
        # A rate of 0.1 diverges, in the paper too.
        why = [why for _, why in figures.failed if "diverged" not in why]
        assert not why, label
    assert [entry.label for entry in done.board.entries] == [s.label for s in paper_specs()]


def test_every_picture_of_every_spec_is_drawn(everything):
    folder, done = everything
    for spec, entry in zip(paper_specs(), done.board.entries, strict=True):
        assert len(entry.pictures) == len(spec.pictures), spec.label
        assert all((folder / name).read_bytes().startswith(b"\x89PNG") for name in entry.pictures)


def test_every_claim_is_about_a_figure_that_its_runs_have(everything):
    _, done = everything
    for spec in paper_specs():
        for claim in spec.claims:
            rows = done.figures[spec.label].rows(claim.table)
            assert any(row.figure(claim.rule.figure) is not None for row in rows), claim.says


def test_what_is_finished_is_not_run_again(everything):
    folder, done = everything
    begun, more = [], []
    progress = Progress(lambda *n: begun.append(n), lambda *each: more.append(each))
    again = reproduce(FEW, quick=True, out=folder, jobs=1, progress=progress)
    assert begun[0][0] == begun[0][1] > 0
    assert not more
    for label in FEW:
        ours, theirs = (each.figures[label] for each in (again, done))
        assert ours.rows() == theirs.rows()
        assert [keys for keys, _ in ours.runs] == [keys for keys, _ in theirs.runs]


def test_other_data_take_the_place_of_the_simulated(small_campus, tmp_path):
    done = reproduce(FEW, data=small_campus, quick=True, out=tmp_path / "other", jobs=1)
    assert done.board.data == small_campus.source
    content = json.loads((tmp_path / "other" / "results.json").read_text())
    assert {row["target"] for row in content["rows"]} == {small_campus.of_cell(None).users[0]}
    beside = reproduce(
        FEW, quick=True, out=tmp_path / "here", beside=tmp_path / "other", jobs=1
    ).board
    assert beside.beside == small_campus.source
    assert all(line.beside is not None for entry in beside.entries for line in entry.lines)


def test_a_role_that_no_user_has_is_reported_and_the_rest_continues(tmp_path):
    two = make_measurements(rows=400, users=2, step_s=3600.0)
    done = reproduce(("fig:radio_cell_x455_heatmap",), data=two, quick=True, jobs=1)
    assert any(
        "no user is background among the 2 users" in why
        for e in done.board.entries
        for why in e.failed
    )


def test_misuse_is_refused_with_a_way_out(tmp_path, small_campus):
    with pytest.raises(UserError, match="seeds must be at least 1, got 0"):
        reproduce(FEW, seeds=0)
    with pytest.raises(UserError, match="give those too"):
        reproduce(FEW, cell="x204")
    with pytest.raises(UserError, match="holds no finished reproduction"):
        reproduce(FEW, quick=True, beside=tmp_path)


def test_damaged_findings_are_one_line(tmp_path):
    content = {"settings": {"data": "campus"}, "claims": [{"label": "a", "says": "b"}]}
    (tmp_path / "results.json").write_text(json.dumps(content))
    with pytest.raises(
        UserError, match=r"results.json has claims that cannot be read .*run it again"
    ):
        findings_of(tmp_path)


def test_claims_are_judged_under_more_attacks_if_asked():
    labels = ("fig:EMD_random_examples", "fig:example_DLG_attack_1_week_batch")
    done = reproduce(labels, quick=True, also_under="learned:people=20", jobs=1)
    about_dlg, usual = done.board.entries
    assert "learned" in usual.lines[0].here.under
    assert "joint" in usual.lines[0].here.under
    assert not any("learned" in line.here.under for line in about_dlg.lines)
    assert usual.command.endswith("--also-under learned:people=20 --quick")
