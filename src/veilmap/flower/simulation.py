"""Many simulated nodes on a Ray cluster, through Flower's own engine."""

import logging
import math
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from flwr.app import ConfigRecord, Context, Message, MessageType, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.simulation import run_simulation

from veilmap.errors import UserError
from veilmap.federation.evaluation import Evaluation
from veilmap.flower.campaign import Campaign
from veilmap.flower.journal import Journal
from veilmap.flower.ledger import Ledger
from veilmap.flower.messages import CONFIG, messages
from veilmap.flower.minimum import Minimum
from veilmap.flower.node import Request, Sent, respond, steps_for
from veilmap.flower.node_app import node_app
from veilmap.flower.own_data import OwnRounds
from veilmap.flower.secure.stages import Stage, from_record, to_record
from veilmap.flower.server_app import Assignment, carry_out
from veilmap.flower.strategy import connected
from veilmap.flower.sum_messages import SECURE
from veilmap.flower.vetting import usual_norm
from veilmap.rounds import parse_interval
from veilmap.study.prepare import Prepared
from veilmap.study.results import settings_record

# Simulated nodes do what the settings of the run say.
NO_DEMANDS = Minimum(
    defence=(),
    epochs=1,
    batch_size="inf",
    learning_rate=1e-300,
    cumulative=True,
    interval="1s",
    centred=False,
    points=1,
)
NEVER_TOO_EARLY = math.inf
LOOPBACK = "127.0.0.1"
PARTITION, USER = "partition-id", "user"


@dataclass(frozen=True)
class Person:
    """One simulated node: its user, its rounds, and the steps that it takes."""

    user: str
    rounds: OwnRounds
    minimum: Minimum
    seed: int

    def consent(self, request: Request) -> None:
        """Raise ``RefusalError`` if there is a reason to."""
        steps_for(request, self.minimum, self._ledger, NEVER_TOO_EARLY)

    def answer(self, request: Request) -> Sent | None:
        """The update to send."""
        data = self.rounds, self.user
        return respond(request, self.minimum, self._ledger, *data, NEVER_TOO_EARLY)[0]

    @contextmanager
    def desk(self, context: Context) -> Iterator["ContextDesk"]:
        """In Flower's own context: a simulated node gets one message at a time."""
        yield ContextDesk(context)

    @property
    def _ledger(self) -> Ledger:
        return Ledger(self.seed, study=True)


@dataclass(frozen=True)
class ContextDesk:
    """A node's place in a secure sum, in Flower's context."""

    context: Context

    def read(self) -> Stage | None:
        """The stage that was written last."""
        if SECURE not in self.context.state:
            return None
        return from_record(self.context.state.config_records[SECURE])

    def write(self, stage: Stage) -> None:
        """For the next message."""
        self.context.state[SECURE] = ConfigRecord({**to_record(stage)})


def simulate(
    prepared: Prepared,
    out: str | Path,
    *,
    cluster: str | None = None,
    cpus: int | None = None,
    secure_aggregation: bool = False,
    timeout_s: float = 3600.0,
) -> Journal:
    """Train what ``study.train`` trains, with one Flower node per user.

    Args:
        prepared: what ``prepare`` made of measurements and settings.
        out: a folder for the run.
        cluster: the address of a Ray cluster, such as ``auto``; by default one is started on this
            machine, for this machine alone.
        cpus: how many cores a cluster that is started takes; by default all.
        secure_aggregation: let the server see sums only.
        timeout_s: how long the server waits for the nodes in a round.
    """
    campaign = replace(campaign_of(prepared), secure_aggregation=secure_aggregation)
    assignment = Assignment(
        campaign.text,
        str(out),
        nodes=len(prepared.users),
        timeout_s=timeout_s,
        most_norm=usual_norm(campaign.network, prepared.settings.protection.steps),
        most_points=sys.maxsize,
    )
    finished: list[Journal] = []
    with _ray(cluster, cpus) as ray:
        people = [ray.put(person) for person in people_of(prepared)]
        run_simulation(
            _server(assignment, prepared, finished),
            _client(people),
            num_supernodes=len(people),
            backend_config={"client_resources": {"num_cpus": 1}},
        )
    if not finished:
        raise UserError("the simulation ended early; what Flower logged above says why")
    return finished[0]


