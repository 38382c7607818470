"""What a phone does in a round: choose its points, train, and send."""

from dataclasses import dataclass

from veilmap.defences.defence import Report
from veilmap.defences.memory import Memory
from veilmap.defences.step import LearnedStep
from veilmap.federation.client import user_update
from veilmap.federation.plan import Plan
from veilmap.local_data import LocalData
from veilmap.model.network import Floats


@dataclass(frozen=True)
class Answer:
    """What leaves the phone, w_t^k and n_t^k, and what stays on it.

    Attributes:
        weights: None if the defence left no point to train on; then nothing is sent.
        batch: the points trained on, whose number is all that is sent of them.
        reports: of the steps of the defence, for the phone's owner.
        memory: for the next round.
    """

    weights: Floats | None
    batch: LocalData
    reports: tuple[Report, ...]
    memory: Memory

    @property
    def n(self) -> int:
        """n_t^k, the number of points trained on."""
        return len(self.batch)


def wait(plan: Plan, data: LocalData, user: str, t: int, memory: Memory) -> Memory:
    """What a phone keeps of a round in which it was not asked: steps learn from that too."""
    if not any(isinstance(step, LearnedStep) for step in plan.defence.of(user)):
        return memory
    return plan.defence.local_batch(data, plan.turn(user, t), memory)[2]


def answer(
    plan: Plan, weights: Floats, data: LocalData, user: str, t: int, memory: Memory
) -> Answer:
    """Lines 15-22 of Algorithm 1 from D_t^k, with the defence before and after training."""
    batch, reports, memory = plan.defence.local_batch(data, plan.turn(user, t), memory)
    if not len(batch):
        return Answer(None, batch, reports, memory)
    after = user_update(plan, weights, batch, user, t)
    sent, more = conceal(plan, weights, after, len(batch), user, t)
    return Answer(sent, batch, (*reports, *more), memory)


def conceal(
    plan: Plan, weights: Floats, after: Floats, n: int, user: str, t: int
) -> tuple[Floats, tuple[Report, ...]]:
    """What is sent of w_t^k, trained on n points, and what the steps on the update did."""
    update, reports = plan.defence.update(after - weights, n, plan.turn(user, t))
    # Without a step on the update the weights go out as they are, to the bit.
    return (weights + update if reports else after), reports
