import pytest

from tests.sweeping.making import make_row
from veilmap.experiments.result import TrialResult
from veilmap.reproduction.board import Board, BoardEntry, BoardLine, Finding, findings, paper_text
from veilmap.reproduction.markdown import board_markdown
from veilmap.sweeping.claims import claim_of
from veilmap.sweeping.decision import ClaimOutcome
from veilmap.sweeping.spec import Data, Spec
from veilmap.sweeping.spec_result import SpecResult

CLAIM = claim_of(
    {
        "says": "EMD rises with eps",
        "kind": "rises",
        "figure": "emd_paper",
        "along": "eps_m",
        "where": {},
    }
)
NUMBERS = ({"eps_m": 1, "emd_paper": 9.61}, {"eps_m": 50, "emd_paper": 14.52})
SPEC = Spec("tab:x", "A table", "", Data(), (), NUMBERS, (CLAIM,))


def run_of(eps_m, seed, **emd):
    rows = tuple(make_row(name, seed, emd_paper=value) for name, value in emd.items())
    return {"name": "Diverse", "eps_m": eps_m}, TrialResult("fedavg", seed, rows)


def figures_of(**by_attack):
    """Per attack the EMD at eps 1 and at eps 50, seed by seed."""
    seeds = range(len(next(iter(by_attack.values()))))
    runs = [
        run_of(eps_m, seed, **{name: pairs[seed][i] for name, pairs in by_attack.items()})
        for seed in seeds
        for i, eps_m in enumerate((1, 50))
    ]
    return SpecResult(tuple(runs))


def test_the_paper_s_own_attack_decides_and_the_others_stand_beside_it():
    figures = figures_of(dlg=[(7, 9), (7, 9.2), (7, 9.4)], search=[(9, 7), (9, 6.8), (9, 7.1)])
    (found,) = findings(SPEC, figures)
    assert found.outcome is ClaimOutcome.HOLDS
    assert found.under == {"search": ClaimOutcome.FAILS}
    assert found.values == "by eps: 7.0 → 9.2 √m"
    assert found.effect.startswith("+2.2 (")
    assert found.effect.endswith("3 seeds")


def test_the_paper_s_numbers_go_the_same_way_as_ours():
    assert paper_text(CLAIM, SPEC) == "by eps: 9.6 → 14.5 √m"


def test_a_claim_without_published_numbers_is_reported_in_words():
    spec = Spec("fig:x", "", "", Data(), ())
    claim = claim_of(
        {
            "says": "s",
            "kind": "at_most",
            "figure": "rmse_db",
            "where": {},
            "bound": 1,
            "paper": "low",
        }
    )
    assert paper_text(claim, spec) == "low"


def test_a_finding_survives_its_way_through_json():
    found = Finding(ClaimOutcome.FAILS, "1 against 2", "-1", {"search": ClaimOutcome.HOLDS})
    assert Finding.read(found.as_dict()) == found
    assert Finding.read(found.as_dict() | {"values": [1], "effect": None}).values == "[1]"


@pytest.mark.parametrize("beside", [None, "chania"])
def test_the_page_has_every_claim_its_numbers_and_its_verdicts(beside):
    judged = {"search": ClaimOutcome.FAILS, "joint": ClaimOutcome.HOLDS}
    here = Finding(ClaimOutcome.HOLDS, "7 → 9 √m", "+2", judged)
    there = Finding(ClaimOutcome.UNDECIDED, "5 → 6 √m", "+1", {})
    line = BoardLine("EMD rises", "9.6 → 14.5", "why so", here, there if beside else None)
    entry = BoardEntry("tab:x", "A table", "", (line,), ("x.png",), "veilmap …", 2, 3.0, ("boom",))
    text = board_markdown(Board((entry,), "the simulation", beside, 5, "a machine", 60.0), "img/")
    (row,) = [each for each in text.splitlines() if each.startswith("| EMD rises")]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    middle = ["5 → 6 √m", "+1", "? undecided"] if beside else []
    under = ["✗", "✓"]
    assert cells == ["EMD rises", "9.6 → 14.5", "7 → 9 √m", "+2", "✓ holds", *middle, *under]
    assert "| verdict | search | joint |" in text
    assert "![A table](img/x.png)" in text
    assert "- EMD rises: why so" in text
    assert "boom" in text
    assert "of 1 claim: 1 holds." in text
