import pytest

from tests.flower.making import make_campaign
from veilmap.errors import UserError
from veilmap.flower import operating
from veilmap.flower.machines.runs import RunStatus
from veilmap.flower.operating import operate
from veilmap.flower.server_app import Assignment

COMPLETED, FAILED = RunStatus("finished", "completed", ""), RunStatus("finished", "failed", "why")


@pytest.fixture
def flower(monkeypatch):
    """Runs that end as the test says, each after some finished rounds."""
    ends, rounds, submitted = [], [], []
    monkeypatch.setattr(operating.runs, "submit", lambda *_: submitted.append(1) or len(submitted))
    monkeypatch.setattr(operating.runs, "status", lambda *_: ends.pop(0))
    log = "\x1b[92mINFO \x1b[0m:      round 1: 3 updates of 60 points"
    monkeypatch.setattr(operating.runs, "follow", lambda *_: iter(["\x1b[92mINFO \x1b[0m: x", log]))
    monkeypatch.setattr(operating, "finished_rounds", lambda _: rounds.pop(0))
    return ends, rounds, submitted


def make(tmp_path):
    return tmp_path, Assignment(make_campaign().text, str(tmp_path / "out"))


def test_of_flowers_log_the_rounds_are_told(tmp_path, flower):
    ends, rounds, _ = flower
    ends += [COMPLETED]
    rounds += [0]
    said = []
    operate(*make(tmp_path), said.append)
    assert said == ["round 1: 3 updates of 60 points"]


def test_a_run_that_fails_is_started_again_while_it_gets_on(tmp_path, flower):
    ends, rounds, submitted = flower
    ends += [FAILED, FAILED, FAILED, FAILED, COMPLETED]
    rounds += [0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]
    said = []
    operate(*make(tmp_path), said.append)
    assert len(submitted) == 5
    assert "the run failed (why); it goes on after round 1" in said


def test_a_run_that_fails_again_and_again_ends_with_its_reason(tmp_path, flower):
    ends, rounds, submitted = flower
    ends += [FAILED] * 9
    rounds += [0] * 30
    with pytest.raises(UserError, match="the run failed: why; the same command goes on"):
        operate(*make(tmp_path), lambda _: None)
    assert len(submitted) == 3


def test_a_run_that_somebody_stopped_stays_stopped(tmp_path, flower):
    ends, rounds, submitted = flower
    ends += [RunStatus("finished", "stopped", "")]
    rounds += [0] * 9
    with pytest.raises(UserError, match="the run stopped: no reason given"):
        operate(*make(tmp_path), lambda _: None)
    assert len(submitted) == 1
