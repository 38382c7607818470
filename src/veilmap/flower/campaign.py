"""What a server asks of its nodes, round by round; all that a node reads of the server."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isfinite
from typing import Annotated, Any

from pydantic import PlainValidator

from veilmap.area import Area
from veilmap.defences.defence import Defence
from veilmap.errors import Checked, UserError, fault_of, out_of_range, refuse, too_low
from veilmap.federation.map_family import MapFamily
from veilmap.federation.plan import Plan, Training, family_faults
from veilmap.federation.side_knowledge import Header, SideKnowledge
from veilmap.flower.exchange import Exchange, exchange_of
from veilmap.geo import Projection
from veilmap.local_data import Scaler
from veilmap.maps.families import MAP_FAMILIES, MissingMap, is_own, map_record, own_map_of_record
from veilmap.maps.kriging_map import KrigingMap
from veilmap.settings import load_json, parse, plain
from veilmap.signal_map.signal_map import MapFacts
from veilmap.strategy import as_text
from veilmap.study.protection import Protection

NODES_OWN = "the nodes' own"  # steps, unknown to a server
LONGEST_S = 366 * 86_400.0
MOST_ROUNDS = 1_000_000


@dataclass(frozen=True)
class Campaign(Checked):
    """One cell's map, from public values and measurements that arrive in rounds.

    Attributes:
        cell: whose measurements are asked for.
        area: the public area, in metres of ``epsg``; positions are standardised by it.
        epsg: the projection.
        interval_s: T, the duration of a round.
        first_s: when round 1 begins, in seconds since 1970.
        rounds: R.
        label_offset_dbm: the public mean that the map has deviations from.
        map: the kind of map, with its settings; one of ours, which all nodes know.
        training: B, E and η; a node may average more, and never less than its own minimum.
        defence: the steps that the server proposes; a node has its own and accepts few others.
        secure_aggregation: whether the server sees sums only.
        seed: seed of the initial weights and of the sampling; nodes have their own seeds.
    """

    cell: str
    area: Area
    epsg: int
    interval_s: float
    first_s: float
    rounds: int
    label_offset_dbm: float = 0.0
    map: Annotated[MapFamily, PlainValidator(own_map_of_record)] = field(default_factory=KrigingMap)
    training: Training = field(default_factory=Training)
    defence: tuple[str, ...] = ()
    secure_aggregation: bool = False
    seed: int = 0

    def _faults(self) -> Iterator[UserError]:
        if not 0 < self.interval_s <= LONGEST_S:
            yield out_of_range("interval_s", f"above 0 and at most {LONGEST_S:g}", self.interval_s)
        if not isfinite(self.first_s):
            yield out_of_range("first_s", "a finite number of seconds", self.first_s)
        if not 1 <= self.rounds <= MOST_ROUNDS:
            yield out_of_range("rounds", f"from 1 to {MOST_ROUNDS:,}", self.rounds)
        if not isfinite(self.label_offset_dbm):
            yield out_of_range("label_offset_dbm", "a finite number", self.label_offset_dbm)
        yield from too_low(0, seed=self.seed)
        if self.secure_aggregation and self.training.aggregation != "mean":
            yield UserError(
                f"--aggregation {self.training.aggregation} compares single updates, and under "
                "--secure-aggregation the server sees their sum alone; leave out one of the two"
            )
        wrong_steps = list(fault_of(Protection, self.defence))
        yield from wrong_steps or fault_of(self._check_map)

    def _check_map(self) -> None:
        if isinstance(self.map, MissingMap):
            return  # the node says so
        if not is_own(self.map):
            raise unknown_to_nodes(self.map)
        refuse(family_faults(self.map, self.training, Protection(self.defence).steps))
        _ = self.exchange.length  # an area may have more squares than fit

    @property
    def text(self) -> str:
        """The campaign as it is sent; equal campaigns have equal texts."""
        return json.dumps(self.record)

    @property
    def record(self) -> dict[str, Any]:
        """For JSON."""
        return {**plain(self), "map": map_record(self.map)}

    @classmethod
    def of_text(cls, text: str) -> "Campaign":
        """The campaign from its text."""
        content = load_json(text, "a campaign must be JSON", "run it again")
        return parse(cls, content, "campaign")

    @property
    def projection(self) -> Projection:
        return Projection(self.epsg)

    @property
    def scaler(self) -> Scaler:
        return Scaler.of_area(self.area)

    def start_s(self, t: int) -> float:
        """When round t begins; it ends ``interval_s`` later."""
        return self.first_s + (t - 1) * self.interval_s

    def plan(self, training: Training, defence: Defence, seed: int) -> Plan:
        """The plan of a phone whose own requirements have been applied."""
        return Plan(
            self.map,
            self.scaler,
            self.area,
            training,
            self.label_offset_dbm,
            seed,
            defence,
            self.cell,
        )

    @property
    def servers_plan(self) -> Plan:
        """The server's settings for sampling and evaluation."""
        return self.plan(self.training, Defence(), self.seed)

    @property
    def exchange(self) -> Exchange:
        """What server and nodes send each other."""
        return exchange_of(self.servers_plan)

    @property
    def header(self) -> Header:
        """What the server knows besides the updates; none of it is from user data.

        It only knows that nodes may do more by their own minimum.
        """
        known = SideKnowledge(
            self.scaler,
            self.area,
            self.epsg,
            self.label_offset_dbm,
            self.training,
            self.interval_s,
            defence=(*Protection(self.defence).texts, NODES_OWN),
        )
        return Header(self.map, known)

    @property
    def map_facts(self) -> MapFacts:
        """The facts in a map file besides its weights."""
        return MapFacts(
            self.cell, self.map, self.scaler, self.label_offset_dbm, self.area, self.projection
        )


def unknown_to_nodes(family: MapFamily) -> UserError:
    """The error for a map of another package, or of Python."""
    ours = " or ".join(f"--map {name}" for name in MAP_FAMILIES.own)
    return UserError(
        f"nodes make the maps of veilmap alone, got map {as_text(family)}; take {ours}"
    )
