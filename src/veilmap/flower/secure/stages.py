"""What a node remembers between the steps of a round, and how that survives a restart.

Each stage holds what the next step needs and no more: a secret that is gone cannot be asked for.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from veilmap.errors import unknown_choice
from veilmap.flower.secure.keys import KEY_BYTES, PrivateKeys, PublicKeys
from veilmap.flower.secure.roster import Roster

# The kinds of values that a Flower ConfigRecord can hold. Node ids reach 2⁶⁴, so they are bytes.
Record = dict[str, str | int | bytes | list[bytes]]

ID_BYTES = 8
SEED_BYTES = 16


@dataclass(frozen=True)
class Advertised:
    """After step 1: the private keys whose public halves everybody gets."""

    context: bytes
    me: int
    private: PrivateKeys

    def to_record(self) -> Record:
        return {"context": self.context, "me": _id(self.me), **_private_to_record(self.private)}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Advertised":
        return cls(record["context"], _node(record["me"]), _private_from_record(record))


@dataclass(frozen=True)
class Shared:
    """After step 2: the seed b of the own mask, and the node's own shares of its secrets."""

    roster: Roster
    me: int
    private: PrivateKeys
    seed: bytes = field(repr=False)
    own: "SharePair"

    def to_record(self) -> Record:
        keys = {node: keys.sealing + keys.masking for node, keys in self.roster.keys.items()}
        return {
            "context": self.roster.context,
            "threshold": self.roster.threshold,
            "keys": _pack(keys),
            "me": _id(self.me),
            **_private_to_record(self.private),
            "seed": self.seed,
            "own": self.own.raw,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Shared":
        keys = {
            node: PublicKeys(raw[:KEY_BYTES], raw[KEY_BYTES:])
            for node, raw in _unpack(record["keys"]).items()
        }
        return cls(
            Roster(record["context"], keys, record["threshold"]),
            _node(record["me"]),
            _private_from_record(record),
            record["seed"],
            SharePair.of(record["own"]),
        )


@dataclass(frozen=True)
class Masked:
    """After step 3: the shares of all who shared, U₂. The node's own secrets are forgotten."""

    me: int
    threshold: int
    shares: Mapping[int, "SharePair"]

    def to_record(self) -> Record:
        shares = {node: pair.raw for node, pair in self.shares.items()}
        return {"me": _id(self.me), "threshold": self.threshold, "shares": _pack(shares)}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Masked":
        shares = {node: SharePair.of(raw) for node, raw in _unpack(record["shares"]).items()}
        return cls(_node(record["me"]), record["threshold"], shares)


@dataclass(frozen=True)
class Unmasked:
    """After step 4: what was answered, and for whom. The other shares are forgotten."""

    survivors: frozenset[int]
    answer: Mapping[int, bytes] = field(repr=False)

    def to_record(self) -> Record:
        return {
            "survivors": [_id(node) for node in sorted(self.survivors)],
            "answer": _pack(self.answer),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Unmasked":
        return cls(frozenset(map(_node, record["survivors"])), _unpack(record["answer"]))


@dataclass(frozen=True)
class SharePair:
    """One holder's shares of one node's two secrets. Only one of them may ever be told."""

    of_seed: bytes = field(repr=False)
    of_key: bytes = field(repr=False)

    @property
    def raw(self) -> bytes:
        return self.of_seed + self.of_key

    @classmethod
    def of(cls, raw: bytes) -> "SharePair":
        """Cut at the size of the seed: a share is as long as its secret."""
        return cls(raw[:SEED_BYTES], raw[SEED_BYTES:])


Stage = Advertised | Shared | Masked | Unmasked

STAGES: dict[str, type[Stage]] = {
    "advertised": Advertised,
    "shared": Shared,
    "masked": Masked,
    "unmasked": Unmasked,
}


def to_record(stage: Stage) -> Record:
    """A stage as flat values, with its name; it holds secrets, so it must not leave the node."""
    name = next(name for name, of in STAGES.items() if isinstance(stage, of))
    return {"stage": name, **stage.to_record()}


def from_record(record: Mapping[str, Any]) -> Stage:
    """The stage that ``to_record`` wrote down."""
    if record["stage"] not in STAGES:
        raise unknown_choice("stage", record["stage"], STAGES)
    return STAGES[record["stage"]].from_record(record)


def _private_to_record(private: PrivateKeys) -> Record:
    return {"private_sealing": private.sealing, "private_masking": private.masking}


def _private_from_record(record: Mapping[str, Any]) -> PrivateKeys:
    return PrivateKeys(record["private_sealing"], record["private_masking"])


def _pack(table: Mapping[int, bytes]) -> list[bytes]:
    return [_id(node) + value for node, value in sorted(table.items())]


def _unpack(rows: Iterable[bytes]) -> dict[int, bytes]:
    return {_node(row[:ID_BYTES]): row[ID_BYTES:] for row in rows}


def _id(node: int) -> bytes:
    return node.to_bytes(ID_BYTES)


def _node(raw: bytes) -> int:
    return int.from_bytes(raw)
