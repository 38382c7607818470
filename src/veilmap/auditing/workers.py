"""Units on all cores, each result as soon as it is there."""

import signal
import threading
import warnings
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky import get_reusable_executor

from veilmap.auditing.unit import Result, Unit, run_unit
from veilmap.measurements import Measurements


def run_units(
    units: Sequence[Unit], data: Measurements, jobs: int
) -> Generator[tuple[Unit, Result], None, None]:
    """Run them in their order, as many at once as there are ``jobs``.

    ``data`` should be the cell's alone, because every worker gets them. An interrupt stops the
    workers too.
    """
    jobs = min(jobs, len(units))
    if jobs <= 1:
        yield from ((unit, run_unit(unit, data)) for unit in units)
        return
    # One thread each: the products are small, and bits must not depend on the number of cores.
    with parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1):
        running = Parallel(return_as="generator_unordered", batch_size=1)(
            delayed(_in_worker)(unit, data) for unit in units
        )
        try:
            # Not "yield from", which would hand GeneratorExit on to joblib, and that warns.
            for done in running:  # noqa: UP028
                yield done
        except BaseException:  # also GeneratorExit and the user's interrupt
            with _no_interrupt(), warnings.catch_warnings():
                # That work is thrown away is what was asked for.
                warnings.filterwarnings("ignore", ".*tasks", UserWarning)
                running.close()
                get_reusable_executor().shutdown(wait=True, kill_workers=True)
            raise


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """A second Ctrl-C would interrupt the end of the workers, and leave them running."""
    if threading.current_thread() is not threading.main_thread():
        yield  # interrupts never come here
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _in_worker(unit: Unit, data: Measurements) -> tuple[Unit, Result]:
    # A terminal interrupts workers too; the main process alone decides what becomes of them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return unit, run_unit(unit, data)
