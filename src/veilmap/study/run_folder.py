"""A run on disk: the model, the transcript, the settings and the results."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from veilmap import transcript
from veilmap.errors import UserError
from veilmap.files import PRIVATE, json_bytes, remove, written
from veilmap.output import refuse_no_folder
from veilmap.signal_map.signal_map import SignalMap

# What "veilmap attack" leaves in the folder of the same name.
_PICTURES = ("whereabouts", "rounds", "path", "heatmap")
_ATTACK_FILES = ("results.json", "found.geojson", *(f"{name}.png" for name in _PICTURES))

OVERWRITE = " or add --overwrite (overwrite=True in Python)"


def attack_files(folder: Path) -> Iterator[Path]:
    """All that an attack may have left in its folder."""
    yield from (folder / name for name in _ATTACK_FILES)
    yield from folder.glob("heatmap-*.png")  # of other attacks that find distributions


class RunFolder:
    """The files of one run; ``results.json`` is written last and marks it as finished."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.model = self.path / "model.safetensors"
        self.transcript = self.path / "transcript"
        self.unfinished = self.path / ".transcript"
        self.settings = self.path / "settings.json"
        self.results = self.path / "results.json"
        self.attack = self.path / "attack"

    def refuse_finished(self, way_out: str = OVERWRITE) -> None:
        """An error if the folder holds a finished run."""
        refuse_no_folder(self.path)
        if self.results.exists():
            raise UserError(f"{self.path} holds a finished run; choose another --out{way_out}")

    def refuse_run(self) -> None:
        """An error if the folder holds a run, finished or not, or a transcript."""
        its_files = (self.settings, self.model, self.path / transcript.HEADER)
        if any(path.exists() for path in its_files):
            raise UserError(f"{self.path} holds a run or a transcript; choose another --out")

    def clear(self) -> None:
        """Remove the files of an earlier run, and what was made from it, and nothing else."""
        maps = (self.path / f"map{end}" for end in (".tif", ".geojson", ".png", ".pgw"))
        attacked = attack_files(self.attack)
        remove((self.results, self.model, self.settings, *maps, *attacked))
        transcript.clear(self.transcript)

    def write(self, signal_map: SignalMap, results: dict[str, Any]) -> None:
        """Write all but the transcript, which was written during the run."""
        with written(self._contents(signal_map, results), PRIVATE):
            pass

    def replace(self, signal_map: SignalMap, results: dict[str, Any]) -> None:
        """Write all, and only then remove an earlier run; the unfinished transcript is the new one.

        If killed in between, it leaves the earlier run, no finished run, or the new one.
        """
        with written(self._contents(signal_map, results), PRIVATE):
            self.clear()
            transcript.move(self.unfinished, self.transcript)

    def _contents(self, signal_map: SignalMap, results: dict[str, Any]) -> dict[Path, bytes]:
        # For their owner alone: the area and the scaler may be of the users' own positions.
        return {
            self.model: signal_map.as_bytes(),
            self.settings: json_bytes(results["settings"]),
            self.results: json_bytes(results),
        }

    def drop_unfinished(self) -> None:
        """Remove the transcript of a run that broke off."""
        with suppress(OSError):
            transcript.clear(self.unfinished)
            self.unfinished.rmdir()

    def load_map(self) -> SignalMap:
        """The trained map."""
        if not self.path.is_dir():
            raise UserError(f"there is no run {self.path}; make one with: veilmap train --out RUN")
        return SignalMap.load(self.model)
