"""Which users an audit attacks: all, so many, those named, or as many as fit into its time."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from veilmap.auditing.settings import Question
from veilmap.errors import UserError, shown
from veilmap.rounds import FEWEST_ROUNDS
from veilmap.study.prepare import Prepared
from veilmap.wording import counted, listed

# Three minutes on two cores.
BUDGET_MS = 360_000.0


@dataclass(frozen=True)
class Targets:
    """The users to attack, those with most measurements first.

    Attributes:
        users: their names.
        rounds: by user of the cell, in how many rounds there are training data.
    """

    users: tuple[str, ...]
    rounds: Mapping[str, int]

    def about(self, names: Sequence[str]) -> str:
        """``2 of 7 users (a, b)``, with ``names`` for the targets."""
        everybody = len(self.rounds)
        if len(names) == everybody:
            return f"all {everybody:,} users" if everybody > 1 else f"the only user, {names[0]}"
        return f"{len(names):,} of {counted(everybody, 'user')} ({listed(names)})"

    def remarks(self) -> Iterator[str]:
        """Who was left out, and of which targets there is little."""
        enough = [user for user in self.rounds if not self._is_short(user)]
        left_out = [user for user in self.rounds if user not in self.users]
        could = [user for user in left_out if user in enough]
        if could:
            work, more = (sum(self.rounds[user] for user in part) for part in (self.users, could))
            times = f", at {1 + more / work:.1f} times the work" if work else ""
            yield (
                f"Not attacked: {counted(len(could), 'user')} with at least {FEWEST_ROUNDS} "
                f"rounds; --targets all attacks all of them{times}."
            )
        if len(left_out) > len(could):
            others = counted(len(left_out) - len(could), "user")
            yield f"Not attacked: {others} with fewer than {FEWEST_ROUNDS} rounds."
        short = [user for user in self.users if self._is_short(user)]
        if short:
            yield (
                f"Fewer than {FEWEST_ROUNDS} rounds are known of {len(short):,} of "
                f"{counted(len(self.users), 'target')}: what is found of so few says little of "
                "others; take a shorter --interval, or other targets."
            )

    def _is_short(self, user: str) -> bool:
        return self.rounds[user] < FEWEST_ROUNDS


def rounds_by_user(prepared: Prepared) -> dict[str, int]:
    """In how many rounds every user has training data, those with most measurements first."""
    counts = Counter(user for each in prepared.rounds for user in each.data)
    return {user: counts[user] for user in prepared.data.users}


def choose(
    rounds: Mapping[str, int], question: Question, cell: str, per_round_ms: float
) -> Targets:
    """Those asked for; else as many as fit, those with most measurements first.

    An audit costs ``per_round_ms`` times the attacked rounds of all targets. As many users with at
    least three rounds are taken as stay within ``BUDGET_MS``, at least one. Counts decide and no
    clock, so that the same data have the same targets on every machine.

    Args:
        rounds: by user, as ``rounds_by_user`` has them.
        question: who is asked for, and in which rounds.
        cell: the name of the cell tower, for messages.
        per_round_ms: as ``cost_per_round_ms`` has it.

    Raises:
        UserError: a user has no measurement in the cell, or there are not so many users.
    """
    users, wanted = list(rounds), question.target
    unknown = [user for user in wanted if user not in users]
    if unknown:
        raise UserError(
            f"user {shown(unknown[0])} has no measurement in cell {cell}; choose one "
            f"of: {listed(users)}"
        )
    if isinstance(question.targets, int) and question.targets > len(users):
        raise UserError(
            f"targets must be at most {len(users)}, the users of cell {cell}, got "
            f"{question.targets}"
        )
    return Targets(wanted or tuple(_chosen(question, rounds, per_round_ms)), rounds)


def _chosen(question: Question, rounds: Mapping[str, int], per_round_ms: float) -> Sequence[str]:
    """Users with enough rounds go before the others, who are taken only where there is need."""
    users = list(rounds)
    enough = [user for user in users if rounds[user] >= FEWEST_ROUNDS]
    if isinstance(question.targets, int):
        others = [user for user in users if user not in enough]
        return [*enough, *others][: question.targets]
    if question.targets == "all":
        return enough or users
    attacked = {user: ceil(count / question.every) for user, count in rounds.items()}
    return _fitting(enough or users[:1], attacked, per_round_ms)


def _fitting(
    users: Sequence[str], attacked: Mapping[str, int], per_round_ms: float
) -> Sequence[str]:
    spent_ms = 0.0
    for number, user in enumerate(users):
        spent_ms += per_round_ms * attacked[user]
        if spent_ms > BUDGET_MS:
            return users[: max(number, 1)]
    return users
