"""Killed at any time with all its workers, a command that is run again comes to the same bits."""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from tests.killing.commands import (
    COMMANDS,
    OLD_RUN,
    arguments,
    cli,
    contents,
    differing,
    environment,
    is_done,
    make_place,
)
from veilmap.streams import stream

KILLS = 8  # of every command, before it is finished
IN_A_ROW = 4  # before it may end


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    made = make_place(tmp_path_factory.mktemp("killing") / "place")
    assert cli(OLD_RUN, made).returncode == 0
    return made


@pytest.mark.faults
@pytest.mark.parametrize("name", COMMANDS)
def test_killed_at_any_time_it_comes_to_the_same_bits(place, tmp_path, name):
    undisturbed = shutil.copytree(place, tmp_path / "undisturbed")
    takes_s = work_s(name, undisturbed, 3600)
    wanted, there = contents(undisturbed), contents(place)
    draw, kept = stream(0, "kill", name), []
    while len(kept) < KILLS:
        here = shutil.copytree(place, tmp_path / "here")
        for _ in range(IN_A_ROW):
            work_s(name, here, takes_s * draw.uniform())
            if differing(contents(here), wanted) == []:
                takes_s *= 0.8  # the machine had other work when this was measured
                break
            kept.append(len(differing(contents(here), there)))
        ended = cli(arguments(name, jobs=2), here)
        assert is_done(ended.returncode, ended.stderr), ended.stderr
        assert differing(contents(here), wanted) == []
        shutil.rmtree(here)
    files = f"{kept} of {len(differing(wanted, there))}"
    print(f"\n{name}: {len(kept)} kills; new or other files after each: {files}")


def work_s(name, place, most_s):
    """Seconds from when the command holds its place to its end; after ``most_s`` all are killed."""
    command = subprocess.Popen(
        [sys.executable, "-m", "veilmap", *arguments(name, jobs=2)],
        cwd=place,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    # One that was killed leaves its lock behind; the next takes it.
    for lock in place.rglob("*.lock"):
        lock.unlink()
    while command.poll() is None and not any(place.rglob("*.lock")):
        time.sleep(0.005)
    began = time.monotonic()
    with suppress(subprocess.TimeoutExpired):
        command.wait(most_s)
    with suppress(ProcessLookupError):
        os.killpg(command.pid, signal.SIGKILL)
    command.wait()
    return time.monotonic() - began
