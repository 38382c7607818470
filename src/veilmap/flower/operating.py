"""A run from the operator's side: start it, follow it, and resume it after failures."""

import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from veilmap.errors import UserError
from veilmap.flower.journal import finished_rounds
from veilmap.flower.machines import runs
from veilmap.flower.machines.private_files import held_privately
from veilmap.flower.machines.server_folder import ServerFolder
from veilmap.flower.server_app import Assignment

# How often a failing run is restarted without a finished round in between.
TRIES = 3
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
# The strategy's messages in Flower's log, after the level.
_OURS = re.compile(r"[A-Z]+\s*:\s+((?:round \d+|waiting).*)")
_FAILED = "failed"
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def operate(state: Path, assignment: Assignment, say: Callable[[str], None]) -> None:
    """Start the run and follow it to its end.

    Flower abandons a run whose server dies at the wrong moment, for example while requests are
    handed over. Restarted, it resumes after its last finished round.

    Args:
        state: the server's folder.
        assignment: the run's configuration.
        say: called with one line per round.

    Raises:
        UserError: the run was stopped elsewhere, or fails repeatedly.
        KeyboardInterrupt: it was stopped from here, by Ctrl-C or a signal to end.
    """
    ServerFolder(state).superlink()  # an error if there is no server
    out, vain = Path(assignment.out), 0
    with held_privately(out, "run of veilmap (veilmap flower stop ends it)"):
        done = finished_rounds(out)
    if done:
        say(f"going on after round {done}")
    while True:
        done = finished_rounds(out)
        ended = _followed(state, runs.submit(state, asdict(assignment)), say)
        if ended.completed:
            return
        vain = 0 if finished_rounds(out) > done else vain + 1
        if ended.outcome != _FAILED or vain == TRIES:
            raise UserError(
                f"the run {ended.outcome or 'ended'}: {ended.details or 'no reason given'}; the "
                f"same command goes on from what {out} holds; logs: {ServerFolder(state).logs}"
            )
        say(f"the run failed ({ended.details}); it goes on after round {finished_rounds(out)}")


def _followed(state: Path, run_id: int, say: Callable[[str], None]) -> runs.RunStatus:
    with _stopped_by_signals(state, run_id, say) as stopped:
        for line in runs.follow(state, run_id):
            if match := _OURS.match(_COLOURS.sub("", line)):
                say(match[1])
    if stopped:
        raise KeyboardInterrupt
    return runs.status(state, run_id)


@contextmanager
def _stopped_by_signals(
    state: Path, run_id: int, say: Callable[[str], None]
) -> Iterator[list[int]]:
    """While the block runs, a termination signal stops the run, which ends the block.

    Without it, ending the command or closing its terminal would leave the run going.
    """
    got: list[int] = []

    def stop(number: int, _: object) -> None:
        if not got:
            say("stopping; what is finished stays")
            runs.stop(state, run_id)
        got.append(number)

    before = {each: signal.signal(each, stop) for each in _ENDING}
    try:
        yield got
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
