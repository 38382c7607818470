"""Training with no more updates held in memory than an attack reads.

An update of the paper's network is half a megabyte: those of ten thousand users and ten rounds are
58 GB, those of one user 6 MB.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from veilmap.federation.observation import Observation, Recorder
from veilmap.federation.server import sample_users
from veilmap.study.attack_settings import Who
from veilmap.study.prepare import Prepared
from veilmap.study.summed import SumRecorder
from veilmap.study.train import Run, train_prepared
from veilmap.transcript import Entry


@dataclass(frozen=True)
class Kept:
    """A run, and what was kept of what its server saw.

    ``senders`` are those in the observations, where these are sums.
    """

    run: Run
    observations: Sequence[Observation] = field(default_factory=list, repr=False)
    senders: Sequence[Entry] = ()


def train_for(prepared: Prepared, who: Who, past: bool) -> Kept:
    """With what an attack on ``who`` reads: a user's updates, or the sums of all.

    Who measured most must be known before training. It is, unless a defence leaves a phone no point
    to train on; then the same run is made once more.
    """
    if who.secure_aggregation:
        sums = SumRecorder()
        run = train_prepared(prepared, sums, past=past, keep=prepared.users)
        return Kept(run, sums.observations, sums.entries)
    if who.target is not None:
        return _train(prepared, (who.target,), past, keep=(who.target,))
    expected = _measured_most(prepared, _asked(prepared))
    kept = _train(prepared, expected, past, keep=prepared.users)
    found = _measured_most(prepared, kept.run.batches)
    if found in ((), expected):
        return kept
    return _train(prepared, found, past, keep=prepared.users)


def train_and_keep_all(prepared: Prepared, past: bool) -> Kept:
    """With everybody's updates."""
    return _train(prepared, (), past, keep=prepared.users)


def _train(prepared: Prepared, users: tuple[str, ...], past: bool, keep: Sequence[str]) -> Kept:
    seen = Recorder(users)
    return Kept(train_prepared(prepared, seen, past=past, keep=keep), seen.observations)


def _asked(prepared: Prepared) -> dict[int, list[str]]:
    """Who has data in each round and is asked for an update."""
    plan, users = prepared.plan, prepared.users
    return {
        this.number: [u for u in sample_users(plan, users, this.number) if u in this.data]
        for this in prepared.rounds
    }


def _measured_most(prepared: Prepared, senders: Mapping[int, Iterable[str]]) -> tuple[str, ...]:
    """By the points of those rounds in which a user sends; of equals, the first to send."""
    points: dict[str, int] = {}
    for this in prepared.rounds:
        for user in senders[this.number]:
            points[user] = points.get(user, 0) + len(this.data[user])
    most = max(points, key=lambda user: points[user], default=None)
    return () if most is None else (most,)
