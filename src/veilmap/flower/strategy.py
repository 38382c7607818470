"""The server's side of Algorithm 1 as a Flower strategy."""

import logging
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Message, MessageType, MetricRecord
from flwr.serverapp import Grid
from flwr.serverapp.strategy import FedAvg

from veilmap.federation import verbs
from veilmap.federation.evaluation import Evaluation
from veilmap.federation.map_family import Arrays, Sent
from veilmap.federation.observation import Observation
from veilmap.federation.server import sample_users
from veilmap.federation.update_validation import Refusal, UpdateLimits
from veilmap.flower.exchange import Update, exchange_of
from veilmap.flower.journal import Journal, RoundOutcome
from veilmap.flower.messages import NO_ANSWER, NOTHING, ask, messages, unpack
from veilmap.flower.node import Request
from veilmap.flower.secure.roster import FEWEST
from veilmap.wording import counted

LOOK_S = 1.0
# Nodes refuse rounds that are not over by their own clock; Flower allows it 5 s of error.
GRACE_S = 10.0
log = logging.getLogger("flwr")


@dataclass(frozen=True)
class Assignment:
    """A run's configuration, of the plain values that Flower allows.

    Attributes:
        campaign: as text.
        out: the run folder on the server's machine.
        names: the file with the nodes' names, which may grow during a run.
        nodes: number of connected nodes that a round waits for.
        sum_of: smallest number of nodes in a secure sum.
        timeout_s: how long the server waits for answers.
        most_norm: the largest norm of an accepted update.
        most_points: the largest accepted number of points.
        test: a file with the server's own measurements; empty if there is none.
    """

    campaign: str
    out: str
    names: str = ""
    nodes: int = 2
    sum_of: int = FEWEST
    timeout_s: float = 600.0
    most_norm: float = UpdateLimits.most_norm
    most_points: int = UpdateLimits.most_points
    test: str = ""


