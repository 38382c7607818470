"""The board as Markdown, for the documentation.

Names of files, cells and users, and what another's results say, are texts and nothing more: they
pass through ``plain``, ``code`` or ``address`` before they stand in a line.
"""

import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote

from veilmap.reproduction.board import (
    EXPLAINED,
    MARKS,
    Board,
    BoardEntry,
    BoardLine,
    Finding,
    counted_claims,
    duration,
)
from veilmap.sweeping.decision import ClaimOutcome
from veilmap.wording import counted

ATTACKS = ("search", "first_layer", "heatmap")
# What has a meaning in Markdown, in GitHub's tables and mathematics, or in HTML.
_MEANS_SOMETHING = re.compile(r"([\\`*_\[\]<>|#~$&!{}])")


def board_markdown(board: Board, pictures: str = "") -> str:
    """The whole page; ``pictures`` is the folder of the pictures as the page sees it."""
    entries = (line for entry in board.entries for line in _entry(entry, board, pictures))
    return "\n".join([*_head(board), *entries])


def _head(board: Board) -> Iterator[str]:
    yield "# The paper, claim by claim"
    yield ""
    yield f"Made by `veilmap reproduce`, {counted(board.seeds, 'seed')}. {board.machine};"
    yield f"{duration(board.seconds)} of computing on one core."
    yield ""
    yield f"On {plain(board.data)}, {counted_claims(board.counts)}."
    if board.beside is not None:
        yield ""
        yield f"On {plain(board.beside)}, {counted_claims(board.counts_beside)}."
    yield ""
    yield EXPLAINED
    yield ""


def _entry(entry: BoardEntry, board: Board, pictures: str) -> Iterator[str]:
    yield f"## {plain(entry.title)}"
    yield ""
    runs = counted(entry.runs, "run")
    yield f"{code(entry.command)}: {runs}, {duration(entry.seconds)} of computing."
    yield ""
    if entry.about:
        yield plain(entry.about)
        yield ""
    for name in entry.pictures:
        yield f"![{plain(entry.title)}]({address(pictures + name)})"
        yield ""
    if entry.lines:
        yield from _table(entry.lines, board)
    for line in entry.lines:
        if line.note:
            yield f"- {plain(line.says)}: {plain(line.note)}"
    for why in entry.failed:
        yield f"- A run without figures: {plain(why)}"
    if any(line.note for line in entry.lines) or entry.failed:
        yield ""


def _table(lines: tuple[BoardLine, ...], board: Board) -> Iterator[str]:
    heads = ["claim", "the paper", "here", "effect", "verdict"]
    if board.beside is not None:
        heads += [plain(board.beside), "effect", "verdict"]
    heads += ATTACKS
    yield "| " + " | ".join(heads) + " |"
    yield "|" + " --- |" * len(heads)
    for line in lines:
        cells = [plain(line.says), plain(line.paper), *_cells(line.here)]
        if board.beside is not None:
            cells += _cells(line.beside) if line.beside else ["-", "-", "-"]
        yield "| " + " | ".join([*cells, *_under(line.here.under)]) + " |"
    yield ""


def _cells(finding: Finding) -> list[str]:
    verdict = f"{MARKS[finding.outcome]} {finding.outcome.words}"
    return [plain(finding.values), plain(finding.effect), verdict]


def plain(text: str) -> str:
    """A text in one line, of which nothing is taken for Markdown or HTML."""
    return _MEANS_SOMETHING.sub(r"\\\1", " ".join(text.split()))


def code(text: str) -> str:
    """A text in one line as code, between more backticks than it has in a row itself."""
    text = " ".join(text.split())
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    return f"{fence} {text} {fence}" if "`" in text else f"{fence}{text}{fence}"


def address(path: str) -> str:
    """A path beside the page."""
    return quote(path)


def _under(under: Mapping[str, ClaimOutcome]) -> list[str]:
    return [MARKS[under[name]] if name in under else "" for name in ATTACKS]
