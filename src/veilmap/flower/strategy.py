"""The server's side of Algorithm 1 as a Flower strategy."""

import logging
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Message, MessageType, MetricRecord
from flwr.serverapp import Grid
from flwr.serverapp.strategy import FedAvg

from veilmap.federation.aggregation import Aggregation
from veilmap.federation.evaluation import Evaluation
from veilmap.federation.map_family import WEIGHTS
from veilmap.federation.observation import Observation
from veilmap.federation.server import sample_users
from veilmap.federation.update_validation import Vetting
from veilmap.flower.journal import Journal, RoundOutcome
from veilmap.flower.messages import (
    NO_ANSWER,
    NOTHING,
    ask,
    messages,
    weights_of,
    weights_record,
)
from veilmap.flower.node import Request
from veilmap.flower.secure.roster import FEWEST
from veilmap.flower.unpacking import unpack
from veilmap.model.network import Floats
from veilmap.wording import counted

LOOK_S = 1.0
# Nodes refuse rounds that are not over by their own clock; Flower allows it 5 s of error.
GRACE_S = 10.0
log = logging.getLogger("flwr")


@dataclass(frozen=True)
class Conduct:
    """How a server runs its rounds.

    Attributes:
        nodes: a round waits until so many are connected.
        timeout_s: how long the server waits for answers.
        sum_of: the fewest nodes in a secure sum.
        vetting: which updates are accepted.
        test: the server's own measurements, for the RMSE; None if there are none.
        name_of: gives a node's name in the transcript.
    """

    nodes: int = 2
    timeout_s: float = 600.0
    sum_of: int = FEWEST
    vetting: Vetting = field(default_factory=Vetting)
    test: Evaluation | None = None
    name_of: Callable[[int], str] = str


class SignalMapStrategy(FedAvg):
    """FedAvg that waits for the end of a round, validates updates, and records what it saw.

    The aggregation is that of ``federation``, in float64, so that a federation on machines gives
    the weights of one in a process.
    """

    def __init__(self, journal: Journal, conduct: Conduct) -> None:
        # Nodes send nothing but their update, so there is no federated evaluation.
        super().__init__(fraction_evaluate=0.0)
        self._journal, self._conduct = journal, conduct
        self._after = journal.done  # Flower counts the rounds of this run, from 1
        self._asked: Mapping[int, str] = {}  # the nodes of this round, with their names
        self._began = 0.0
        self._average = self._new_average()

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Lines 5-8: once the interval is over, ask S_t for their updates."""
        request = self._begin(server_round, arrays, grid)
        # Before any node is asked: there may be more nodes than a median has memory for.
        self._average = self._new_average()
        return messages(dict.fromkeys(self._asked, ask(request)), MessageType.TRAIN, request.t)

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Lines 9 and 12: what an honest-but-curious server sees, and the average of it."""
        t, before = self._after + server_round, self._journal.weights
        average, seen, start_s = self._average, [], self._journal.campaign.start_s(t)
        left_out = dict.fromkeys(self._asked.values(), NO_ANSWER)
        # For a node that is gone, Flower itself sends an error; of two answers of a node one is
        # used.
        answers = {each.metadata.src_node_id: each for each in replies}
        asked = [each for node, each in answers.items() if node in self._asked]
        # Sorted by name, so that the order of arrival changes nothing.
        for message in sorted(asked, key=self._sender):
            name = self._sender(message)
            found = unpack(message)
            if isinstance(found, str):
                left_out[name] = found
                continue
            refusal = self._conduct.vetting.refusal(
                {WEIGHTS: found.weights}, found.n, {WEIGHTS: before}
            )
            if refusal is None:
                del left_out[name]
                average.add(name, found.weights, found.n)
            else:
                left_out[name] = refusal.why
            if refusal is None or refusal.is_seen:
                seen.append(
                    Observation.of_weights(t, name, before, found.weights, found.n, start_s)
                )
        return self._end(t, average.weights(), average.n, seen, left_out)

    def _begin(self, server_round: int, arrays: ArrayRecord, grid: Grid) -> Request:
        """Wait until the round is over and enough nodes are connected; sample them."""
        t, campaign = self._after + server_round, self._journal.campaign
        ends_s = campaign.start_s(t + 1) + GRACE_S
        if ends_s > time.time():
            log.info("round %d: waiting until its interval is over", t)
        while ends_s > time.time():
            time.sleep(min(LOOK_S, max(ends_s - time.time(), 0)))
        nodes = connected(grid, self._conduct.nodes)
        chosen = sample_users(campaign.servers_plan, [str(node) for node in nodes], t)
        self._asked = {int(node): self._conduct.name_of(int(node)) for node in chosen}
        self._began = time.perf_counter()
        return Request(campaign, t, weights_of(arrays))

    def _end(
        self,
        t: int,
        weights: Floats,
        n: Mapping[str, int],
        seen: Sequence[Observation],
        left_out: Mapping[str, str],
    ) -> tuple[ArrayRecord, MetricRecord | None]:
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
            rmse_db=self._rmse_db(t, weights),
            seconds=time.perf_counter() - self._began,
        )
        self._journal.end_round(outcome, weights, seen)
        log.info("round %d: %s of %s", t, self._what(outcome), counted(outcome.n, "point"))
        return weights_record(weights), None

    def _rmse_db(self, t: int, weights: Floats) -> float | None:
        """The RMSE on the server's own measurements; None without any, or if it is not finite."""
        if self._conduct.test is None:
            return None
        with np.errstate(all="ignore"):  # weights of 1e38 are finite, their predictions are not
            rmse_db = self._conduct.test.rmse_db({WEIGHTS: weights})
        if math.isfinite(rmse_db):
            return rmse_db
        log.warning("round %d: the map's predictions are not finite; lower --learning-rate", t)
        return None

    def _new_average(self) -> Aggregation:
        training = self._journal.campaign.training
        return training.aggregate(self._journal.weights, len(self._asked))

    def _what(self, outcome: RoundOutcome) -> str:
        return counted(len(outcome.users), "update")

    def _sender(self, message: Message) -> str:
        return self._asked[message.metadata.src_node_id]


def connected(grid: Grid, count: int) -> list[int]:
    """The connected nodes, as soon as there are ``count`` of them."""
    nodes = sorted(grid.get_node_ids())
    if len(nodes) < count:
        log.info("waiting for nodes: %d of %d are connected", len(nodes), count)
    while len(nodes) < count:
        time.sleep(LOOK_S)
        nodes = sorted(grid.get_node_ids())
    return nodes
