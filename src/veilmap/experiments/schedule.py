"""Schedules trials: reuses cached results, runs the missing ones."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from veilmap.experiments.pool import run_all
from veilmap.experiments.result import TrialResult
from veilmap.experiments.run_trial import run_trial
from veilmap.experiments.store import Cached, TrialStore
from veilmap.experiments.trial import Trial
from veilmap.measurements import Measurements
from veilmap.model.device import torch_for
from veilmap.wording import counted


@dataclass(frozen=True)
class Progress:
    """Callbacks of a study that runs trials.

    Attributes:
        on_begin: how many trials there are, and how many of them are cached.
        on_trial: after each trial that was run.
        on_message: what a reader should know, a sentence or two.
    """

    on_begin: Callable[[int, int], None] = lambda trials, cached: None
    on_trial: Callable[[Trial, TrialResult], None] = lambda trial, result: None
    on_message: Callable[[str], None] = lambda text: None


def run_trials(
    trials: Sequence[Trial],
    data: Mapping[str, Measurements],
    store: TrialStore | None,
    jobs: int,
    progress: Progress,
    *,
    fresh: bool = False,
    revise: Callable[[TrialResult], TrialResult] = lambda result: result,
    on_result: Callable[[Trial, TrialResult], None] = lambda trial, result: None,
) -> list[TrialResult]:
    """A result for each trial, in their order; equal trials are run once.

    The bits do not depend on ``jobs``. An interrupt leaves what is finished in the store.

    Args:
        trials: what to run; of equal ones one keeps what any of them asks for.
        data: the measurements by the names that trials call them.
        store: where results are cached; None to cache none.
        jobs: how many at once.
        progress: callbacks.
        fresh: recompute cached results.
        revise: what is done to a new result before it is stored.
        on_result: after each trial, the cached ones first.
    """
    digests = [trial.digest(data[trial.data]) for trial in trials]
    wanted: dict[str, Trial] = {}
    for digest, trial in zip(digests, trials, strict=True):
        keep = wanted.get(digest, trial).keep | trial.keep
        wanted[digest] = replace(trial, keep=keep)
    cached = {
        digest: Cached() if store is None else store.load(trial, data[trial.data])
        for digest, trial in wanted.items()
    }
    done = {d: each.result for d, each in cached.items() if each.result is not None and not fresh}
    missing = [
        (digest, replace(trial, keep=trial.keep | cached[digest].kept))
        for digest, trial in wanted.items()
        if digest not in done
    ]
    progress.on_begin(len(wanted), len(done))
    if store is not None:
        for text in _notices(store, wanted.values(), [] if fresh else cached.values()):
            progress.on_message(text)
    for digest, result in done.items():
        on_result(wanted[digest], result)
    for _, trial in missing:
        if not trial.counted:
            torch_for(trial.settings.map)  # without torch cached results can still be shown
    # Closed on leaving, because workers would otherwise keep running.
    with closing(run_all(_run, missing, data, jobs)) as running:
        for (digest, trial), result in running:
            result = revise(result)
            if store is not None:
                store.save(trial, data[trial.data], result)
            done[digest] = result
            progress.on_trial(trial, result)
            on_result(trial, result)
    return [done[digest] for digest in digests]


def _run(missing: tuple[str, Trial], data: Mapping[str, Measurements]) -> TrialResult:
    return run_trial(missing[1], data)


def _notices(store: TrialStore, trials: Iterable[Trial], cached: Iterable[Cached]) -> Iterable[str]:
    """Why cached results are not used, or new ones will not be cached."""
    older, other = store.older(), sum(each.is_of_other_code for each in cached)
    if older:
        yield (
            f"{store.path} holds {counted(older, 'result')} in an older layout; all are "
            "recomputed, and the old files stay until you delete them"
        )
    if other:
        was = "was" if other == 1 else "were"
        yield (
            f"{counted(other, 'cached result')} {was} computed with other code; "
            "recomputed and replaced"
        )
    names = dict.fromkeys(trial.configuration for trial in trials if trial.code is None)
    if names:
        yield (
            "not cached, because the code behind them cannot be identified: "
            f"{'; '.join(names)}; define classes and functions at the top level of a module, "
            "with unique names"
        )
