"""The server's side of Algorithm 1: rounds of sampling, updating and averaging."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from veilmap.defences.defence import Report
from veilmap.defences.memory import NEW, Memory
from veilmap.federation.average import Average
from veilmap.federation.observation import Observation, Observer
from veilmap.federation.phone import answer, wait
from veilmap.federation.plan import Plan
from veilmap.local_data import LocalData, Round
from veilmap.model.network import Floats
from veilmap.streams import stream


@dataclass(frozen=True)
class RoundResult:
    """w_t after round t, and who took part with how many points.

    ``reports`` are what the phones' defences did, and ``batches`` the points that they trained on,
    by user; no server sees them.
    """

    round: int
    start_s: float
    users: tuple[str, ...]
    n: tuple[int, ...]
    weights: Floats
    reports: Mapping[str, tuple[Report, ...]] = field(default_factory=dict)
    batches: Mapping[str, LocalData] = field(default_factory=dict, repr=False)


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
    asked = set(sample_users(plan, users, this.number))
    average, reports, batches, kept = Average(weights), {}, {}, dict(memories)
    for user in (user for user in users if user in this.data):
        turn = this.data[user], user, this.number, memories[user]
        if user not in asked:
            kept[user] = wait(plan, *turn)
            continue
        sent = answer(plan, weights, *turn)
        kept[user], reports[user] = sent.memory, sent.reports
        if sent.weights is None:
            continue
        average.add(user, sent.weights, sent.n)
        batches[user] = sent.batch
        if observer:
            observer.see(
                Observation(this.number, user, weights, sent.weights, sent.n, this.start_s)
            )
    if observer:
        observer.end_round()
    who, n = tuple(average.n), tuple(average.n.values())
    weights = average.weights()
    return RoundResult(this.number, this.start_s, who, n, weights, reports, batches), kept


def sample_users(plan: Plan, users: Sequence[str], t: int) -> list[str]:
    """Lines 5-6: S_t, max(C·K, 1) users at random, in the order of ``users``."""
    # A hair is added because 0.29 · 100 is 28.999… in binary.
    count = max(int(plan.training.fraction * len(users) + 1e-9), 1)
    chosen = stream(plan.seed, "participants", t).permutation(len(users))[:count]
    return [users[k] for k in sorted(chosen)]
