"""What a node does with a request: check it against its own demands, then Algorithm 1."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from veilmap.defences.defence import Defence
from veilmap.defences.memory import NEW, Memory
from veilmap.defences.step import Step, as_text
from veilmap.federation.phone import answer, wait
from veilmap.federation.plan import Plan
from veilmap.flower.campaign import Campaign
from veilmap.flower.ledger import Entry, Ledger, entry_of
from veilmap.flower.minimum import Minimum, mu_of_update
from veilmap.flower.own_data import OwnRounds
from veilmap.model.network import Floats
from veilmap.model.threads import one_thread
from veilmap.study.protection import Protection


class RefusalError(Exception):
    """The node does not answer; the text goes to the server and says nothing of its data."""


@dataclass(frozen=True)
class Request:
    """Round t of a campaign, from w_{t-1}."""

    campaign: Campaign
    t: int
    weights: Floats


@dataclass(frozen=True)
class Sent:
    """All that leaves the node: w_t^k and n_t^k."""

    weights: Floats
    n: int


class Node(Protocol):
    """Who answers."""

    @property
    def minimum(self) -> Minimum:
        """What it insists on."""

    def agree(self, request: Request) -> None:
        """Raise ``RefusalError`` if it will not answer, whatever its data."""

    def answer(self, request: Request) -> Sent | None:
        """The update to send."""


def agree(request: Request, minimum: Minimum, ledger: Ledger) -> tuple[Step, ...]:
    """The steps by which the node will answer.

    Raises:
        RefusalError: the campaign, the steps or the ledger do not allow an answer.
    """
    campaign, steps = request.campaign, minimum.steps(Protection(request.campaign.defence).steps)
    again = not campaign.secure_aggregation  # two sums over other nodes differ by somebody's part
    entry = _entry(request, minimum, steps)
    objections = [*minimum.objections(campaign), *ledger.objections(entry, again)]
    if not ledger.has(entry):
        objections += minimum.overspends(steps, ledger.spent_mu)
    if objections:
        raise RefusalError("; ".join(objections))
    return steps


def respond(
    request: Request, minimum: Minimum, ledger: Ledger, rounds: OwnRounds, user: str
) -> tuple[Sent | None, Ledger]:
    """Lines 15-22 of Algorithm 1 on the node, and the ledger with this answer in it.

    Nothing is sent of a round in which too little was measured, or of which the defence leaves
    nothing.

    Raises:
        RefusalError: see ``agree``.
    """
    steps = agree(request, minimum, ledger)
    data = rounds.get(request.t)
    if data is None or len(data) < minimum.points:
        return None, ledger
    plan = request.campaign.plan(
        minimum.training(request.campaign.training), Defence(steps), ledger.seed
    )
    with one_thread():
        memory = _memory(plan, rounds, user, request.t)
        sent = answer(plan, request.weights, data, user, request.t, memory)
    if sent.weights is None:
        return None, ledger
    return Sent(sent.weights, sent.n), ledger.with_(_entry(request, minimum, steps))


def _entry(request: Request, minimum: Minimum, steps: Sequence[Step]) -> Entry:
    how = [*map(as_text, steps), repr(minimum.training(request.campaign.training))]
    return entry_of(request.campaign, request.t, request.weights, how, mu_of_update(steps))


def _memory(plan: Plan, rounds: OwnRounds, user: str, t: int) -> Memory:
    """What the steps learned in earlier rounds, learned again: each message is a new process."""
    memory = NEW
    for earlier in sorted(number for number in rounds if number < t):
        memory = wait(plan, rounds[earlier], user, earlier, memory)
    return memory
