"""The tables and figures of the paper by their labels."""

import difflib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from veilmap.errors import UserError, refuse, shown
from veilmap.settings import load_toml
from veilmap.sweeping.spec import Spec, read_spec

EVERYTHING = "all"
_FOLDER = Path(__file__).parent / "paper"


def paper_specs(labels: Sequence[str] = (EVERYTHING,)) -> list[Spec]:
    """Those of the labels, in the order of the paper.

    Raises:
        UserError: there is no such label; all that are unknown at once.
    """
    known = _specs()
    refuse(_unknown(label, list(known)) for label in labels if label not in {*known, EVERYTHING})
    return [spec for label, spec in known.items() if label in labels or EVERYTHING in labels]


@cache
def _specs() -> dict[str, Spec]:
    common = load_toml(_FOLDER / "common.toml")
    order = common.pop("order")
    return {
        label: read_spec(_FOLDER / f"{label.replace(':', '-')}.toml", common) for label in order
    }


def _unknown(label: str, known: list[str]) -> UserError:
    close = difflib.get_close_matches(label, known, 1, 0.4)
    hint = f"did you mean {close[0]}? " if close else ""
    return UserError(
        f"unknown label {shown(label)}; {hint}veilmap reproduce --list names all of them"
    )
