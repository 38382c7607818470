"""Small programs in place of Flower's."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.flower.machines.loopback import LIMIT_S
from veilmap.flower.machines import supervision
from veilmap.flower.machines.supervision import Children, Program, stop_signals

PROGRAMS = """
import os, signal, subprocess, sys, time
def sleep():
    print("asleep", os.getpid(), flush=True); time.sleep(1000)
def die():
    print("\\x1b[91mdying\\x1b[0m", flush=True); sys.exit(3)
def tell():
    print("veilmap: hear me", flush=True); time.sleep(1000)
def deaf():
    signal.signal(signal.SIGTERM, signal.SIG_IGN); sleep()
def parent():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    print("child", child.pid, flush=True); time.sleep(1000)
"""


@pytest.fixture
def environment(tmp_path):
    (tmp_path / "small_programs.py").write_text(PROGRAMS)
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}


@pytest.fixture
def start(environment, tmp_path):
    """Starts small programs by their names; gives the children and what they said."""

    def start(*names, **options):
        programs = [Program(name, f"small_programs:{name}", (), **options) for name in names]
        said = []
        return Children(programs, environment, tmp_path / "logs", said.append), said

    return start


def until(condition, children=None):
    end = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < end, "waited too long"
        if children is not None:
            children.tend()
        time.sleep(0.02)


def gone(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


def log(tmp_path, name) -> str:
    path = tmp_path / "logs" / f"{name}.log"
    return path.read_text() if path.exists() else ""


def test_a_program_that_dies_is_said_and_started_again_after_a_growing_pause(start):
    children, said = start("die")
    with children:
        until(lambda: len(said) == 3, children)
    pauses = [line.split("restarts in ")[1].split(" s")[0] for line in said]
    assert pauses == ["0.5", "1", "2"]
    assert said[0].startswith("die ended with code 3")


def test_output_goes_into_the_log_without_its_colours(start, tmp_path):
    children, _ = start("die")
    with children:
        until(lambda: log(tmp_path, "die"), children)
    assert log(tmp_path, "die") == "dying\n"


def test_a_line_for_the_caller_reaches_him(start):
    children, said = start("tell")
    with children:
        until(lambda: said, children)
    assert said == ["hear me"]


def test_a_process_that_is_not_ready_is_not_started(start, tmp_path):
    children, _ = start("sleep", ready=lambda: False)
    with children:
        for _ in range(5):
            children.tend()
        assert not children.all_run
    assert log(tmp_path, "sleep") == ""


def test_leaving_the_block_ends_all_and_what_they_started(start, tmp_path):
    children, _ = start("parent", "sleep")
    with children:
        until(lambda: log(tmp_path, "parent") and log(tmp_path, "sleep"), children)
        assert children.all_run
    pids = [int(log(tmp_path, name).split()[1]) for name in ("parent", "sleep")]
    until(lambda: all(map(gone, pids)))


def test_a_process_that_does_not_react_is_killed(start, tmp_path, monkeypatch):
    monkeypatch.setattr(supervision, "TIME_TO_END_S", 0.5)
    children, _ = start("deaf")
    with children:
        until(lambda: log(tmp_path, "deaf"), children)
    assert gone(int(log(tmp_path, "deaf").split()[1]))


def test_children_end_when_their_parent_is_killed(environment, tmp_path):
    code = (
        "import os, sys, time; from pathlib import Path\n"
        "from veilmap.flower.machines.supervision import Children, Program\n"
        "children = Children([Program('sleep', 'small_programs:sleep', ())], os.environ,\n"
        "                    Path(sys.argv[1]), print)\n"
        "while True: children.tend(); time.sleep(0.05)"
    )
    command = [sys.executable, "-c", code, tmp_path / "logs"]
    with subprocess.Popen(command, env=environment) as parent:
        until(lambda: log(tmp_path, "sleep"))
        parent.kill()
    until(lambda: gone(int(log(tmp_path, "sleep").split()[1])))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_stops_and_the_old_handler_comes_back(number):
    before = signal.getsignal(number)
    with stop_signals() as stop:
        assert not stop.is_set()
        os.kill(os.getpid(), number)
        assert stop.wait(5)
    assert signal.getsignal(number) is before


def test_outside_the_main_thread_signals_are_left_alone():
    before = signal.getsignal(signal.SIGTERM)

    def elsewhere():
        with stop_signals():
            assert signal.getsignal(signal.SIGTERM) is before

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
