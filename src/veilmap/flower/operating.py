"""A run from the operator's side: start it, follow it, and resume it after failures."""

import re
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from flwr.common.constant import SubStatus
from flwr.supercore.run import RunStatus

from veilmap.errors import UserError
from veilmap.flower.journal import finished_rounds
from veilmap.flower.machines import runs
from veilmap.flower.machines.private_files import held_privately
from veilmap.flower.machines.server_folder import ServerFolder
from veilmap.flower.machines.supervision import COLOUR, on_stop_signals
from veilmap.flower.strategy import Assignment

# How often a failing run is restarted without a finished round in between.
TRIES = 3
# The strategy's messages in Flower's log, after the level.
_OURS = re.compile(r"[A-Z]+\s*:\s+((?:round \d+|waiting).*)")


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
        say(f"resuming after round {done}")
    while True:
        done = finished_rounds(out)
        ended = _followed(state, runs.submit(state, asdict(assignment)), say)
        if ended.sub_status == SubStatus.COMPLETED:
            return
        vain = 0 if finished_rounds(out) > done else vain + 1
        if ended.sub_status != SubStatus.FAILED or vain == TRIES:
            raise UserError(
                f"the run {ended.sub_status or 'ended'}: {ended.details or 'no reason given'}; "
                f"rerun the command to resume from {out}; logs: {ServerFolder(state).logs}"
            )
        say(f"the run failed ({ended.details}); restarting after round {finished_rounds(out)}")


def _followed(state: Path, run_id: int, say: Callable[[str], None]) -> RunStatus:
    stopped = threading.Event()

    def stop(*_: object) -> None:
        """Without it, ending the command or closing its terminal would leave the run going."""
        if not stopped.is_set():
            say("stopping; finished rounds are kept")
            runs.stop(state, run_id)
        stopped.set()

    with on_stop_signals(stop):
        for line in runs.follow(state, run_id):
            if match := _OURS.match(COLOUR.sub("", line)):
                say(match[1])
    if stopped.is_set():
        raise KeyboardInterrupt
    return runs.status(state, run_id)
