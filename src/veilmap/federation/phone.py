"""What a phone does in a round: choose its points, make its message, and hide what it must."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from veilmap.defences.defence import Report
from veilmap.defences.memory import Memory
from veilmap.defences.step import LearnedStep, UpdateStep
from veilmap.federation.map_family import Arrays, flat_change, with_change
from veilmap.federation.plan import Plan
from veilmap.federation.trainer import OnThreads, Trainer
from veilmap.local_data import LocalData


@dataclass(frozen=True)
class Answer:
    """What leaves the phone, its message and n_t^k, and what stays on it.

    Attributes:
        message: None if the defence left no point; then nothing is sent.
        batch: the points it was made from, whose number is all that is sent of them.
        reports: of the steps of the defence, for the phone's owner.
        memory: for the next round.
    """

    message: Arrays | None
    batch: LocalData
    reports: tuple[Report, ...]
    memory: Memory

    @property
    def n(self) -> int:
        """n_t^k, the number of points the message was made from."""
        return len(self.batch)


def wait(plan: Plan, data: LocalData, user: str, t: int, memory: Memory) -> Memory:
    """What a phone keeps of a round in which it was not asked: steps learn from that too."""
    if not any(isinstance(step, LearnedStep) for step in plan.defence.of(user)):
        return memory
    return plan.defence.local_batch(data, plan.turn(user, t), memory)[2]


def answer(plan: Plan, state: Arrays, data: LocalData, user: str, t: int, memory: Memory) -> Answer:
    """Lines 15-22 of Algorithm 1 from D_t^k, with the defence before and after training."""
    batch, reports, memory = plan.defence.local_batch(data, plan.turn(user, t), memory)
    if not len(batch):
        return Answer(None, batch, reports, memory)
    ((_, message, more),) = messages(plan, state, {user: batch}, t, OnThreads(1))
    return Answer(message, batch, (*reports, *more), memory)


def messages(
    plan: Plan, state: Arrays, batches: Mapping[str, LocalData], t: int, trainer: Trainer
) -> Iterator[tuple[str, Arrays, tuple[Report, ...]]]:
    """Lines 17-22 for phones with their chosen points: who sends what, and what steps on it did."""
    made = trainer.messages(plan, state, list(batches.items()), t)
    for (user, batch), message in zip(batches.items(), made, strict=True):
        yield user, *apply_update_defences(plan, state, message, len(batch), user, t)


def apply_update_defences(
    plan: Plan, state: Arrays, message: Arrays, n: int, user: str, t: int
) -> tuple[Arrays, tuple[Report, ...]]:
    """What is sent in place of a message made from n points, and what each step on it did."""
    # Without a step on the update a message goes out as it is, to the bit.
    if not any(isinstance(step, UpdateStep) for step in plan.defence.of(user)):
        return message, ()
    change, reports = plan.defence.update(flat_change(state, message), n, plan.turn(user, t))
    return with_change(state, message, change), reports
