"""Many simulated nodes on a Ray cluster, through Flower's own engine."""

import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
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
from veilmap.flower.messages import CONFIG, messages
from veilmap.flower.node_app import node_app
from veilmap.flower.server_app import carry_out
from veilmap.flower.simulated import Person, campaign_of, people_of
from veilmap.flower.strategy import Assignment, connected
from veilmap.study.prepare import Prepared

LOOPBACK = "127.0.0.1"
PARTITION, USER = "partition-id", "user"


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
        prepared: the result of ``prepare``.
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
        most_norm=campaign.exchange.most_norm(None, prepared.settings.protection.steps),
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
        # Runs in one process do not record sums.
        secure = Campaign.of_text(assignment.campaign).secure_aggregation
        simulated = None if secure else prepared
        test = Evaluation(prepared.plan, prepared.test)
        finished.append(carry_out(assignment, grid, names.__getitem__, test, simulated))

    return app


@contextmanager
def _ray(cluster: str | None, cpus: int | None) -> Iterator[Any]:
    """Connect to a cluster or start one; Flower uses the running one."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # The behaviour that Ray announces in a warning.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    where: dict[str, Any] = {"address": cluster}
    if not cluster:
        where = {"num_cpus": cpus, "_node_ip_address": LOOPBACK}
        # Ray replaces the loopback address by a public one unless this variable says that the
        # machine is not part of a cluster; Ray reads it when it is imported.
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    import ray

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
