"""An audit on disk: what is finished is found again."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from veilmap.auditing.packed_arrays import pack, unpack
from veilmap.auditing.positions import Positions
from veilmap.auditing.redaction import renamed
from veilmap.auditing.unit import Result, Unit
from veilmap.errors import UserError
from veilmap.files import PRIVATE, parse_json, write_json, write_whole
from veilmap.measurements import Measurements
from veilmap.output import held, refuse_no_folder
from veilmap.study.file_names import readable
from veilmap.study.run_folder import RunFolder
from veilmap.transcript import HEADER


class Store:
    """The folder of an audit: ``trials`` with one file per unit, and what is made of them.

    A unit's figures are in ``.json``, which is written last and marks it as finished; its
    positions, if they are kept, in ``.npz`` beside it. Both number the users, and name none.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.trials = self.path / "trials"
        self.results = self.path / "results.json"
        self.report = self.path / "report.html"
        self.figures = self.path / "figures"

    def refuse_taken(self) -> None:
        """An error if the folder is somebody else's: a run's, a transcript's, or a file.

        Also if it has files of the names that an audit writes, and none of an audit's runs.
        """
        refuse_no_folder(self.path)
        run = RunFolder(self.path)
        if any(path.exists() for path in (run.settings, run.model, self.path / HEADER)):
            raise UserError(f"{self.path} holds a run or a transcript; choose another --out")
        others = [each for each in (self.report, self.results, self.figures) if each.exists()]
        if others and not self.trials.is_dir():
            raise UserError(
                f"{self.path} has a {others[0].name} that is not an audit's; choose another --out"
            )

    def held(self) -> AbstractContextManager[None]:
        """Be the only one who writes there while the block runs."""
        return held(self.path, self.trials.name, self.figures.name)

    def load(self, unit: Unit, data: Measurements) -> Result | None:
        """The finished unit; None if it is not there, damaged, or lacks the positions wanted."""
        file = self._file(unit, data)
        try:
            result = _read(parse_json(file.read_bytes()), unit.targets)
            if not unit.with_positions or result.failed is not None:
                return result
            arrays = unpack(file.with_suffix(".npz").read_bytes())
            return replace(result, positions=Positions.read(arrays, unit.targets))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def save(self, unit: Unit, data: Measurements, result: Result) -> None:
        """Positions first, so that a unit with a done mark is whole."""
        file = self._file(unit, data)
        if result.positions is not None:
            packed = pack(result.positions.arrays(unit.targets))
            write_whole(file.with_suffix(".npz"), packed, PRIVATE)
        numbers = {user: number for number, user in enumerate(unit.targets)}
        write_json(file, asdict(replace(renamed(result, numbers), positions=None)))

    def drop_positions(self) -> int:
        """Remove what an earlier audit wrote with positions or names; how many files that were."""
        # Results may name an area; what ends in .part is of an audit that was killed.
        patterns = {
            self.path: (
                "report.html",
                "results.json",
                ".report.html.*.part",
                ".results.json.*.part",
            ),
            self.trials: ("*.npz", ".*.npz.*.part"),
            self.figures: ("where-*", ".where-*.part", "rounds-*", ".rounds-*.part"),
        }
        files = [file for at, names in patterns.items() for name in names for file in at.glob(name)]
        files += [file for file in self.trials.glob("*.json") if _may_name_users(file)]
        for file in files:
            file.unlink()
        return len(files)

    def _file(self, unit: Unit, data: Measurements) -> Path:
        name = f"{readable(unit.configuration)}-seed{unit.seed}-{unit.digest(data)[:16]}.json"
        return self.trials / name


def _may_name_users(file: Path) -> bool:
    """Why a unit failed may name them, and the first versions of such files did."""
    try:
        content = parse_json(file.read_bytes())
        return content["failed"] is not None or not all(
            isinstance(row["target"], int) for row in content["rows"]
        )
    except (OSError, ValueError, KeyError, TypeError):
        return True


def _read(content: dict[str, Any], targets: Sequence[str]) -> Result:
    result = Result(
        configuration=content["configuration"],
        seed=content["seed"],
        rows=tuple(content["rows"]),
        history=tuple(content["history"]),
        steps=tuple(content["steps"]),
        oracle=tuple(content["oracle"]),
        refused=content["refused"],
        seconds=content["seconds"],
        failed=content["failed"],
    )
    return renamed(result, dict(enumerate(targets)))
