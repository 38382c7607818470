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

KILLS = 8  # of every command
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
    began = time.monotonic()
    assert cli(arguments(name, jobs=2), undisturbed).returncode == 0
    takes_s, wanted = time.monotonic() - began, contents(undisturbed)
    draw, there, kept = stream(0, "kill", name), contents(place), []
    while len(kept) < KILLS:
        here = shutil.copytree(place, tmp_path / "here")
        for _ in range(IN_A_ROW):
            if not killed(name, here, takes_s * draw.uniform(0.2, 1)):
                takes_s *= 0.8  # the machine had other work when this was measured
                break
            kept.append(len(differing(contents(here), there)))
        ended = cli(arguments(name, jobs=2), here)
        assert is_done(ended.returncode, ended.stderr), ended.stderr
        assert differing(contents(here), wanted) == []
        shutil.rmtree(here)
    files = f"{kept} of {len(differing(wanted, there))}"
    print(f"\n{name}: {len(kept)} kills; new or other files after each: {files}")


def killed(name, place, after_s):
    """Start the command, and kill it and its workers unless it ends before; whether they were."""
    command = subprocess.Popen(
        [sys.executable, "-m", "veilmap", *arguments(name, jobs=2)],
        cwd=place,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with suppress(subprocess.TimeoutExpired):
        command.wait(after_s)
    with suppress(ProcessLookupError):
        os.killpg(command.pid, signal.SIGKILL)
    return command.wait() == -signal.SIGKILL