class SignalMapStrategy(FedAvg):
    """FedAvg that waits for the end of a round, validates updates, and records what it saw.

    Messages are validated and combined as in ``federation``, so that a federation on machines
    gives the map of one in a process. The journal holds the map; Flower has no part in it.

    Args:
        journal: the run folder, with the campaign and its finished rounds.
        assignment: the run's configuration.
        name_of: gives a node's name in the transcript.
        test: the server's own measurements, for the RMSE; None if there are none.
    """

    def __init__(
        self,
        journal: Journal,
        assignment: Assignment,
        name_of: Callable[[int], str],
        test: Evaluation | None = None,
    ) -> None:
        # Nodes send nothing but their update, so there is no federated evaluation.
        super().__init__(fraction_evaluate=0.0)
        self._journal, self._assignment = journal, assignment
        self._name_of, self._test = name_of, test
        limits = UpdateLimits(assignment.most_norm, assignment.most_points)
        self._plan = replace(journal.campaign.servers_plan, update_limits=limits)
        self._exchange = exchange_of(self._plan)
        self._after = journal.done  # Flower counts the rounds of this run, from 1
        self._asked: Mapping[int, str] = {}  # the nodes of this round, with their names
        self._began = 0.0

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Lines 5-8: once the interval is over, ask S_t for their updates."""
        request = self._begin(server_round, grid)
        # Before any node is asked: there may be more nodes than a median has memory for.
        verbs.combine(self._plan, self._journal.state, (), len(self._asked))
        return messages(dict.fromkeys(self._asked, ask(request)), MessageType.TRAIN, request.t)

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Lines 9 and 12: what an honest-but-curious server sees, and what becomes of it."""
        t, n, seen = self._after + server_round, dict[str, int](), list[Observation]()
        left_out = dict.fromkeys(self._asked.values(), NO_ANSWER)
        # For a node that is gone, Flower itself sends an error; of two answers of a node one is
        # used.
        answers = {each.metadata.src_node_id: each for each in replies}
        answered = [node for node in self._asked if node in answers]

        def taken() -> Iterator[Sent]:
            # Sorted by name, so that the order of arrival changes nothing.
            for node in sorted(answered, key=self._asked.__getitem__):
                name, update = self._asked[node], unpack(answers[node], self._exchange)
                if isinstance(update, str):
                    left_out[name] = update
                    continue
                refusal = self._plan.refusal(update.message, update.n, self._journal.state)
                if refusal is None:
                    update = replace(update, n=self._plan.message_size(update.message, update.n))
                seen.extend(self._seen(t, name, update, refusal))
                if refusal is None:
                    del left_out[name]
                    n[name] = update.n
                    yield Sent(name, update.message, update.n)
                else:
                    left_out[name] = refusal.why

        state = verbs.combine(self._plan, self._journal.state, taken(), len(self._asked))
        return self._end(t, state, n, seen, left_out)

    def _seen(
        self, t: int, name: str, update: Update, refusal: Refusal | None
    ) -> Iterator[Observation]:
        """What a curious server reads of an update that it takes or refuses."""
        if refusal is None or refusal.is_seen:
            met, start_s = self._met, self._journal.campaign.start_s(t)
            yield Observation(t, name, met, update.message, update.n, start_s)

    @property
    def _met(self) -> Arrays:
        """What nodes get of the map."""
        return self._plan.shown(self._journal.state)

    def _begin(self, server_round: int, grid: Grid) -> Request:
        """Wait until the round is over and enough nodes are connected; sample them."""
        t, campaign = self._after + server_round, self._journal.campaign
        ends_s = campaign.start_s(t + 1) + GRACE_S
        if ends_s > time.time():
            log.info("round %d: waiting until its interval is over", t)
        while ends_s > time.time():
            time.sleep(min(LOOK_S, max(ends_s - time.time(), 0)))
        nodes = connected(grid, self._assignment.nodes)
        chosen = sample_users(campaign.servers_plan, [str(node) for node in nodes], t)
        self._asked = {int(node): self._name_of(int(node)) for node in chosen}
        self._began = time.perf_counter()
        return Request(campaign, t, self._met)

    def _end(
        self,
        t: int,
        state: Arrays,
        n: Mapping[str, int],
        seen: Sequence[Observation],
        left_out: Mapping[str, str],
    ) -> tuple[None, None]:
        """Write the round down before the next begins."""
        for name, why in left_out.items():
            level = logging.INFO if why == NOTHING else logging.WARNING
            log.log(level, "round %d: nothing taken of %s: %s", t, name, why)
        outcome = RoundOutcome(
            round=t,
            start_s=self._journal.campaign.start_s(t),
            asked=len(self._asked),
            users=tuple(n),
            n=sum(n.values()),
            left_out=left_out,
            rmse_db=self._rmse_db(t, state),
            seconds=time.perf_counter() - self._began,
        )
        self._journal.end_round(outcome, state, seen)
        size = counted(outcome.n, self._exchange.counts)
        log.info("round %d: %s of %s", t, self._what(outcome), size)
        return None, None

    def _rmse_db(self, t: int, state: Arrays) -> float | None:
        """The RMSE on the server's own measurements; None without any, or if it is not finite."""
        if self._test is None:
            return None
        with np.errstate(all="ignore"):  # weights of 1e38 are finite, their predictions are not
            rmse_db = self._test.rmse_db(state)
        if math.isfinite(rmse_db):
            return rmse_db
        log.warning("round %d: the map's predictions are not finite; lower --learning-rate", t)
        return None

    def _what(self, outcome: RoundOutcome) -> str:
        return counted(len(outcome.users), "update")


def connected(grid: Grid, count: int) -> list[int]:
    """The connected nodes, as soon as there are ``count`` of them."""
    nodes = sorted(grid.get_node_ids())
    if len(nodes) < count:
        log.info("waiting for nodes: %d of %d are connected", len(nodes), count)
    while len(nodes) < count:
        time.sleep(LOOK_S)
        nodes = sorted(grid.get_node_ids())
    return nodes
