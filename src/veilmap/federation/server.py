"""The server's side of Algorithm 1: rounds of sampling, updating and averaging."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from veilmap.federation.client import user_update
from veilmap.federation.observation import Observation
from veilmap.federation.plan import Plan
from veilmap.local_data import Round
from veilmap.streams import stream

Floats = NDArray[np.float32]
Observe = Callable[[Observation], None]


@dataclass(frozen=True)
class RoundResult:
    """w_t after round t, and who took part with how many points."""

    round: int
    start_s: float
    users: tuple[str, ...]
    n: tuple[int, ...]
    weights: Floats


def federate(
    plan: Plan, rounds: Iterable[Round], users: Sequence[str], observe: Observe | None = None
) -> Iterator[RoundResult]:
    """Algorithm 1, lines 2-13, one result per round.

    ``users`` are the K users of the federation; ``observe`` sees every update, as line 9 does.
    """
    weights = plan.network.initialise(plan.seed)
    for this in rounds:
        result = run_round(plan, weights, this, users, observe)
        weights = result.weights
        yield result


def run_round(
    plan: Plan, weights: Floats, this: Round, users: Sequence[str], observe: Observe | None
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
        if observe:
            observe(Observation(this.number, user, weights, after, n, this.start_s))
        total += n / sum(sizes) * after.astype(np.float64)
    average = total.astype(np.float32) if active else weights
    return RoundResult(this.number, this.start_s, tuple(active), tuple(sizes), average)


def sample_users(plan: Plan, users: Sequence[str], t: int) -> list[str]:
    """Lines 5-6: S_t, max(C·K, 1) users at random, in the order of ``users``."""
    count = max(int(plan.training.fraction * len(users)), 1)
    chosen = stream(plan.seed, "participants", t).permutation(len(users))[:count]
    return [users[k] for k in sorted(chosen)]
