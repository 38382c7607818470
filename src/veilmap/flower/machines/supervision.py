"""Processes that are started, watched, restarted, and ended together."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from logging import makeLogRecord
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import FrameType
from typing import IO

from veilmap.flower.machines.private_files import private_folder

Say = Callable[[str], None]

# A line of a process that begins with this goes to the caller, not only to the log.
REPORT_MARK = "veilmap: "

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LOG_BYTES = 5_000_000
_LOGS_KEPT = 3
TIME_TO_END_S = 10.0
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 60.0
# A process that ran this long was healthy: its next restart has the first pause again.
_HEALTHY_S = 60.0
_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@dataclass(frozen=True)
class Program:
    """A program to keep running.

    Attributes:
        name: in logs and messages.
        target: the function to call, as ``module:function``.
        arguments: its command line.
        ready: whether it may start now; called before every start.
    """

    name: str
    target: str
    arguments: tuple[str, ...]
    ready: Callable[[], bool] = field(default=lambda: True, repr=False)


class Children(ExitStack):
    """The processes of one supervisor; leaving the block ends them all, the last one first."""

    def __init__(
        self, programs: Sequence[Program], environment: Mapping[str, str], logs: Path, say: Say
    ) -> None:
        super().__init__()
        self._children = [_Child(program, environment, logs, say) for program in programs]
        for child in self._children:
            self.callback(child.end)

    def tend(self) -> None:
        """Start what is not running and may start; called repeatedly."""
        for child in self._children:
            child.tend()

    @property
    def all_run(self) -> bool:
        return all(child.runs for child in self._children)

    def deaths_in_a_row(self, name: str) -> int:
        """How often the program died in a row without having been healthy."""
        return next(child.deaths for child in self._children if child.name == name)


class _Child:
    """One process, or the pause until its restart."""

    def __init__(
        self, program: Program, environment: Mapping[str, str], logs: Path, say: Say
    ) -> None:
        self.name = program.name
        self.deaths = 0
        self._program = program
        self._environment = environment
        log = private_folder(logs) / f"{program.name}.log"
        self._log = RotatingFileHandler(log, "a", _LOG_BYTES, _LOGS_KEPT, delay=True)
        self._say = say
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None
        self._started_at = 0.0
        self._not_before = 0.0

    @property
    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def tend(self) -> None:
        if self.runs:
            return
        if self._process is not None:
            self._bury(self._process)
        elif time.monotonic() >= self._not_before and self._program.ready():
            self._start()

    def _start(self) -> None:
        command = [sys.executable, "-P", "-m", "veilmap.flower.machines.child"]
        command += [str(os.getpid()), self.name, self._program.target, *self._program.arguments]
        self._process = subprocess.Popen(  # noqa: S603 - our own command
            command,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            # Ctrl-C reaches only this process, which ends the children in order.
            start_new_session=True,
        )
        self._started_at = time.monotonic()
        lines = self._process.stdout
        self._reader = threading.Thread(target=self._read, args=(lines,), daemon=True)
        self._reader.start()

    def _read(self, lines: IO[str]) -> None:
        with lines:
            for line in lines:
                text = COLOUR.sub("", line.rstrip("\n"))
                self._log.emit(makeLogRecord({"msg": text}))
                if text.startswith(REPORT_MARK):
                    self._say(text.removeprefix(REPORT_MARK))

    def _bury(self, process: subprocess.Popen[str]) -> None:
        lived = time.monotonic() - self._started_at
        self.deaths = 1 if lived > _HEALTHY_S else self.deaths + 1
        pause = min(_FIRST_PAUSE_S * 2 ** (self.deaths - 1), _LONGEST_PAUSE_S)
        self._not_before = time.monotonic() + pause
        self._say(
            f"{self.name} ended with code {process.returncode} after {lived:.0f} s; it "
            f"restarts in {pause:g} s (log: {self._log.baseFilename})"
        )
        # Its own children end too; they get time for that.
        _signal(process, signal.SIGTERM)
        self._process = None

    def end(self) -> None:
        if self._process is not None:
            _signal(self._process, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(TIME_TO_END_S)
            _signal(self._process, signal.SIGKILL)
            self._process.wait()
        if self._reader is not None:
            self._reader.join(TIME_TO_END_S)
        self._log.close()


def _signal(process: subprocess.Popen[str], number: signal.Signals) -> None:
    # The session leader's id is its group's id, even after its death.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


@contextmanager
def stop_signals() -> Iterator[threading.Event]:
    """An event that SIGTERM, SIGINT (Ctrl-C) and SIGHUP set while the block runs.

    Outside the main thread Python takes no signals; then only the caller sets it.
    """
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    with on_stop_signals(lambda *_: stop.set()):
        yield stop


@contextmanager
def on_stop_signals(handle: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Call ``handle`` at SIGTERM, SIGINT (Ctrl-C) and SIGHUP while the block runs."""
    before = {number: signal.signal(number, handle) for number in _STOP_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
