"""A node's answer to a request: check it against the node's requirements, then Algorithm 1."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from flwr.app import Context

from veilmap.defences.defence import Defence
from veilmap.defences.memory import NEW
from veilmap.defences.step import Step
from veilmap.federation.map_family import Arrays
from veilmap.federation.phone import answer, apply_update_defences, wait
from veilmap.federation.plan import Plan
from veilmap.flower.campaign import Campaign
from veilmap.flower.exchange import Update
from veilmap.flower.ledger import Ledger, LedgerEntry, entry_of
from veilmap.flower.minimum import Minimum, mu_of_update
from veilmap.flower.own_data import OwnRounds
from veilmap.flower.refusal import RefusalError
from veilmap.flower.secure.stages import Stage
from veilmap.model.threads import one_thread
from veilmap.strategy import as_text
from veilmap.study.protection import Protection


@dataclass(frozen=True)
class Request:
    """Round t of a campaign, and what its nodes get of the server's state, such as w_{t-1}."""

    campaign: Campaign
    t: int
    state: Arrays


class StageStorage(Protocol):
    """Storage for a node's stage of a secure sum between two messages."""

    def read(self) -> Stage | None:
        """The last stage that was written; None at the beginning."""

    def write(self, stage: Stage) -> None:
        """Called before the answer is sent."""


class ClientNode(Protocol):
    """A node as the Flower app sees it: its requirements, its answers, its storage."""

    @property
    def minimum(self) -> Minimum:
        """The node's requirements."""

    def consent(self, request: Request) -> None:
        """Raise ``RefusalError`` if it will not answer, whatever its data."""

    def answer(self, request: Request) -> Update | None:
        """The update to send."""

    def stage_storage(self, context: Context) -> AbstractContextManager[StageStorage]:
        """The storage, locked while the block runs: only one message uses it at a time."""


def steps_for(request: Request, minimum: Minimum, ledger: Ledger, now_s: float) -> tuple[Step, ...]:
    """The defence steps of the node's answer.

    Raises:
        RefusalError: the campaign, the time, the steps or the ledger do not allow an answer.
    """
    steps = minimum.steps(Protection(request.campaign.defence).steps)
    entry = _entry(request, minimum, steps)
    objections = [
        *minimum.objections(request.campaign),
        *minimum.unfit_steps(request.campaign, steps),
    ]
    if now_s < request.campaign.start_s(request.t + 1):
        # An unfinished round would be answered repeatedly, each time with newer points.
        objections.append("answers when a round is over")
    objections += ledger.objections(entry, _again(request))
    if not ledger.has(entry):
        objections += minimum.overspends(steps, ledger.spent_mu)
    if objections:
        raise RefusalError("; ".join(objections))
    return steps


def respond(
    request: Request, minimum: Minimum, ledger: Ledger, rounds: OwnRounds, user: str, now_s: float
) -> tuple[Update | None, Ledger]:
    """Lines 15-22 of Algorithm 1 on the node, and the ledger with this answer in it.

    Nothing is sent if the round has too few points or the defence leaves none. In a secure sum a
    node then sends a masked zero, which is entered in the ledger too: otherwise the server could
    learn from a second request who did.

    Raises:
        RefusalError: see ``steps_for``; or the data of an answered round have changed.
    """
    steps = steps_for(request, minimum, ledger, now_s)
    entry, data = _entry(request, minimum, steps), rounds.get(request.t)
    if data is not None:
        entry = replace(entry, data=ledger.fingerprint(data))
    for why in ledger.objections(entry, _again(request)):
        raise RefusalError(why)
    sent = None
    if data is not None and len(data) >= minimum.points:
        training = minimum.training(request.campaign.training)
        plan = request.campaign.plan(training, Defence(steps), ledger.seed_for(entry))
        sent = _trained(plan, request, rounds, user, minimum.fewest(steps))
    entered = sent is not None or request.campaign.secure_aggregation
    return sent, ledger.with_(entry) if entered else ledger


def _again(request: Request) -> bool:
    # Two sums over different nodes differ by one node's update.
    return not request.campaign.secure_aggregation


def _trained(
    plan: Plan, request: Request, rounds: OwnRounds, user: str, fewest: int
) -> Update | None:
    t = request.t
    with one_thread():
        memory = NEW
        # What the steps learned in earlier rounds is learned again: each message is a new process.
        for earlier in sorted(number for number in rounds if number < t):
            memory = wait(plan, rounds[earlier], user, earlier, memory)
        done = answer(plan, request.state, rounds[t], user, t, memory)
    if done.message is None or done.n < fewest:
        return None
    if all(np.isfinite(values).all() for values in done.message.values()):
        return Update(done.message, done.n)
    # Weights can be crafted such that training overflows if the user was beyond some line: then
    # "not finite" would be an answer without noise. With dp a zero is sent under the noise.
    hidden, reports = apply_update_defences(plan, request.state, request.state, done.n, user, t)
    return Update(hidden, done.n) if reports else None


def _entry(request: Request, minimum: Minimum, steps: Sequence[Step]) -> LedgerEntry:
    how = [*map(as_text, steps), repr(minimum.training(request.campaign.training))]
    return entry_of(request.campaign, request.t, request.state, how, mu_of_update(steps))
