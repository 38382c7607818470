"""A node's record of its answers, so that the same data are not released twice."""

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import hypot
from pathlib import Path

from veilmap.errors import UserError, shown
from veilmap.federation.map_family import Arrays
from veilmap.flower.campaign import Campaign
from veilmap.flower.exchange import fingerprint
from veilmap.flower.machines.private_files import private_folder, write_private
from veilmap.local_data import LocalData
from veilmap.settings import load_json, parse

SCHEMA = 1
_SEED_BITS = 128


@dataclass(frozen=True)
class LedgerEntry:
    """One answered request.

    Attributes:
        cell: the cell of the measurements that it was made from.
        start_s: when the round began.
        end_s: when it ended.
        request: a digest of all that the answer depends on besides the node's data.
        data: a digest of the data, keyed by the node's secret; empty until it is known.
        mu: μ of the update's noise; None without dp.
    """

    cell: str
    start_s: float
    end_s: float
    request: str
    data: str = ""
    mu: float | None = None

    def repeats(self, old: "LedgerEntry") -> bool:
        """Whether this is the same request with the same data, as far as these are known."""
        return self.request == old.request and self.data in ("", old.data)

    def overlaps(self, old: "LedgerEntry") -> bool:
        """Whether the two answers would share measurements."""
        return self.cell == old.cell and self.start_s < old.end_s and old.start_s < self.end_s


@dataclass(frozen=True)
class Ledger:
    """All answered requests, and the seed from which the node draws.

    The seed is the node's secret: whoever knows it can remove the noise. It is kept because a
    repeated request, from a restarted server, must get the same answer: averaging many answers
    with fresh noise would reveal the update.

    Attributes:
        seed: the secret.
        study: whether the seed was given, for a reproducible study: the draws are then those of
            the engine in one process, and the same in every campaign.
        entries: one per answer, in their order.
    """

    seed: int
    study: bool = False
    entries: tuple[LedgerEntry, ...] = field(default=(), repr=False)

    @classmethod
    def open(cls, path: Path, seed: int | None) -> "Ledger":
        """The ledger of a node, new where there is none; ``seed`` is given in studies only."""
        if not path.exists():
            own = secrets.randbits(_SEED_BITS) if seed is None else seed
            return cls(own, study=seed is not None)
        content = load_json(path.read_bytes(), f"{path} is not a node's ledger", "restore it")
        schema = content.pop("schema", None)
        if schema != SCHEMA:
            raise UserError(
                f"{path} has schema {shown(schema)}; this veilmap reads {SCHEMA}; restore it"
            )
        kept = parse(cls, content, f"{path} is not a node's ledger")
        if (kept.seed if kept.study else None) != seed:
            raise UserError(
                f"{path} was created with another seed than [node] seed = {seed}; give the node "
                "another folder"
            )
        return kept

    def save(self, path: Path) -> None:
        """Save for the next message, which runs in a new process."""
        private_folder(path.parent)
        write_private(path, json.dumps({"schema": SCHEMA, **asdict(self)}, indent=2).encode())

    def seed_for(self, entry: LedgerEntry) -> int:
        """The root seed of an answer's draws: no two requests share noise.

        The difference of two answers would remove shared noise.
        """
        if self.study:
            return self.seed
        return int.from_bytes(self._keyed(entry.request.encode()))

    def fingerprint(self, data: LocalData) -> str:
        """A keyed digest of measurements, which reveals nothing without the secret."""
        parts = (data.xy_m, data.rsrp_dbm, data.time_s)
        return self._keyed(b"".join(part.tobytes() for part in parts)).hex()

    def _keyed(self, content: bytes) -> bytes:
        return hmac.digest(str(self.seed).encode(), content, "sha256")

    @property
    def spent_mu(self) -> float:
        """μ of all answers together; infinite after one without noise."""
        return hypot(*(float("inf") if entry.mu is None else entry.mu for entry in self.entries))

    def has(self, entry: LedgerEntry) -> bool:
        """Whether this very request was answered before: repeating the answer costs nothing."""
        return any(entry.repeats(old) for old in self.entries)

    def objections(self, entry: LedgerEntry, again: bool) -> Iterator[str]:
        """Why a request must not be answered, given what was answered before.

        ``again`` allows the very same request to be answered once more, from the same data.
        """
        others = (old for old in self.entries if not (again and entry.repeats(old)))
        if any(entry.overlaps(old) for old in others):
            yield "has already answered for these measurements"

    def with_(self, entry: LedgerEntry) -> "Ledger":
        """The ledger with one more answer."""
        return self if self.has(entry) else replace(self, entries=(*self.entries, entry))


def entry_of(
    campaign: Campaign, t: int, state: Arrays, how: Sequence[str], mu: float | None
) -> LedgerEntry:
    """The entry of an answer to round t of a campaign; ``how`` is what the node does."""
    digest = hashlib.sha256(json.dumps([campaign.text, t, list(how)]).encode())
    digest.update(fingerprint(state))
    span_s = campaign.start_s(t), campaign.start_s(t + 1)
    return LedgerEntry(campaign.cell, *span_s, digest.hexdigest(), mu=mu)