def campaign_of(prepared: Prepared) -> Campaign:
    """The campaign that asks for what the settings of a run in this process say."""
    if prepared.settings.protection.oracle or prepared.settings.task.scaler != "area":
        raise UserError(
            "nodes have no sample and no mean of everybody's data; take --scaler area, and of gan "
            "learns_from=past"
        )
    first, last = prepared.rounds[0], prepared.rounds[-1]
    interval_s = parse_interval(prepared.settings.task.interval)
    return Campaign(
        cell=prepared.cell,
        area=prepared.plan.area,
        epsg=prepared.data.projection.epsg,
        interval_s=interval_s,
        first_s=first.start_s - (first.number - 1) * interval_s,
        rounds=last.number,
        label_offset_dbm=prepared.plan.label_offset_dbm,
        network=prepared.plan.network,
        training=prepared.plan.training,
        seed=prepared.plan.seed,
    )


def people_of(prepared: Prepared) -> Iterator[Person]:
    """The users in the order of their partitions."""
    protection = prepared.settings.protection
    rounds = tuple(prepared.training_rounds)
    for user in prepared.users:
        defended = not protection.defended or user in protection.defended
        steps = protection.texts if defended else ()
        own = {this.number: this.data[user] for this in rounds if user in this.data}
        yield Person(user, own, replace(NO_DEMANDS, defence=steps), prepared.plan.seed)


def _client(people: Sequence[Any]) -> ClientApp:
    """``people`` are references into Ray's store: each node takes its own person's data."""

    def person(context: Context) -> Person:
        import ray

        found: Person = ray.get(people[int(context.node_config[PARTITION])])
        return found

    app = node_app(person)

    @app.query()
    def name(message: Message, context: Context) -> Message:
        record = ConfigRecord({USER: person(context).user})
        return Message(RecordDict({CONFIG: record}), reply_to=message)

    return app


def _server(assignment: Assignment, prepared: Prepared, finished: list[Journal]) -> ServerApp:
    app = ServerApp()

    @app.main()
    def main(grid: Grid, context: Context) -> None:
        asked = {node: RecordDict() for node in connected(grid, assignment.nodes)}
        replies = grid.send_and_receive(messages(asked, MessageType.QUERY, 0))
        names = {
            each.metadata.src_node_id: str(each.content.config_records[CONFIG][USER])
            for each in replies
        }
        # Of sums no run in one process has a record.
        secure = Campaign.of_text(assignment.campaign).secure_aggregation
        known = () if secure else (prepared.header, settings_record(prepared))
        test = Evaluation(prepared.plan, prepared.test)
        finished.append(carry_out(assignment, grid, names.__getitem__, test, *known))

    return app


@contextmanager
def _ray(cluster: str | None, cpus: int | None) -> Iterator[Any]:
    """A cluster, given or our own; Flower takes the one that it finds running."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # what Ray warns it will do
    own: dict[str, Any] = {"num_cpus": cpus, "_node_ip_address": LOOPBACK}
    if not cluster:
        # Ray replaces the loopback address by one that others reach, unless it is told that this
        # machine is no part of a cluster; it looks at this when it is imported.
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    import ray

    where = {"address": cluster} if cluster else own
    ray.init(include_dashboard=False, logging_level=logging.WARNING, **where)
    try:
        here = ray.util.get_node_ip_address()  # type: ignore[no-untyped-call]
        if not cluster and here != LOOPBACK:
            raise UserError(
                "Ray was imported before and would listen on all interfaces; start Python with "
                "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0, or give the address of a cluster"
            )
        yield ray
    finally:
        ray.shutdown()
