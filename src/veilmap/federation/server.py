"""The server's side of Algorithm 1: rounds of sampling, updating and averaging."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from veilmap.federation.client import user_update
from veilmap.federation.observation import Observation, Observer
from veilmap.federation.plan import Plan
from veilmap.local_data import Round
from veilmap.model.network import Floats
from veilmap.streams import stream


@dataclass(frozen=True)
class RoundResult:
    """w_t after round t, and who took part with how many points."""

    round: int
    start_s: float
    users: tuple[str, ...]
    n: tuple[int, ...]
    weights: Floats


def federate(
    plan: Plan, rounds: Iterable[Round], users: Sequence[str], observer: Observer | None = None
) -> Iterator[RoundResult]:
    """Algorithm 1, lines 2-13, one result per round.

    ``users`` are the K users of the federation; ``observer`` sees every update, as in line 9.
    """
    weights = plan.network.initialise(plan.seed)
    for this in rounds:
        result = run_round(plan, weights, this, users, observer)
        weights = result.weights
        yield result


def run_round(
    plan: Plan, weights: Floats, this: Round, users: Sequence[str], observer: Observer | None
) -> RoundResult:
    """Lines 5-12: sample users, collect their updates, average them by n_t^k / n_t.

    Users without data in this round send nothing; if nobody sends, the weights stay.
    """
    asked = sample_users(plan, users, this.number)
    active = [user for user in asked if user in this.data]
    sizes = [len(this.data[user]) for user in active]
    # In float64, so that the average of equal updates is that update to the last bit.
    total = np.zeros(len(weights))
    for user, n in zip(active, sizes, strict=True):
        after = user_update(plan, weights, this.data[user], user, this.number)
        if observer:
            observer.see(Observation(this.number, user, weights, after, n, this.start_s))
        total += n / sum(sizes) * after.astype(np.float64)
    if observer:
        observer.end_round()
    average = total.astype(np.float32) if active else weights
    return RoundResult(this.number, this.start_s, tuple(active), tuple(sizes), average)


def sample_users(plan: Plan, users: Sequence[str], t: int) -> list[str]:
    """Lines 5-6: S_t, max(C·K, 1) users at random, in the order of ``users``."""
    # A hair is added because 0.29 · 100 is 28.999… in binary.
    count = max(int(plan.training.fraction * len(users) + 1e-9), 1)
    chosen = stream(plan.seed, "participants", t).permutation(len(users))[:count]
    return [users[k] for k in sorted(chosen)]
