"""The server's side of Algorithm 1: rounds of sampling, updating and averaging."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from veilmap.defences.defence import Report
from veilmap.defences.memory import NEW, Memory
from veilmap.federation import verbs
from veilmap.federation.byzantine import as_sent
from veilmap.federation.map_family import WEIGHTS, Arrays, Sent
from veilmap.federation.observation import Observation, Observer
from veilmap.federation.phone import messages, wait
from veilmap.federation.plan import Plan
from veilmap.federation.trainer import OnThreads, Trainer
from veilmap.local_data import LocalData, Round
from veilmap.model.network import Floats
from veilmap.streams import stream


@dataclass(frozen=True)
class RoundResult:
    """The server's state after round t, and who took part with how many points.

    ``refused`` says of each user whose message was not taken why. ``reports`` are what the phones'
    defences did, and ``batches`` the points that they trained on, by user; no server sees them.
    """

    round: int
    start_s: float
    users: tuple[str, ...]
    n: tuple[int, ...]
    state: Arrays
    reports: Mapping[str, tuple[Report, ...]] = field(default_factory=dict)
    batches: Mapping[str, LocalData] = field(default_factory=dict, repr=False)
    refused: Mapping[str, str] = field(default_factory=dict)

    @property
    def weights(self) -> Floats:
        """w_t, of families that send weights."""
        return self.state[WEIGHTS]


def federate(
    plan: Plan,
    rounds: Iterable[Round],
    users: Sequence[str],
    observer: Observer | None = None,
    trainer: Trainer = OnThreads(1),
) -> Iterator[RoundResult]:
    """Algorithm 1, lines 2-13, one result per round.

    ``users`` are the K users of the federation; ``observer`` sees every message, as in line 9;
    ``trainer`` says where the phones' messages are computed.
    """
    state = verbs.start(plan)
    memories = dict.fromkeys(users, NEW)
    for this in rounds:
        result, memories = run_round(plan, state, this, users, memories, observer, trainer)
        state = result.state
        yield result


def run_round(
    plan: Plan,
    state: Arrays,
    this: Round,
    users: Sequence[str],
    memories: dict[str, Memory],
    observer: Observer | None,
    trainer: Trainer,
) -> tuple[RoundResult, dict[str, Memory]]:
    """Lines 5-12: sample users, collect their messages, combine them.

    Users without data in this round send nothing; if no user sends, the state stays. A
    message that does not fit the map is refused, and the round continues with the others.
    """
    batches, reports, memories = choose(plan, this, users, memories)
    counts, refused = dict[str, int](), dict[str, str]()

    def taken() -> Iterator[Sent]:
        met = plan.shown(state)
        sending = messages(plan, met, batches, this.number, trainer)
        for user, message, more in sending:
            reports[user] = (*reports[user], *more)
            message = as_sent(plan.broken, user, met, message)
            n = len(batches[user])
            refusal = plan.refusal(message, n, state)
            n = n if refusal else plan.message_size(message, n)
            if observer and (refusal is None or refusal.is_seen):
                observer.see(Observation(this.number, user, met, message, n, this.start_s))
            if refusal is None:
                counts[user] = n
                yield Sent(user, message, n)
            else:
                refused[user] = refusal.why

    after = verbs.combine(plan, state, taken(), len(batches))
    if observer:
        observer.end_round()
    who, n = tuple(counts), tuple(counts.values())
    result = RoundResult(this.number, this.start_s, who, n, after, reports, batches, refused)
    return result, memories


def choose(
    plan: Plan, this: Round, users: Sequence[str], memories: dict[str, Memory]
) -> tuple[dict[str, LocalData], dict[str, tuple[Report, ...]], dict[str, Memory]]:
    """Line 16: the points that each phone asked trains on, and what its steps did; the memories.

    A phone whose defence leaves no point has no batch.
    """
    asked = set(sample_users(plan, users, this.number))
    batches, reports, kept = {}, {}, dict(memories)
    for user in (user for user in users if user in this.data):
        data, turn = this.data[user], plan.turn(user, this.number)
        if user not in asked:
            kept[user] = wait(plan, data, user, this.number, memories[user])
            continue
        batch, reports[user], kept[user] = plan.defence.local_batch(data, turn, memories[user])
        if len(batch):
            batches[user] = batch
    return batches, reports, kept


def sample_users(plan: Plan, users: Sequence[str], t: int) -> list[str]:
    """Lines 5-6: S_t, max(C·K, 1) users at random, in the order of ``users``."""
    # A hair is added because 0.29 · 100 is 28.999… in binary.
    count = max(int(plan.training.fraction * len(users) + 1e-9), 1)
    chosen = stream(plan.seed, "participants", t).permutation(len(users))[:count]
    return [users[k] for k in sorted(chosen)]
