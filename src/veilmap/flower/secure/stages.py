"""A node's state between the steps of a round, and its record, which survives a restart.

Each stage holds what the next step needs and no more: a deleted secret cannot leak.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from veilmap.errors import unknown_choice
from veilmap.flower.secure.keys import PrivateKeys, PublicKeys
from veilmap.flower.secure.roster import Roster
from veilmap.flower.secure.rows import id_row, node_of, pack, unpack

# The kinds of values that a Flower ConfigRecord can hold.
Record = dict[str, str | int | bytes | list[bytes]]

SEED_BYTES = 16


@dataclass(frozen=True)
class Advertised:
    """After step 1: the private keys of the advertised public keys."""

    context: bytes
    me: int
    private: PrivateKeys

    def to_record(self) -> Record:
        return {"context": self.context, "me": id_row(self.me), **_private_to_record(self.private)}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Advertised":
        return cls(record["context"], node_of(record["me"]), _private_from_record(record))


@dataclass(frozen=True)
class Shared:
    """After step 2: the seed b of the own mask, and the node's own shares of its secrets."""

    roster: Roster
    me: int
    private: PrivateKeys
    seed: bytes = field(repr=False)
    own: "SharePair"

    def to_record(self) -> Record:
        keys = {node: keys.raw for node, keys in self.roster.keys.items()}
        return {
            "context": self.roster.context,
            "threshold": self.roster.threshold,
            "keys": pack(keys),
            "me": id_row(self.me),
            **_private_to_record(self.private),
            "seed": self.seed,
            "own": self.own.raw,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Shared":
        keys = {node: PublicKeys.of(raw) for node, raw in unpack(record["keys"]).items()}
        return cls(
            Roster(record["context"], keys, record["threshold"]),
            node_of(record["me"]),
            _private_from_record(record),
            record["seed"],
            SharePair.of(record["own"]),
        )


@dataclass(frozen=True)
class Masked:
    """After step 3: the shares of all nodes that shared, U₂. The node's own secrets are deleted."""

    me: int
    threshold: int
    shares: Mapping[int, "SharePair"]

    def to_record(self) -> Record:
        shares = {node: pair.raw for node, pair in self.shares.items()}
        return {"me": id_row(self.me), "threshold": self.threshold, "shares": pack(shares)}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Masked":
        shares = {node: SharePair.of(raw) for node, raw in unpack(record["shares"]).items()}
        return cls(node_of(record["me"]), record["threshold"], shares)


@dataclass(frozen=True)
class Unmasked:
    """After step 4: the answer and its survivors. The other shares are deleted."""

    survivors: frozenset[int]
    answer: Mapping[int, bytes] = field(repr=False)

    def to_record(self) -> Record:
        return {
            "survivors": [id_row(node) for node in sorted(self.survivors)],
            "answer": pack(self.answer),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Unmasked":
        return cls(frozenset(map(node_of, record["survivors"])), unpack(record["answer"]))


@dataclass(frozen=True)
class SharePair:
    """One holder's shares of one node's two secrets. Only one of them may ever be revealed."""

    of_seed: bytes = field(repr=False)
    of_key: bytes = field(repr=False)

    @property
    def raw(self) -> bytes:
        return self.of_seed + self.of_key

    @classmethod
    def of(cls, raw: bytes) -> "SharePair":
        """Split at the size of the seed: a share is as long as its secret."""
        return cls(raw[:SEED_BYTES], raw[SEED_BYTES:])


Stage = Advertised | Shared | Masked | Unmasked

# By their names in records, which a node of another version may read: they must not change.
STAGES: dict[str, type[Stage]] = {
    kind.__name__.lower(): kind for kind in (Advertised, Shared, Masked, Unmasked)
}


def to_record(stage: Stage) -> Record:
    """A stage as flat values, with its name; it holds secrets, so it must not leave the node."""
    return {"stage": type(stage).__name__.lower(), **stage.to_record()}


def from_record(record: Mapping[str, Any]) -> Stage:
    """The stage that ``to_record`` wrote down."""
    if record["stage"] not in STAGES:
        raise unknown_choice("stage", record["stage"], STAGES)
    return STAGES[record["stage"]].from_record(record)


def _private_to_record(private: PrivateKeys) -> Record:
    return {"private_sealing": private.sealing, "private_masking": private.masking}


def _private_from_record(record: Mapping[str, Any]) -> PrivateKeys:
    return PrivateKeys(record["private_sealing"], record["private_masking"])
