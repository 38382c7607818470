from dataclasses import fields
from pathlib import Path

import pytest

from tests.flower.making import make_node
from veilmap.errors import UserError
from veilmap.flower.minimum import Minimum
from veilmap.flower.node_file import load_node_file

EXAMPLE = Path(__file__).parents[2] / "examples" / "flower" / "node.toml"


def test_the_example_says_what_the_defaults_are():
    settings = load_node_file(EXAMPLE)
    assert settings.minimum == Minimum()
    text = EXAMPLE.read_text()
    assert [field.name for field in fields(Minimum) if f"{field.name} =" not in text] == []


def test_every_line_of_the_example_that_is_left_out_can_be_put_in(tmp_path):
    """A commented setting that is misspelt would be found by the first who tries it."""
    text = EXAMPLE.read_text()
    path = tmp_path / "node.toml"
    path.write_text(
        "\n".join(
            line[2:] if line.startswith("# ") and "=" in line.split("#")[1] else line
            for line in text.splitlines()
        )
    )
    settings = load_node_file(path)
    assert settings.minimum.epsilon == 8
    assert settings.minimum.secure_aggregation
    assert settings.node.user == "0"


def test_paths_are_relative_to_the_file(tmp_path, monkeypatch):
    path = make_node(tmp_path)
    monkeypatch.chdir("/")
    place = load_node_file(path).node
    assert place.data == tmp_path / "all.parquet"
    assert place.folder == tmp_path / "u0"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"does not say where the measurements are; write \[node\] data"),
        (
            '[node]\ndata = "a"\nsever = "b"',
            "unknown setting 'node.sever'; did you mean 'node.server'",
        ),
        ('[node]\ndata = "a"\n[minimum]\nepochs = 0', "minimum.epochs must be at least 1, got 0"),
        ("[node", "is not TOML"),
        ("node = 5", r"does not say where the measurements are; write \[node\] data"),
    ],
)
def test_a_file_that_is_wrong_says_how_to_mend_it(tmp_path, text, message):
    path = tmp_path / "node.toml"
    path.write_text(text)
    with pytest.raises(UserError, match=message):
        load_node_file(path)
