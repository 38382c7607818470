from dataclasses import asdict

import pytest

from veilmap.auditing.folder import AuditFolder
from veilmap.errors import UserError
from veilmap.experiments.result import TrialResult
from veilmap.files import write_json


@pytest.fixture
def folder(tmp_path):
    """With a trial that has positions."""
    folder = AuditFolder(tmp_path / "audit")
    folder.trials.mkdir(parents=True)
    write(folder, "whole", {})
    (folder.trials / "whole.npz").write_bytes(b"positions")
    return folder


def write(folder, name, change):
    row = {"target": 0}
    content = {**asdict(TrialResult("a", 0)), "rows": [row], **change}
    write_json(folder.trials / f"{name}.json", {"layout": 1, "result": content})


def test_what_a_killed_audit_left_is_dropped_too(folder):
    (folder.trials / ".x.npz.77.part").write_bytes(b"positions")
    folder.figures.mkdir()
    (folder.figures / "where-x.pdf").write_bytes(b"positions")
    (folder.figures / "tradeoff-x.pdf").write_bytes(b"figures")
    folder.report.write_text("positions")
    assert folder.drop_positions() == 4
    assert [path.name for path in folder.figures.iterdir()] == ["tradeoff-x.pdf"]


def test_a_folder_of_something_else_is_refused(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(UserError, match="file is a file; choose a folder for --out"):
        hold(file)
    for name in ("settings.json", "model.safetensors", "transcript.json"):
        folder = tmp_path / name.partition(".")[0]
        folder.mkdir()
        (folder / name).write_text("{}")
        with pytest.raises(UserError, match="holds a run or a transcript"):
            hold(folder)


@pytest.mark.parametrize("name", ["report.html", "results.json"])
def test_files_of_others_are_not_taken_for_an_audits(tmp_path, name):
    (tmp_path / name).write_text("mine")
    with pytest.raises(UserError, match=f"has a {name} that is not an audit's"):
        hold(tmp_path)


def hold(path):
    with AuditFolder(path).held():
        pass


@pytest.mark.parametrize("change", [{"failed": "of u0"}, {"rows": [{"target": "7"}]}, {"seed": 1}])
def test_redaction_leaves_no_trial_that_may_name_a_user(folder, change):
    """Why it failed may name them, and so did those of earlier versions; the last is sound."""
    write(folder, "other", change)
    folder.drop_positions()
    assert (folder.trials / "other.json").exists() == ("seed" in change)
    assert (folder.trials / "whole.json").exists()


def test_a_trial_of_an_older_layout_that_names_a_user_goes_too(folder):
    for name, target in (("old", 0), ("oldest", "ann")):
        content = {**asdict(TrialResult("a", 0)), "rows": [{"target": target}]}
        write_json(folder.trials / f"{name}.json", content)
    folder.drop_positions()
    assert {file.stem for file in folder.trials.iterdir()} == {"whole", "old"}


def test_redaction_leaves_nothing_with_a_place(folder):
    names = ["report.html", "results.json", ".report.html.1.part", "figures/where-a.pdf"]
    names += ["figures/.where-a.pdf.1.part", "trials/.a.npz.1.part", "figures/rounds-a.png"]
    folder.figures.mkdir()
    for name in names:
        (folder.path / name).write_text("51.501")
    (folder.figures / "tradeoff-emd_paper.pdf").write_text("")
    assert folder.drop_positions() == len(names) + 1
    left = {path.name for path in folder.path.rglob("*") if path.is_file()}
    assert left == {"tradeoff-emd_paper.pdf", "whole.json"}
