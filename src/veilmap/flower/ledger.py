"""What a node has given away so far, so that nobody gets it a second time in another guise."""

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import hypot
from pathlib import Path

from veilmap.errors import UserError, shown
from veilmap.flower.campaign import Campaign
from veilmap.flower.machines.private_files import private_folder, write_private
from veilmap.local_data import LocalData
from veilmap.model.network import Floats
from veilmap.settings import load_json, parse

SCHEMA = 1
_SEED_BITS = 128


@dataclass(frozen=True)
class Entry:
    """One answered request.

    Attributes:
        cell: whose measurements it was made from.
        start_s: when the round began.
        end_s: when it ended.
        request: a digest of all that the answer depends on besides the node's data.
        data: a digest of the data, keyed by the node's secret; empty while it is not known.
        mu: of the update's noise; None without dp.
    """

    cell: str
    start_s: float
    end_s: float
    request: str
    data: str = ""
    mu: float | None = None

    def repeats(self, old: "Entry") -> bool:
        """Whether the answer would be the old one, as far as it is known what it is made from."""
        return self.request == old.request and self.data in ("", old.data)

    def overlaps(self, old: "Entry") -> bool:
        """Whether it would be made from measurements that an old answer was made from."""
        return self.cell == old.cell and self.start_s < old.end_s and old.start_s < self.end_s


@dataclass(frozen=True)
class Ledger:
    """All answered requests, and the seed from which the node draws.

    The seed is the node's secret: who knows it can take the noise away. It is kept because a
    request that comes again, from a server that was restarted, must get the same answer: with
    fresh noise every time, many answers would give the update away.

    Attributes:
        seed: the secret.
        study: the seed was given, for a study to be repeated: then the draws are those of the
            engine in one process, and the same in every campaign.
        entries: in the order of the answers.
    """

    seed: int
    study: bool = False
    entries: tuple[Entry, ...] = field(default=(), repr=False)

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
                f"{path} was begun with another seed than [node] seed = {seed}; give the node "
                "another folder"
            )
        return kept

    def save(self, path: Path) -> None:
        """For the next message, which meets a new process."""
        private_folder(path.parent)
        write_private(path, json.dumps({"schema": SCHEMA, **asdict(self)}, indent=2).encode())

    def seed_for(self, entry: Entry) -> int:
        """The root of an answer's draws: no two requests have noise in common.

        A difference of two answers would else take it away.
        """
        if self.study:
            return self.seed
        return int.from_bytes(self._keyed(entry.request.encode()))

    def fingerprint(self, data: LocalData) -> str:
        """Of measurements; nobody without the secret can tell from it what they were."""
        parts = (data.xy_m, data.rsrp_dbm, data.time_s)
        return self._keyed(b"".join(part.tobytes() for part in parts)).hex()

    def _keyed(self, content: bytes) -> bytes:
        return hmac.digest(str(self.seed).encode(), content, "sha256")

    @property
    def spent_mu(self) -> float:
        """μ of all answers together; infinite after one without noise."""
        return hypot(*(float("inf") if entry.mu is None else entry.mu for entry in self.entries))

    def has(self, entry: Entry) -> bool:
        """Whether this very request was answered before: then it costs nothing to say it again."""
        return any(entry.repeats(old) for old in self.entries)

    def objections(self, entry: Entry, again: bool) -> Iterator[str]:
        """Why a request must not be answered, given what was answered before.

        ``again`` allows the very same request to be answered once more, from the same data.
        """
        others = (old for old in self.entries if not (again and entry.repeats(old)))
        if any(entry.overlaps(old) for old in others):
            yield "has answered for these measurements before"

    def with_(self, entry: Entry) -> "Ledger":
        """One answer more."""
        return self if self.has(entry) else replace(self, entries=(*self.entries, entry))


def entry_of(
    campaign: Campaign, t: int, weights: Floats, how: Sequence[str], mu: float | None
) -> Entry:
    """What an answer to round t of a campaign is entered as; ``how`` is what the node does."""
    digest = hashlib.sha256(json.dumps([campaign.text, t, list(how)]).encode())
    digest.update(weights.tobytes())
    span_s = campaign.start_s(t), campaign.start_s(t + 1)
    return Entry(campaign.cell, *span_s, digest.hexdigest(), mu=mu)
