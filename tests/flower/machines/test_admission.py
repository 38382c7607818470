import pytest

from veilmap.errors import UserError
from veilmap.flower.machines.admission import read_names


def test_names_are_read_and_none_are_none(tmp_path):
    assert read_names(tmp_path) == {}
    (tmp_path / "nodes.json").write_text('{"7": "a"}')
    assert read_names(tmp_path) == {7: "a"}


@pytest.mark.parametrize("content", ["", "[]", '{"x": "a"}', '{"7": '])
def test_a_damaged_list_of_nodes_is_one_line(tmp_path, content):
    (tmp_path / "nodes.json").write_text(content)
    with pytest.raises(UserError, match=r"nodes.json is not a list of nodes .*; restore it"):
        read_names(tmp_path)
