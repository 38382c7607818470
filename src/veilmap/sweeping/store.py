"""Finished runs on disk, found again by the hash of what decides them."""

import json
from pathlib import Path

from veilmap.files import PRIVATE, parse_json, write_whole
from veilmap.study.file_names import readable
from veilmap.sweeping.case import Case
from veilmap.sweeping.record import Record


class Store:
    """A folder with one file per run; a file is whole or not there."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self, case: Case, fingerprint: str) -> Record | None:
        """The finished run; None if it is not there, damaged, or lacks what is to be kept."""
        try:
            record = Record.read(parse_json(self._file(case, fingerprint).read_bytes()))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return record if case.keep <= set(record.kept) and not record.again else None

    def kept(self, case: Case, fingerprint: str) -> frozenset[str]:
        """What a run that is there keeps, and one in its place should keep too."""
        try:
            return frozenset(parse_json(self._file(case, fingerprint).read_bytes())["kept"])
        except (OSError, ValueError, KeyError, TypeError):
            return frozenset()

    def save(self, case: Case, fingerprint: str, record: Record) -> None:
        """One line of JSON, which thousands of rounds would else spread over as many."""
        text = json.dumps(record.as_dict(), allow_nan=False)
        # A record that pictures are drawn from keeps the target's points.
        write_whole(self._file(case, fingerprint), text.encode() + b"\n", PRIVATE)

    def _file(self, case: Case, fingerprint: str) -> Path:
        name = "data" if case.counted else readable(case.settings.configuration)
        digest = case.digest(fingerprint)[:16]
        return self.path / f"{name}-seed{case.seed}-{digest}.json"
