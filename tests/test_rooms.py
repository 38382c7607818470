"""The table of rooms in CONTRIBUTING.md is that of the tree."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src/veilmap"
# Both columns of the rows between the head of the table and its end.
ROWS = re.findall(
    r"^\| (`[^|]+) \| ([^|]+) \|$",
    (ROOT / "CONTRIBUTING.md").read_text().partition("| room | what it does |")[2],
    re.MULTILINE,
)


def names(text):
    return re.findall(r"`([\w*]+)`", text)


def test_every_room_has_one_row_and_every_row_a_room():
    in_tree = {
        path.stem
        for path in PACKAGE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    } - {"__init__", "__main__"}
    in_table = [room for rooms, _ in ROWS for room in names(rooms)]
    assert sorted(in_table) == sorted(in_tree)


@pytest.mark.parametrize(("rooms", "description"), ROWS)
def test_the_modules_that_a_row_names_are_in_its_room(rooms, description):
    missing = [
        module
        for module in names(description)
        if not any(is_in(PACKAGE / room, module) for room in names(rooms))
    ]
    assert missing == []


def is_in(room, module):
    return (room / module).is_dir() or any(room.glob(f"{module}.py"))
