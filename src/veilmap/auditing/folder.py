"""The folder of an audit: its report and results, and the trials that they are made of."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from veilmap.errors import UserError
from veilmap.files import parse_json, remove
from veilmap.output import held
from veilmap.study.run_folder import RunFolder

# The files with positions or names; results may name an area.
_PLACES = ("report.html", "results.json", "trials/*.npz", "figures/where-*", "figures/rounds-*")


class AuditFolder:
    """What an audit writes, and where."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.trials = self.path / "trials"
        self.results = self.path / "results.json"
        self.report = self.path / "report.html"
        self.figures = self.path / "figures"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder for this process alone while the block runs.

        Raises:
            UserError: the folder is a run's or a transcript's, or has a file of a name that an
                audit writes and none of an audit's trials.
        """
        with held(self.path, self.trials.name, self.figures.name):
            self._refuse_taken()
            yield

    def _refuse_taken(self) -> None:
        RunFolder(self.path).refuse_run()
        others = [each for each in (self.report, self.results, self.figures) if each.exists()]
        if others and not self.trials.is_dir():
            raise UserError(
                f"{self.path} has a {others[0].name} that is not an audit's; choose another --out"
            )

    def drop_positions(self) -> int:
        """Remove what an earlier audit wrote with positions or names; how many files that were."""
        files: list[Path] = []
        for each in _PLACES:
            folder, name = (self.path / each).parent, Path(each).name
            # What ends in .part is of an audit that was killed.
            files += [*folder.glob(name), *folder.glob(f".{name}.*.part")]
        files += [file for file in self.trials.glob("*.json") if _may_name_users(file)]
        remove(files)
        return len(files)


def _may_name_users(file: Path) -> bool:
    """Why a trial failed may name them, and the first versions of such files did."""
    try:
        content = parse_json(file.read_bytes())
        content = content.get("result", content)
        return content["failed"] is not None or not all(
            isinstance(row["target"], int) for row in content["rows"]
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return True
