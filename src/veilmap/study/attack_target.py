"""Who is attacked: one user's messages, or the sums of all."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from veilmap.attacks.secure_sum import SUM, secure_sum
from veilmap.errors import UserError, shown
from veilmap.federation.observation import Observation
from veilmap.local_data import LocalData, Truth
from veilmap.metrics.places import Place
from veilmap.metrics.scores import true_places
from veilmap.rounds import FEWEST_ROUNDS
from veilmap.study.attack_settings import Who
from veilmap.study.evidence.evidence import Evidence
from veilmap.transcript import Entry
from veilmap.wording import listed


@dataclass(frozen=True)
class Target:
    """The user to find, or the sums of all.

    Attributes:
        evidence: of all users.
        summed: whether the sums are attacked.
        name: the user's, or that of the sums if they are to tell about all users.
        senders: the users behind the update of each round that is attacked.
        truth: all points that they measured in each round; None if they are not known.
    """

    evidence: Evidence
    summed: bool
    name: str
    senders: Mapping[int, Sequence[str]]
    truth: Mapping[int, LocalData] | None

    @cached_property
    def true_places(self) -> Sequence[Place] | None:
        """The same for all attacks; None without the truth."""
        if self.truth is None:
            return None
        return true_places([self.truth[t] for t in self.senders], self.evidence.timezone)

    def updates(self) -> Iterator[Observation]:
        """Those that are attacked, in the order of their rounds."""
        everyone = self.evidence.updates
        updates = everyone if self.summed else everyone.of_user(self.name)
        chosen = (each for each in updates if each.round in self.senders)
        return secure_sum(everyone.header, chosen) if self.summed else chosen

    def others(self) -> dict[int, Observation]:
        """Of sums that are to tell about one user, those of everybody else by round."""
        if not self.summed or self.name == SUM:
            return {}
        updates = self.evidence.updates
        chosen = (e for e in updates if e.round in self.senders and e.user != self.name)
        return {each.round: each for each in secure_sum(updates.header, chosen)}

    def batch(self, t: int) -> LocalData | None:
        """The points that the update of round t was made from, if they are known."""
        known = self.evidence.updates.header.side_knowledge
        kept = self.evidence.batches.get(t, {})
        if all(user in kept for user in self.senders[t]):
            return LocalData.join([kept[user] for user in self.senders[t]])
        # A cumulative update was made from all rounds so far, a defended one from other points.
        if self.truth is None or known.training.cumulative or known.defence:
            return None
        if self.summed and self.name != SUM:
            return None  # the truth is of one user, the update of all
        return self.truth[t]


def target_of(evidence: Evidence, who: Who) -> Target:
    """Whom the settings name; the user who measured most where they name nobody.

    Raises:
        UserError: there is no such user, or the run has no sums.
    """
    summed = who.secure_aggregation
    aggregation = evidence.updates.header.side_knowledge.training.aggregation
    if summed and aggregation != "mean":
        raise UserError(
            f"the run has --aggregation {aggregation}, for which a server must see every single "
            "update; leave out --secure-aggregation, or train with --aggregation mean"
        )
    entries = list(evidence.updates.entries())
    about_all = summed and who.target is None
    name = SUM if about_all else _user(entries, who.target, evidence)
    of_round: dict[int, list[str]] = {}
    for each in entries:
        if summed or each.user == name:
            of_round.setdefault(each.round, []).append(each.user)
    if summed and not about_all:
        of_round = {t: users for t, users in of_round.items() if name in users}
    senders = dict(list(of_round.items())[:: who.every])
    about = senders if about_all else {t: [name] for t in senders}
    truth = None if evidence.truth is None else _truth_of(about, evidence.truth)
    return Target(evidence, summed, name, senders, truth)


def _truth_of(senders: Mapping[int, Sequence[str]], truth: Truth) -> dict[int, LocalData]:
    """All points that the senders of an update measured in each round."""
    found = {}
    for t, users in senders.items():
        missing = [user for user in users if user not in truth.get(t, {})]
        if missing:
            raise UserError(
                f"the data has no rows of user {shown(missing[0])} in round {t}; give the "
                "measurements that the transcript was made from, and its --cell"
            )
        found[t] = LocalData.join([truth[t][user] for user in users])
    return found


def _user(entries: Sequence[Entry], target: str | None, evidence: Evidence) -> str:
    """The target asked for, or the user who measured most; without the truth, who sent most.

    A defence may make the user who measured most send few points. Users who sent in three rounds
    or more go before the others.
    """
    points = Counter[str]()
    rounds = Counter(each.user for each in entries)
    for each in entries:
        known = (evidence.truth or {}).get(each.round, {}).get(each.user)
        points[each.user] += each.n if known is None else len(known)
    if not points:
        raise UserError(
            "the transcript is empty: no round was finished, the defence left no phone a point to "
            "train on, or what phones sent was no update; train again"
        )
    densest = [user for user, _ in points.most_common()]
    if target is not None and target not in points:
        raise UserError(f"{_why_unseen(target, evidence)}; choose one of: {listed(densest)}")
    enough = [user for user in densest if rounds[user] >= FEWEST_ROUNDS]
    return (enough or densest)[0] if target is None else target


def _why_unseen(target: str, evidence: Evidence) -> str:
    """Why the transcript has no update of a user."""
    if target in evidence.refused:
        return (
            f"the updates of user {shown(target)} were refused ({evidence.refused[target][:100]})"
        )
    if any(target in of_round for of_round in (evidence.truth or {}).values()):
        return (
            f"user {shown(target)} measured, but the transcript has no update of theirs: all were "
            "refused as malformed, or the defence left nothing to train on"
        )
    return f"there is no user {shown(target)} in the transcript"
