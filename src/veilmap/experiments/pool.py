"""Work on all cores, or on a cluster of the caller's, each result as soon as it is there."""

import copyreg
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import MISSING, dataclass
from multiprocessing.resource_tracker import ensure_running
from typing import Any, Generic, TypeVar

from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from joblib.externals.loky import get_reusable_executor
from joblib.parallel import LokyBackend, get_active_backend

from veilmap.model.threads import one_thread

Item = TypeVar("Item")
SharedInput = TypeVar("SharedInput")
Result = TypeVar("Result")
Work = Callable[[Item, SharedInput], Result]
Calls = Sequence[Any]  # what joblib's delayed makes
Finished = Generator[tuple[int, Any], None, None]  # the number of the item, and what came of it

# Where results come only with their batch: few waits for the slowest, not too much lost at a stop.
BATCH_PER_JOB = 4

# Workers are sent the classes of a script whole. With a copy of this mark, every field of theirs
# would seem to have two defaults; so they are sent its name, dataclasses.MISSING.
copyreg.pickle(type(MISSING), lambda _: "MISSING")


def run_all(
    work: Work[Item, SharedInput, Result], items: Sequence[Item], shared: SharedInput, jobs: int
) -> Generator[tuple[Item, Result], None, None]:
    """Begin them in their order, and give each with its result as soon as it is there.

    An interrupt, or closing the generator, stops the workers too. Where the caller has set a
    backend of joblib (``with joblib.parallel_config(backend="dask")``), it takes the place of the
    processes on this machine. Its workers belong to the caller: they get no more items after an
    interrupt, but may end what they have begun.

    Args:
        work: is given an item and ``shared``; it and they must survive the way to other processes.
        items: one call of ``work`` each.
        shared: what every call needs; every worker gets it, so keep it small.
        jobs: how many at once; one runs in this process. Dask always uses its whole cluster.
    """
    jobs = min(jobs, len(items))
    if jobs <= 1:
        yield from ((item, work(item, shared)) for item in items)
        return
    backend, _ = get_active_backend()
    is_ours = isinstance(backend, LokyBackend)  # also where none was set
    call, same = delayed(_deaf if is_ours else _on_one_thread), _Shared(shared)
    calls = [call(work, number, item, same) for number, item in enumerate(items)]
    if is_ours or backend.supports_return_generator:
        finished = _one_by_one(calls, jobs, is_ours)
    else:
        finished = _in_batches(calls, jobs)
    with closing(finished) as running:
        for number, result in running:
            yield items[number], result


def all_jobs() -> int:
    """One per core that this process may use, or per core of the caller's cluster."""
    return int(effective_n_jobs(-1))


@dataclass(frozen=True)
class _Shared(Generic[SharedInput]):
    """What all need, in a form that Dask sends to a worker once, and not with every item."""

    value: SharedInput

    def __sizeof__(self) -> int:
        return 1 << 20  # joblib has Dask do so with what calls itself larger than 1000 bytes


def _one_by_one(calls: Calls, jobs: int, is_ours: bool) -> Finished:
    with ExitStack() as beginning:
        # The block ends before the first result, because whoever gets that may use joblib himself.
        if is_ours:
            # Loky replaces a worker whose memory has grown, as it does in long runs, and warns.
            warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
            # One thread each: the products are small, and bits must not depend on the cores.
            beginning.enter_context(parallel_config("loky", inner_max_num_threads=1))
            beginning.enter_context(_later_interrupts())
        running = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(calls)
    try:
        # Not "yield from", which would hand GeneratorExit on to joblib, and that warns.
        for done in running:  # noqa: UP028
            yield done
    except BaseException:  # also GeneratorExit and the user's interrupt
        with _no_interrupt(), _lost_work_ignored():
            with warnings.catch_warnings():
                # That work is thrown away is what was asked for.
                warnings.filterwarnings("ignore", ".*tasks", UserWarning)
                running.close()
            if is_ours:
                get_reusable_executor().shutdown(wait=True, kill_workers=True)
        raise


def _in_batches(calls: Calls, jobs: int) -> Finished:
    """For Ray and multiprocessing, which give nothing back before the last item is finished."""
    size = BATCH_PER_JOB * jobs
    with Parallel(n_jobs=jobs, batch_size=1) as parallel:
        for first in range(0, len(calls), size):
            yield from parallel(calls[first : first + size])


@contextmanager
def _later_interrupts() -> Iterator[None]:
    """Interrupts come after the block; to processes that it begins never.

    A terminal interrupts workers too, also while they still import and cannot do without a word.
    """
    if sys.platform == "win32":
        yield
        return
    ensure_running()  # Python's own helper: begun in the block, it would let them through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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


@contextmanager
def _lost_work_ignored() -> Iterator[None]:
    """Loky throws waiting work away, and its thread may look for it once more before it ends."""
    before = threading.excepthook

    def said(args: threading.ExceptHookArgs) -> None:
        is_lokys = args.thread is not None and args.thread.name == "ExecutorManagerThread"
        if not (is_lokys and args.exc_type is KeyError):
            before(args)

    threading.excepthook = said
    try:
        yield
    finally:
        threading.excepthook = before


def _deaf(
    work: Work[Item, SharedInput, Result], number: int, item: Item, shared: _Shared[SharedInput]
) -> tuple[int, Result]:
    # A terminal interrupts workers too; the main process alone decides what becomes of them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return number, work(item, shared.value)


def _on_one_thread(
    work: Work[Item, SharedInput, Result], number: int, item: Item, shared: _Shared[SharedInput]
) -> tuple[int, Result]:
    # What inner_max_num_threads does for loky; joblib has it for no other backend. No signal here:
    # Dask calls this in a thread that is not the main one.
    with one_thread():
        return number, work(item, shared.value)
