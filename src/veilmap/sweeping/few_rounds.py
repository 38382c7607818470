"""Which trials of a sweep attack so few rounds that a single one decides what is found."""

from collections.abc import Iterable, Iterator, Mapping

import polars as pl

from veilmap.experiments.trial import Trial
from veilmap.measurements import Measurements
from veilmap.rounds import FEWEST_ROUNDS, cut, parse_interval
from veilmap.wording import listed

# Where a target's rounds are counted: the measurements by name, the target, and T.
Counted = tuple[str, str, str]


def few_rounds(trials: Iterable[Trial], data: Mapping[str, Measurements]) -> Iterator[str]:
    """A sentence, where there are any; a trial that asks for a single round is none of them."""
    wanted: dict[Counted, None] = {}
    for trial in trials:
        if trial.attacks is not None and trial.same_round is None:
            interval = trial.settings.task.interval
            wanted |= dict.fromkeys((trial.data, target, interval) for target in trial.targets)
    short = [interval for name, target, interval in wanted if _few(data[name], target, interval)]
    if short:
        listed_once = listed(list(dict.fromkeys(short)))
        yield (
            f"the target has fewer than {FEWEST_ROUNDS} rounds of {listed_once}, of which little "
            "follows; take a shorter interval, or another target"
        )


def _few(data: Measurements, target: str, interval: str) -> bool:
    own = data.keep(pl.col("user") == target)
    return not len(own) or len(cut(own, parse_interval(interval), data.first)) < FEWEST_ROUNDS
