import pytest

from tests.cli.test_cli import run


def test_all_labels_are_listed(capsys):
    out, _ = run(capsys, "reproduce", "--list")
    assert "tab:radiocells" in out
    assert "label-start" in out


def test_a_quick_run_shows_claims_and_writes_the_board(capsys, tmp_path):
    folder = tmp_path / "r"
    out, _ = run(
        capsys, "reproduce", "fig:uci_stats_top_cells", "--quick", "--out", folder, "--jobs", "1"
    )
    assert "of 2 claims: 2 hold" in out
    assert "the longer T, the fewer rounds" in (folder / "board.md").read_text()
    assert (folder / "board.html").exists()
    assert (folder / "rows.parquet").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "no label given"),
        (("tab:radiocell",), "did you mean tab:radiocells?"),
        (("all", "--beside", "nowhere"), "nowhere holds no finished reproduction"),
    ],
)
def test_mistakes_end_with_one_line_and_code_2(capsys, arguments, says):
    _, err = run(capsys, "reproduce", *arguments, code=2)
    assert says in err
    assert len(err.splitlines()) == 1
