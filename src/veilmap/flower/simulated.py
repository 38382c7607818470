"""The users of a run in one process as nodes, and the equivalent campaign."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from flwr.app import ConfigRecord, Context

from veilmap.errors import UserError
from veilmap.flower.campaign import Campaign
from veilmap.flower.exchange import Update
from veilmap.flower.ledger import Ledger
from veilmap.flower.minimum import Minimum
from veilmap.flower.node import Request, respond, steps_for
from veilmap.flower.own_data import OwnRounds
from veilmap.flower.secure.stages import Stage, from_record, to_record
from veilmap.flower.sum_messages import SECURE
from veilmap.rounds import parse_interval
from veilmap.study.prepare import Prepared

# Simulated nodes follow the settings of the run.
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


def campaign_of(prepared: Prepared) -> Campaign:
    """The campaign equivalent to the settings of a run in one process."""
    if prepared.settings.protection.oracle or prepared.settings.task.scaler != "area":
        raise UserError(
            "nodes have no sample and no mean of all users' data; take --scaler area, and of "
            "defences learns_from=past"
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
        map=prepared.plan.map,
        training=prepared.plan.training,
        seed=prepared.plan.seed,
    )


def people_of(prepared: Prepared) -> Iterator["Person"]:
    """The users in the order of their partitions."""
    protection = prepared.settings.protection
    rounds = tuple(prepared.training_rounds)
    ledger = Ledger(prepared.plan.seed, study=True)
    for user in prepared.users:
        defended = not protection.defended or user in protection.defended
        steps = protection.texts if defended else ()
        own = {this.number: this.data[user] for this in rounds if user in this.data}
        yield Person(user, own, replace(NO_DEMANDS, defence=steps), ledger)


@dataclass(frozen=True)
class Person:
    """One simulated node: its user, its rounds, its defence steps, and a ledger without entries."""

    user: str
    rounds: OwnRounds
    minimum: Minimum
    ledger: Ledger

    def consent(self, request: Request) -> None:
        """Raise ``RefusalError`` if there is a reason to."""
        steps_for(request, self.minimum, self.ledger, NEVER_TOO_EARLY)

    def answer(self, request: Request) -> Update | None:
        """The update to send."""
        data = self.rounds, self.user
        return respond(request, self.minimum, self.ledger, *data, NEVER_TOO_EARLY)[0]

    @contextmanager
    def stage_storage(self, context: Context) -> Iterator["ContextStageStorage"]:
        """In Flower's own context: a simulated node gets one message at a time."""
        yield ContextStageStorage(context)


@dataclass(frozen=True)
class ContextStageStorage:
    """A node's place in a secure sum, in Flower's context."""

    context: Context

    def read(self) -> Stage | None:
        """The last stage that was written."""
        if SECURE not in self.context.state:
            return None
        return from_record(self.context.state.config_records[SECURE])

    def write(self, stage: Stage) -> None:
        """Write the stage for the next message."""
        self.context.state[SECURE] = ConfigRecord({**to_record(stage)})
