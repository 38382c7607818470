"""The folder of a comparison of maps: its figures and its picture."""

from pathlib import Path

from veilmap.errors import UserError
from veilmap.files import PRIVATE, json_bytes, written
from veilmap.map_quality.quality_result import QualityResult
from veilmap.output import refuse_no_folder
from veilmap.study.run_folder import OVERWRITE, RunFolder


class QualityFolder:
    """What is written, and where; ``results.json`` is last and marks the folder as finished."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.results = self.path / "results.json"
        self.picture = self.path / "quality.png"

    def refuse_taken(self, overwrite: bool) -> None:
        """An error if the folder holds a run, or a finished comparison that is not to be replaced.

        Raises:
            UserError: it does.
        """
        refuse_no_folder(self.path)
        RunFolder(self.path).refuse_run()
        if self.results.exists() and not overwrite:
            raise UserError(
                f"{self.path} holds a finished comparison; choose another --out{OVERWRITE}"
            )

    def write(self, compared: QualityResult) -> None:
        """Write both, for their owner alone: the picture and the area show where people were."""
        contents = {
            self.picture: compared.picture(),
            self.results: json_bytes(compared.as_json()),
        }
        with written(contents, PRIVATE):
            pass
