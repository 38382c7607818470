import os
import signal

import pytest
from flwr.supercore.run import RunStatus

from tests.flower.making import make_campaign
from veilmap.errors import UserError
from veilmap.flower import operating
from veilmap.flower.machines.private_files import held_privately
from veilmap.flower.machines.server_folder import ServerFolder
from veilmap.flower.operating import operate
from veilmap.flower.strategy import Assignment

COMPLETED, FAILED = RunStatus("finished", "completed", ""), RunStatus("finished", "failed", "why")
LOG = ("\x1b[92mINFO \x1b[0m:      \t├── x", "\x1b[92mINFO \x1b[0m:      round 1: 3 updates")


class Flower:
    """Runs that end as the test says, each with so many more finished rounds."""

    def __init__(self, monkeypatch):
        self.ends, self.gains, self.done, self.submitted, self.stopped = [], [], 0, 0, []
        monkeypatch.setattr(operating.runs, "submit", self.submit)
        monkeypatch.setattr(operating.runs, "status", lambda *_: self.ends.pop(0))
        monkeypatch.setattr(operating.runs, "follow", self.follow)
        monkeypatch.setattr(operating.runs, "stop", lambda _, run: self.stopped.append(run))
        monkeypatch.setattr(operating, "finished_rounds", lambda _: self.done)

    def submit(self, *_):
        self.submitted += 1
        return self.submitted

    def follow(self, *_):
        yield from LOG
        self.done += self.gains.pop(0) if self.gains else 0


@pytest.fixture
def flower(monkeypatch):
    return Flower(monkeypatch)


@pytest.fixture
def place(tmp_path):
    ServerFolder(tmp_path / "server").prepare(9093)
    return tmp_path / "server", Assignment(make_campaign().text, str(tmp_path / "out"))


def test_of_flowers_log_the_rounds_are_shown(flower, place):
    flower.ends = [COMPLETED]
    said = []
    operate(*place, said.append)
    assert said == ["round 1: 3 updates"]


def test_a_run_that_fails_is_started_again_while_it_gets_on(flower, place):
    flower.ends, flower.gains = [FAILED] * 5 + [COMPLETED], [0, 0, 1, 0, 0]
    said = []
    operate(*place, said.append)
    assert flower.submitted == 6
    assert "the run failed (why); restarting after round 1" in said


def test_a_run_that_fails_again_and_again_ends_with_its_reason(flower, place):
    flower.ends = [FAILED] * 9
    with pytest.raises(UserError, match="the run failed: why; rerun the command to resume from"):
        operate(*place, lambda _: None)
    assert flower.submitted == 3


def test_a_run_that_was_stopped_stays_stopped(flower, place):
    flower.ends = [RunStatus("finished", "stopped", "")]
    with pytest.raises(UserError, match="the run stopped: no reason given"):
        operate(*place, lambda _: None)
    assert flower.submitted == 1


def test_a_run_that_resumes_says_from_where(flower, place):
    flower.done, flower.ends = 7, [COMPLETED]
    said = []
    operate(*place, said.append)
    assert said[0] == "resuming after round 7"


def test_a_folder_in_which_a_run_works_is_refused_at_once(flower, place):
    with (
        held_privately(place[0].parent / "out", "test"),
        pytest.raises(UserError, match="in use by another run of veilmap"),
    ):
        operate(*place, lambda _: None)
    assert flower.submitted == 0


def test_without_a_server_nothing_is_written(flower, tmp_path):
    assignment = Assignment(make_campaign().text, str(tmp_path / "out"))
    with pytest.raises(UserError, match="holds no server; start one with: veilmap flower serve"):
        operate(tmp_path / "none", assignment, lambda _: None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_ended_stops_its_run(flower, place, monkeypatch, number):
    """Else the run would go on alone and hold the folder."""

    def follow(*_):
        os.kill(os.getpid(), number)
        yield from LOG

    monkeypatch.setattr(operating.runs, "follow", follow)
    before = signal.getsignal(number)
    said = []
    with pytest.raises(KeyboardInterrupt):
        operate(*place, said.append)
    assert flower.stopped == [1]
    assert said[0] == "stopping; finished rounds are kept"
    assert signal.getsignal(number) is before
