import pytest
from flwr.common.config import parse_config_args

from veilmap.errors import UserError
from veilmap.flower.machines import node, preflight
from veilmap.flower.machines.certificates import obtain
from veilmap.flower.machines.node import Admission, join, write_config
from veilmap.flower.machines.ports import Address
from veilmap.flower.machines.preflight import PreflightResult
from veilmap.flower.node_file import NodeSettings

SERVER = Address("server.example", 9092)


@pytest.mark.parametrize("content", [None, "", "something else"])
def test_what_is_no_ca_is_refused(tmp_path, content):
    ca = tmp_path / "ca.pem"
    if content is not None:
        ca.write_text(content)
    with pytest.raises(UserError, match=r"ca\.pem is not a CA certificate; ask the operator"):
        join(
            NodeSettings(tmp_path / "data.csv", certificate=ca, folder=tmp_path / "node"), {}, print
        )
    assert not (tmp_path / "node").exists()


def test_values_reach_flower_as_they_were_given(tmp_path):
    given = {"data": 'a "quoted" = file\\.csv', "min-points": "5", "of.dots": "x"}
    assert parse_config_args([str(write_config(tmp_path, given))]) == given


@pytest.fixture
def porter(tmp_path, monkeypatch):
    """A porter with prepared answers and a clock that stands still; gives what he said."""
    answers, said, clock = [], [], [100.0]
    monkeypatch.setattr(node, "ask_admission", lambda _, last: answers.pop(0))
    monkeypatch.setattr(node.time, "monotonic", lambda: clock[0])
    return make_porter(tmp_path, said.append), answers, said, clock


def make_porter(folder, say):
    door = preflight.ServerAccess(SERVER, obtain(folder / "keys", []).ca, None)
    return Admission(door, folder / "node.key", folder, say)


def test_a_node_that_is_not_let_in_asks_on_with_a_growing_pause_and_says_so_once(porter):
    """5, 10, 20, 40, 60, 60 s."""
    asking, answers, said, clock = porter
    answers += [(PreflightResult.NOT_ADMITTED, None)] * 7
    asked_at = []
    for _ in range(196):
        before = len(answers)
        assert not asking.lets_in()
        if len(answers) < before:
            asked_at.append(clock[0] - 100)
        clock[0] += 1
    assert asked_at == [0, 5, 15, 35, 75, 135, 195]
    assert len(said) == 1
    assert "veilmap flower admit STATE FILE.pub" in said[0]
    assert "node.key.pub" in said[0]


def test_another_answer_is_said_and_starts_with_the_short_pause(porter):
    asking, answers, said, clock = porter
    answers += [(PreflightResult.UNREACHABLE, None)] * 2 + [
        (PreflightResult.NOT_ADMITTED, None),
        (PreflightResult.ADMITTED, 7),
    ]
    for seconds in (5, 10, 5, 0):
        asking.lets_in()
        clock[0] += seconds
    assert [line.split(":")[0] for line in said[:2]] == ["server.example"] * 2
    assert said[2] == "joined server.example:9092 as node 7"


def test_the_id_is_kept_for_the_next_start(tmp_path, monkeypatch):
    last_ids = []

    def ask_admission(_, last_id):
        last_ids.append(last_id)
        return PreflightResult.ADMITTED, 7

    monkeypatch.setattr(node, "ask_admission", ask_admission)
    for _ in range(2):
        assert make_porter(tmp_path, print).lets_in()
    assert last_ids == [None, 7]
