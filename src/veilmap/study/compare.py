"""The comparison behind ``veilmap compare``: two folders, or two files of results."""

from pathlib import Path
from typing import Any

from veilmap.errors import UserError, shown
from veilmap.files import parse_json
from veilmap.study.comparison import Comparison, compare_results
from veilmap.study.results import SCHEMA

FILE = "results.json"


def compare(a: str | Path, b: str | Path) -> Comparison:
    """What differs in settings and figures between two runs, attacks or audits.

    Args:
        a: a folder that ``train``, ``attack`` or ``audit`` wrote, or its ``results.json``.
        b: the other; differences are B - A.

    Raises:
        UserError: there are no results, or not two of them.
    """
    files = [_file(Path(each)) for each in (a, b)]
    if files[0].samefile(files[1]):
        raise UserError(f"{a} and {b} are the same results; give two different folders")
    return compare_results(*(_read(file) for file in files))


def _file(path: Path) -> Path:
    file = path / FILE if path.is_dir() else path
    if not file.is_file():
        what = f"{path} has no {FILE}" if path.is_dir() else f"there is no file or folder {path}"
        raise UserError(f"{what}; give a folder that train, attack or audit has finished with")
    return file


def _read(file: Path) -> dict[str, Any]:
    try:
        content = parse_json(file.read_bytes())
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}; give another file") from None
    except ValueError as error:
        raise UserError(f"{file} is not valid JSON: {error}; run its command again") from None
    schema = content.get("schema") if isinstance(content, dict) else None
    if schema != SCHEMA:
        raise UserError(
            f"{file} must be of schema {SCHEMA}, got {shown(schema)}; run its command again"
        )
    if not _is_whole(content):
        raise UserError(
            f"{file} must have settings, and rows with configuration, attack, target and seed; "
            "run its command again"
        )
    return dict(content)


def _is_whole(content: dict[str, Any]) -> bool:
    match content:
        case {"settings": dict(), "rows": list(rows)}:
            return all(map(_is_row, rows))
    return False


def _is_row(row: Any) -> bool:
    match row:
        case {"configuration": str(), "attack": str(), "target": str() | None, "seed": int()}:
            return True
    return False
