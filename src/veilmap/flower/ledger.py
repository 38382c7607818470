"""What a node has given away so far, so that nobody gets it a second time in another guise."""

import hashlib
import json
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import hypot
from pathlib import Path

from veilmap.errors import UserError
from veilmap.files import write_json
from veilmap.flower.campaign import Campaign
from veilmap.model.network import Floats
from veilmap.settings import parse

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
        mu: of the update's noise; None without dp.
    """

    cell: str
    start_s: float
    end_s: float
    request: str
    mu: float | None = None


@dataclass(frozen=True)
class Ledger:
    """All answered requests, and the seed from which the node draws.

    The seed is the node's secret: who knows it can take the noise away. It is kept because a
    request that comes again, from a server that was restarted, must get the same answer: with
    fresh noise every time, many answers would give the update away.
    """

    seed: int
    entries: tuple[Entry, ...] = field(default=(), repr=False)

    @classmethod
    def open(cls, path: Path, seed: int | None) -> "Ledger":
        """The ledger of a node, new where there is none; ``seed`` is given in studies only."""
        if not path.exists():
            return cls(secrets.randbits(_SEED_BITS) if seed is None else seed)
        try:
            content = json.loads(path.read_bytes())
            schema = content.pop("schema")
        except (ValueError, AttributeError, KeyError, TypeError) as error:
            raise UserError(f"{path} is not a node's ledger ({error!r}); restore it") from None
        if schema != SCHEMA:
            raise UserError(f"{path} has schema {schema!r}; this veilmap reads {SCHEMA}")
        kept = parse(cls, content, f"{path} is not a node's ledger")
        if seed not in (None, kept.seed):
            raise UserError(f"{path} was begun with another seed; leave out seed = {seed}")
        return kept

    def save(self, path: Path) -> None:
        """For the next message, which meets a new process."""
        write_json(path, {"schema": SCHEMA, **asdict(self)})
        path.chmod(0o600)

    @property
    def spent_mu(self) -> float:
        """μ of all answers together."""
        return hypot(*(entry.mu for entry in self.entries if entry.mu is not None))

    def has(self, entry: Entry) -> bool:
        """Whether this very request was answered before: then it costs nothing to say it again."""
        return entry in self.entries

    def objections(self, entry: Entry, again: bool) -> Iterator[str]:
        """Why a request must not be answered, given what was answered before.

        ``again`` allows the very same request to be answered once more.
        """
        for old in self.entries:
            same_time = entry.start_s < old.end_s and old.start_s < entry.end_s
            if old.cell == entry.cell and same_time and not (again and old == entry):
                yield "has answered for these measurements before"
                return

    def with_(self, entry: Entry) -> "Ledger":
        """One answer more."""
        return self if self.has(entry) else replace(self, entries=(*self.entries, entry))


def entry_of(
    campaign: Campaign, t: int, weights: Floats, how: Sequence[str], mu: float | None
) -> Entry:
    """What an answer to round t of a campaign is entered as; ``how`` is what the node does."""
    digest = hashlib.sha256(json.dumps([campaign.text, t, list(how)]).encode())
    digest.update(weights.tobytes())
    start_s = campaign.start_s(t)
    return Entry(campaign.cell, start_s, start_s + campaign.interval_s, digest.hexdigest(), mu)
