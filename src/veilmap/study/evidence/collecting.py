"""Trains, and keeps no more updates in memory than an attack reads.

An update of the paper's network is half a megabyte: those of ten thousand users and ten rounds are
58 GB, those of one user 6 MB.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from veilmap.attacks.secure_sum import SUM
from veilmap.federation.average import Average
from veilmap.federation.observation import Observation, Recorder
from veilmap.federation.server import sample_users
from veilmap.study.attack_settings import Who
from veilmap.study.evidence.evidence import Evidence, evidence_of
from veilmap.study.prepare import Prepared
from veilmap.study.train import Run, train_prepared
from veilmap.transcript import Entry


@dataclass(frozen=True)
class Collected:
    """A run and the updates that were kept; ``senders`` are those who are in them, if sums."""

    run: Run
    observations: Sequence[Observation] = field(default_factory=list, repr=False)
    senders: Sequence[Entry] = ()

    @property
    def evidence(self) -> Evidence:
        """What an attack on this run starts from."""
        return evidence_of(self.run.prepared, self.observations, senders=self.senders)


def collect_for(prepared: Prepared, who: Who, past: bool) -> Collected:
    """Train, and keep what an attack on ``who`` reads: one user's updates, or the sums of all.

    The user who measured most must be known before training. A defence may leave a phone no point
    to train on, which changes who that is; then the same run is made once more.
    """
    if who.secure_aggregation:
        sums = SumRecorder()
        run = train_prepared(prepared, sums, past=past, keep=prepared.users)
        return Collected(run, sums.observations, sums.senders)
    if who.target is not None:
        return _train(prepared, (who.target,), past, keep=(who.target,))
    expected = _measured_most(prepared, _asked(prepared))
    collected = _train(prepared, expected, past, keep=prepared.users)
    found = _measured_most(prepared, collected.run.batches)
    if found in ((), expected):
        return collected
    return _train(prepared, found, past, keep=prepared.users)


def collect_all(prepared: Prepared, past: bool) -> Collected:
    """Train, and keep everybody's updates."""
    return _train(prepared, (), past, keep=prepared.users)


def _train(
    prepared: Prepared, users: tuple[str, ...], past: bool, keep: Sequence[str]
) -> Collected:
    recorder = Recorder(users)
    run = train_prepared(prepared, recorder, past=past, keep=keep)
    return Collected(run, recorder.observations)


def _asked(prepared: Prepared) -> dict[int, list[str]]:
    """The users in each round who have data and are asked for an update."""
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


class SumRecorder:
    """What a server sees under secure aggregation: the sum of each round alone.

    The same as ``secure_sum`` of all updates, none of which is kept in memory.
    """

    def __init__(self) -> None:
        self.observations: list[Observation] = []
        self.senders: list[Entry] = []
        self._average: Average | None = None

    def see(self, observation: Observation) -> None:
        """Add it to the sum."""
        each = observation
        self.senders.append(Entry(each.round, each.start_s, each.user, each.n))
        if self._average is None:
            self._average, self._first = Average(each.weights_before), each
        self._average.add(each.user, each.weights_after, each.n)

    def end_round(self) -> None:
        """Keep the sum, if anybody sent."""
        if self._average is None:
            return
        first, n = self._first, sum(self._average.n.values())
        self.observations.append(
            Observation.of_weights(
                first.round, SUM, first.weights_before, self._average.weights(), n, first.start_s
            )
        )
        self._average = None
