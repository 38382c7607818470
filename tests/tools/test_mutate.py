"""What ``make mutants`` changes."""

import ast
from pathlib import Path
from runpy import run_path

import pytest

ROOT = Path(__file__).parents[2]
TOOL = run_path(str(ROOT / "tools/mutate.py"))


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("a < b == c", ["a <= b == c", "a >= b == c", "a < b != c"]),
        ("a and b", ["a or b"]),
        ("a ** b", ["a * b"]),
        ("not a", ["a"]),
        ("-a", ["a"]),
        ("3", ["4", "2"]),
        ("0.5", ["1.0", "0.25"]),
        ("True", ["False"]),
        ("'mean'", ["'XX'"]),
        ("None", []),
        ("a if b else c", ["a if not b else c"]),
        ("min(a, key=b)", ["max(a, key=b)", "min(a)"]),
        ("f(a, strict=True)", []),
    ],
)
def test_an_expression_becomes_each_of_its_near_relatives(text, others):
    node = ast.parse(text, mode="eval").body
    assert [ast.unparse(new) for new in TOOL["changed"](node)] == others


def test_every_mutant_has_a_name_and_a_code_of_its_own():
    found = list(TOOL["mutants"](ROOT / "src/veilmap/metrics/recall.py"))
    assert len({each.name for each in found}) == len({each.code for each in found}) == len(found)
    inside = [each.function for each in found if each.function]
    assert {name for name, _ in inside} == {"recall", "home_error_m", "work_error_m"}
