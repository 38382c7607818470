"""The board as one HTML file that opens from disk and fetches nothing."""

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from struct import unpack

from veilmap.report.frame import assets
from veilmap.report.frame.frame import framed
from veilmap.reproduction.board import EXPLAINED, MARKS, Board, BoardLine, counted_claims, duration
from veilmap.sweeping.decision import ClaimOutcome
from veilmap.wording import counted

_FOLDER = files(__package__) / "assets"
_SCRIPTS = ("filter", "enlarging", "main")
_STYLES = ("verdicts", "filter", "entries", "claims", "board_print")


def board_page(board: Board, pictures: Mapping[str, bytes]) -> str:
    """The page as text; ``pictures`` are PNGs by their names in the entries."""
    tallies = [(f"On {board.data}", board.counts)]
    if board.beside is not None:
        tallies.append((f"On {board.beside}", board.counts_beside))
    return framed(
        _text("board.html.jinja"),
        _style(),
        [_script()],
        title="The paper, claim by claim",
        kind="reproduction",
        headline=f"On {board.data}, {counted_claims(board.counts)}.",
        board=board,
        pictures={name: EmbeddedPng.of(png) for name, png in pictures.items()},
        tallies=tallies,
        outcomes=ClaimOutcome,
        marks=MARKS,
        explained=EXPLAINED,
        counted=counted,
        time=duration,
        in_words=_in_words,
        shares=shares,
        typeset=_typeset,
        verdicts=_verdicts,
    )


def shares(counts: Counter[ClaimOutcome]) -> Iterator[tuple[ClaimOutcome, float, float]]:
    """The parts of a bar of all claims in percent: where each starts and how wide it is."""
    start, total = 0, counts.total()
    for outcome in ClaimOutcome:
        count = counts[outcome]
        if count:
            yield outcome, 100 * start / total, 100 * count / total
        start += count


@dataclass(frozen=True)
class EmbeddedPng:
    """A PNG as the page holds it; its size keeps the page still while pictures come."""

    address: str
    width: int
    height: int

    @classmethod
    def of(cls, png: bytes) -> "EmbeddedPng":
        # The header of a PNG has both right after its name.
        width, height = unpack(">II", png[16:24])
        return cls(f"data:image/png;base64,{b64encode(png).decode('ascii')}", width, height)


def _in_words(counts: Counter[ClaimOutcome]) -> str:
    return ", ".join(f"{each.words} {counts[each]}" for each in ClaimOutcome if counts[each])


def _verdicts(lines: tuple[BoardLine, ...]) -> str:
    return _in_words(Counter(line.here.outcome for line in lines))


def _typeset(text: str) -> str:
    """A unit stays with its number, an interval in one line, and minus is no hyphen."""
    unbroken = "\u00a0".join(text.rsplit(" ", 1)).replace(" to ", "\u00a0to\u00a0")
    return re.sub(r"(?<![\w.])-(?=\d)", "\u2212", unbroken)


@cache
def _style() -> str:
    return assets.style(*(_text(f"styles/{name}.css") for name in _STYLES))


@cache
def _script() -> str:
    return assets.script(*(_text(f"scripts/{name}.js") for name in _SCRIPTS))


def _text(name: str) -> str:
    return assets.text(_FOLDER, name)
