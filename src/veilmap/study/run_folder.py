"""A run on disk: the model, the transcript, the settings and the results."""

import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from veilmap.errors import UserError
from veilmap.files import write_whole
from veilmap.signal_map.signal_map import SignalMap
from veilmap.transcript import Transcript

VERSIONED = ("veilmap", "numpy", "torch", "polars", "pyproj")


class RunFolder:
    """The files of one run; ``results.json`` is written last and marks it as finished."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.model = self.path / "model.safetensors"
        self.transcript = self.path / "transcript"
        self.settings = self.path / "settings.json"
        self.results = self.path / "results.json"

    def refuse_finished(self) -> None:
        """An error if the folder holds a finished run."""
        if self.results.exists():
            raise UserError(
                f"{self.path} holds a finished run; choose another --out or add --overwrite"
            )

    def clear(self) -> None:
        """Remove the files of an earlier run, and nothing else."""
        for file in (self.results, self.model, self.settings, *self.transcript.glob("*")):
            file.unlink(missing_ok=True)

    def write(
        self, signal_map: SignalMap, settings: dict[str, Any], results: dict[str, Any]
    ) -> None:
        """Write all but the transcript, which was written during the run."""
        signal_map.save(self.model)
        write_whole(self.settings, _json(settings))
        write_whole(self.results, _json(results))

    def load_map(self) -> SignalMap:
        """The trained map."""
        if not self.path.is_dir():
            raise UserError(f"there is no run {self.path}; make one with: veilmap train --out RUN")
        return SignalMap.load(self.model)

    def load_transcript(self) -> Transcript:
        """What the server saw."""
        return Transcript(self.transcript)


def versions() -> dict[str, str]:
    """Of Python and of the packages that decide the numbers."""
    return {"python": platform.python_version(), **{name: version(name) for name in VERSIONED}}


def _json(content: dict[str, Any]) -> bytes:
    return json.dumps(content, indent=2, allow_nan=False).encode() + b"\n"
