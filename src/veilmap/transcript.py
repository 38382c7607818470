"""What the server saw, on disk: written round by round, read back one round at a time.

The format is described in docs/transcript.md; ``SCHEMA`` is its version. A folder holds
``transcript.json`` and one safetensors file per round (or per 64 observations of a round).
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from veilmap.area import Area
from veilmap.errors import UserError
from veilmap.federation.observation import Observation
from veilmap.federation.plan import Training
from veilmap.files import write_whole
from veilmap.local_data import Scaler
from veilmap.model.network import Network
from veilmap.settings import parse

SCHEMA = 1
HEADER = "transcript.json"
# 64 updates of the paper's network are 37 MB, held in memory at once.
OBSERVATIONS_PER_FILE = 64


@dataclass(frozen=True)
class SideKnowledge:
    """What the server knows besides the updates, because it set it or because it is public."""

    scaler: Scaler
    area: Area
    epsg: int
    label_offset_dbm: float
    training: Training
    interval_s: float


@dataclass(frozen=True)
class Header:
    """The network that was trained, and the side knowledge."""

    network: Network
    side_knowledge: SideKnowledge


class TranscriptWriter:
    """Takes observations in the order in which they arrive; use it in a ``with`` block."""

    def __init__(self, folder: str | Path, header: Header) -> None:
        self._folder = Path(folder)
        self._size = header.network.size
        self._waiting: list[Observation] = []
        self._part = 1
        content = {"schema": SCHEMA, **asdict(header)}
        write_whole(self._folder / HEADER, json.dumps(content, indent=2).encode())

    def write(self, observation: Observation) -> None:
        """Add one observation; a whole round, or 64 of it, becomes one file."""
        if self._waiting and self._waiting[0].round != observation.round:
            self._flush()
            self._part = 1
        self._waiting.append(observation)
        if len(self._waiting) == OBSERVATIONS_PER_FILE:
            self._flush()
            self._part += 1

    def _flush(self) -> None:
        if not self._waiting:
            return
        first = self._waiting[0]
        tensors = {
            "weights_before": first.weights_before,
            "weights_after": np.stack([each.weights_after for each in self._waiting]),
        }
        facts = {
            "round": first.round,
            "start_s": first.start_s,
            "users": [each.user for each in self._waiting],
            "n": [each.n for each in self._waiting],
        }
        name = f"round-{first.round:06d}-{self._part:04d}.safetensors"
        write_whole(self._folder / name, save(tensors, {"observations": json.dumps(facts)}))
        self._waiting = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        # An interrupted round is not a round: only what is complete is written.
        if error is None:
            self._flush()


class Transcript:
    """A transcript on disk; iterating reads one file at a time."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        self.header = _read_header(self._folder / HEADER)

    def __iter__(self) -> Iterator[Observation]:
        for path in sorted(self._folder.glob("round-*.safetensors")):
            yield from _read_file(path, self.header.network.size)


def _read_header(path: Path) -> Header:
    try:
        content = json.loads(path.read_bytes())
        schema = content.pop("schema")
    except FileNotFoundError:
        raise UserError(f"{path.parent} is no transcript: {HEADER} is missing") from None
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        raise UserError(f"{path} is not a transcript's header ({error!r})") from None
    if schema != SCHEMA:
        raise UserError(f"{path} has schema {schema!r}; this veilmap reads schema {SCHEMA}")
    return parse(Header, content, f"{path} is not a transcript's header")


def _read_file(path: Path, size: int) -> Iterator[Observation]:
    try:
        with safe_open(path, framework="numpy") as file:
            facts: dict[str, Any] = json.loads(file.metadata()["observations"])
            shapes = [
                file.get_slice(name).get_shape() for name in ("weights_before", "weights_after")
            ]
            if shapes != [[size], [len(facts["users"]), size]]:
                raise UserError(
                    f"{path.name} holds weights of shapes {shapes}, "
                    f"but the network in {HEADER} has {size:,} weights"
                )
            before, after = file.get_tensor("weights_before"), file.get_tensor("weights_after")
    except (SafetensorError, KeyError, TypeError, ValueError, OSError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{path} is not a part of a transcript ({error})") from error
    for user, n, weights in zip(facts["users"], facts["n"], after, strict=True):
        yield Observation(facts["round"], user, before, weights, n, facts["start_s"])
