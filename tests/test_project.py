"""What the project says of itself."""

import ast
import importlib
import re
import tomllib
from dataclasses import fields
from functools import reduce
from importlib.metadata import requires, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from veilmap.settings import parse
from veilmap.study.attack_settings import AttackSettings

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_between_the_pages_leads_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text())
    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []


def test_every_test_named_in_the_paper_map_exists():
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / "paper-map.md").read_text()))
    there = {
        node.name
        for path in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
    }
    assert named
    assert named - there == set()


def test_every_function_named_in_the_paper_map_exists():
    page = (ROOT / "docs" / "paper-map.md").read_text()
    names = set(re.findall(r"`([a-z_]+(?:\.\w+)+)`", page))
    found = {name for name in names if is_there(*f"veilmap.{name}".split("."))}
    assert {name for name in names - found if not name.endswith(".toml")} == set()


def is_there(*parts):
    """Whether the longest importable beginning of the dotted name has the rest as attributes."""
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        return reduce(lambda each, part: getattr(each, part, None), parts[end:], found) is not None
    return False


def test_at_most_45_distributions_are_installed_without_extras():
    """The dependencies of dependencies, as installed here, veilmap itself included."""
    found, waiting = set(), ["veilmap"]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        for text in requires(name) or []:
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(requirement.name.lower())
    assert all(version(name) for name in found)
    assert "torch" not in found
    assert len(found) <= 45


def test_the_attacks_tables_in_the_docs_hold_every_setting_with_its_default():
    page = (ROOT / "docs" / "audit.md").read_text()
    (block,) = (part for part in re.findall(r"```toml\n(.*?)```", page, re.S) if "[dlg]" in part)
    defaults = AttackSettings()
    assert parse(AttackSettings, tomllib.loads(block), "docs/audit.md") == defaults
    named = set(re.findall(r"^(?:# )?(\w+) =", block, re.M))
    parts = (defaults.dlg, defaults.search, defaults.heatmap)
    assert named == {setting.name for part in parts for setting in fields(part)}
