"""The server's side of Algorithm 1: rounds of sampling, updating and averaging."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from veilmap.defences.defence import Report
from veilmap.defences.memory import NEW, Memory
from veilmap.federation.observation import Observation, Observer
from veilmap.federation.phone import answer
from veilmap.federation.plan import Plan
from veilmap.local_data import Round
from veilmap.model.network import Floats
from veilmap.streams import stream


@dataclass(frozen=True)
class RoundResult:
    """w_t after round t, and who took part with how many points.

    ``reports`` are what the phones' defences did, by user; no server sees them.
    """

    round: int
    start_s: float
    users: tuple[str, ...]
    n: tuple[int, ...]
    weights: Floats
    reports: Mapping[str, tuple[Report, ...]] = field(default_factory=dict)


def federate(
    plan: Plan, rounds: Iterable[Round], users: Sequence[str], observer: Observer | None = None
) -> Iterator[RoundResult]:
    """Algorithm 1, lines 2-13, one result per round.

    ``users`` are the K users of the federation; ``observer`` sees every update, as in line 9.
    """
    weights = plan.network.initialise(plan.seed)
    memories = dict.fromkeys(users, NEW)
    for this in rounds:
        result, memories = run_round(plan, weights, this, users, memories, observer)
        weights = result.weights
        yield result


def run_round(
    plan: Plan,
    weights: Floats,
    this: Round,
    users: Sequence[str],
    memories: dict[str, Memory],
    observer: Observer | None,
) -> tuple[RoundResult, dict[str, Memory]]:
    """Lines 5-12: sample users, collect their updates, average them by n_t^k / n_t.

    Users without data in this round send nothing; if nobody sends, the weights stay.
    """
    # In float64, so that the average of equal updates is that update to the last bit.
    total, sizes, reports, kept = np.zeros(len(weights)), {}, {}, dict(memories)
    for user in sample_users(plan, users, this.number):
        if user not in this.data:
            continue
        sent = answer(plan, weights, this.data[user], user, this.number, memories[user])
        kept[user], reports[user] = sent.memory, sent.reports
        if sent.weights is None:
            continue
        sizes[user] = sent.n
        total += sent.n * sent.weights.astype(np.float64)
        if observer:
            observer.see(
                Observation(this.number, user, weights, sent.weights, sent.n, this.start_s)
            )
    if observer:
        observer.end_round()
    average = (total / sum(sizes.values())).astype(np.float32) if sizes else weights
    who, n = tuple(sizes), tuple(sizes.values())
    return RoundResult(this.number, this.start_s, who, n, average, reports), kept


def sample_users(plan: Plan, users: Sequence[str], t: int) -> list[str]:
    """Lines 5-6: S_t, max(C·K, 1) users at random, in the order of ``users``."""
    # A hair is added because 0.29 · 100 is 28.999… in binary.
    count = max(int(plan.training.fraction * len(users) + 1e-9), 1)
    chosen = stream(plan.seed, "participants", t).permutation(len(users))[:count]
    return [users[k] for k in sorted(chosen)]
