"""Finished trials on disk, found again by everything that decides them, the code included."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from veilmap.experiments.file_names import readable
from veilmap.experiments.packed_arrays import pack, unpack
from veilmap.experiments.positions import Positions
from veilmap.experiments.result import TrialResult
from veilmap.experiments.trial import Trial
from veilmap.files import OPEN, PRIVATE, parse_json, write_whole
from veilmap.measurements import Measurements

# Of a file's content; its name differs from those of an older layout, whose digests were shorter.
LAYOUT = 1
_DIGITS = 20
_OLDER = re.compile(r"-seed\d+-[0-9a-f]{16}\.json")
# What is kept of a trial that stands in its .npz.
_PLACES = {"positions", "found", "chosen", "path"}


@dataclass(frozen=True)
class Cached:
    """What a store has of a trial.

    Attributes:
        result: None if there is none, or none that may be used.
        kept: what the file keeps, and one in its place should keep too.
        is_of_other_code: it is not used because other code computed it.
    """

    result: TrialResult | None = None
    kept: frozenset[Any] = frozenset()
    is_of_other_code: bool = False


class TrialStore:
    """A folder with two files per trial: figures in ``.json``, positions in ``.npz`` if it has any.

    The figures are written last and mark the trial as finished. Both files number the users, and
    name none.

    Args:
        path: the folder.
        mode: of the files with figures.
    """

    def __init__(self, path: Path, mode: int = OPEN) -> None:
        self.path, self._mode = path, mode

    def load(self, trial: Trial, data: Measurements) -> Cached:
        """The finished trial, if it is there, whole, and of the code of today."""
        file, code = self._file(trial, data), trial.code
        if code is None:
            return Cached()
        try:
            content = parse_json(file.read_bytes())
            kept = frozenset(content["result"]["kept"])
            if content["layout"] != LAYOUT or content["code"] != code:
                return Cached(None, kept, is_of_other_code=True)
            named = _with_users(content["result"], lambda number: data.users[int(number)])
            result = _adapter().validate_python(named)
            if result.again or not trial.keep <= kept:
                return Cached(None, kept)
            if trial.keep & _PLACES and result.failed is None:
                arrays = unpack(file.with_suffix(".npz").read_bytes())
                result = replace(result, positions=Positions.read(arrays, data.users))
            return Cached(result, kept)
        # LookupError: users or arrays that the data do not have.
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return Cached()

    def save(self, trial: Trial, data: Measurements, result: TrialResult) -> None:
        """Positions first, so that a trial with figures is whole."""
        code = trial.code
        if code is None:
            return
        file = self._file(trial, data)
        if result.positions is not None:
            packed = pack(result.positions.arrays(data.users))
            write_whole(file.with_suffix(".npz"), packed, PRIVATE)
        numbers = {user: number for number, user in enumerate(data.users)}
        content = {
            "layout": LAYOUT,
            "code": code,
            "result": _with_users(asdict(replace(result, positions=None)), numbers.__getitem__),
        }
        # One line: thousands of rounds would else spread over as many.
        text = json.dumps(content, allow_nan=False)
        write_whole(file, text.encode() + b"\n", self._mode)

    def older(self) -> int:
        """How many files are of an older layout."""
        return sum(bool(_OLDER.search(file.name)) for file in self.path.glob("*.json"))

    def _file(self, trial: Trial, data: Measurements) -> Path:
        name = "data" if trial.counted else readable(trial.configuration)
        digest = trial.digest(data)[:_DIGITS]
        return self.path / f"{name}-seed{trial.seed}-{digest}.json"


@cache
def _adapter() -> TypeAdapter[TrialResult]:
    return TypeAdapter(TrialResult)


def _with_users(content: Mapping[str, Any], other: Callable[[Any], Any]) -> dict[str, Any]:
    """The content with other names for users, wherever it has one."""

    def target(line: dict[str, Any]) -> dict[str, Any]:
        return line if line["target"] is None else {**line, "target": other(line["target"])}

    def refused(line: dict[str, Any]) -> dict[str, Any]:
        return {**line, "refused": {other(user): why for user, why in line["refused"].items()}}

    rename = {"rows": target, "guesses": target, "history": target, "training": refused}
    return {**content, **{name: list(map(of, content[name])) for name, of in rename.items()}}
