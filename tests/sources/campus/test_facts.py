"""The default world beside what the paper says of its campus data (docs/campus.md)."""

import importlib.util
from pathlib import Path

import pytest

from veilmap.sources import campus

_PATH = Path(__file__).parents[3] / "examples" / "campus_facts.py"
_SPEC = importlib.util.spec_from_file_location("campus_facts", _PATH)
campus_facts = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(campus_facts)


@pytest.fixture(scope="module")
def found():
    return campus_facts.facts(campus_facts.Target.of(campus.simulate(), "x204"))


@pytest.mark.parametrize("fact", campus_facts.PUBLISHED)
def test_the_default_world_matches_the_published_fact(found, fact):
    _, low, high = campus_facts.PUBLISHED[fact]
    assert low <= found[fact] <= high


def test_the_target_is_user_0_and_has_a_second_cell():
    data = campus.simulate()
    target = data.keep(data.table["user"] == "0")
    assert target.cells[:2] == ["x204", "x355"]
    assert len(target.of_cell("x355")) > 5000


def test_the_docs_show_the_table_of_seed_0(found):
    page = (_PATH.parents[1] / "docs" / "campus.md").read_text()
    for fact, value in found.items():
        published = campus_facts.PUBLISHED[fact][0]
        assert f"| {fact} | {published} | {campus_facts.text(value)} |" in page
