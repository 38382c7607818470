"""A node's stage of a secure sum, written to its disk before every answer."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veilmap.files import parse_json
from veilmap.flower.machines.private_files import private_folder, write_private
from veilmap.flower.secure.round_error import RoundError
from veilmap.flower.secure.stages import Stage, from_record, to_record

TEXTS = ("stage",)  # of a stage's record; other texts are bytes, in hexadecimal


@dataclass(frozen=True)
class StageFile:
    """The last stage as JSON; its secrets are deleted when the next stage is written."""

    path: Path

    def read(self) -> Stage | None:
        """The last stage that was written."""
        if not self.path.exists():
            return None
        try:
            content = parse_json(self.path.read_bytes())
            return from_record({name: _unpacked(name, value) for name, value in content.items()})
        except (ValueError, KeyError, TypeError, AttributeError):
            raise RoundError(
                "the node lost its state of the secure sum; it skips this round"
            ) from None

    def write(self, stage: Stage) -> None:
        """Called before the answer is sent."""
        private_folder(self.path.parent)
        write_private(self.path, json.dumps(to_record(stage), default=bytes.hex).encode())


def _unpacked(name: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_unpacked(name, each) for each in value]
    return bytes.fromhex(value) if isinstance(value, str) and name not in TEXTS else value
