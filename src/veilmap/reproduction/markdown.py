"""The board as Markdown, for the documentation.

Names of files, cells and users, and what another's results say, are texts and nothing more: they
pass through ``plain``, ``code`` or ``quote`` before they stand in a line.
"""

import re
from collections.abc import Iterator
from urllib.parse import quote

from veilmap.reproduction.board import (
    EXPLAINED,
    MARKS,
    Board,
    BoardEntry,
    Finding,
    counted_claims,
    duration,
)
from veilmap.wording import counted

# What has a meaning in Markdown, in GitHub's tables and mathematics, or in HTML.
_MEANS_SOMETHING = re.compile(r"([\\`*_\[\]<>|#~$&!{}])")


def board_markdown(board: Board, pictures: str = "") -> str:
    """The whole page; ``pictures`` is the folder of the pictures as the page sees it."""
    entries = (block for entry in board.entries for block in _entry(entry, board, pictures))
    return "\n\n".join([*_head(board), *entries]) + "\n"


def _head(board: Board) -> Iterator[str]:
    """Blocks, between which the page has an empty line."""
    yield "# The paper, claim by claim"
    yield (
        f"Made by `veilmap reproduce`, {counted(board.seeds, 'seed')}. {board.machine};\n"
        f"{duration(board.seconds)} of computing on one core."
    )
    yield f"On {plain(board.data)}, {counted_claims(board.counts)}."
    if board.beside is not None:
        yield f"On {plain(board.beside)}, {counted_claims(board.counts_beside)}."
    yield EXPLAINED


def _entry(entry: BoardEntry, board: Board, pictures: str) -> Iterator[str]:
    yield f"## {plain(entry.title)}"
    runs = counted(entry.runs, "run")
    yield f"{code(entry.command)}: {runs}, {duration(entry.seconds)} of computing."
    if entry.about:
        yield plain(entry.about)
    for name in entry.pictures:
        yield f"![{plain(entry.title)}]({quote(pictures + name)})"
    if entry.lines:
        yield _table(entry, board)
    notes = [f"- {plain(line.says)}: {plain(line.note)}" for line in entry.lines if line.note]
    notes += [f"- A run without figures: {plain(why)}" for why in entry.failed]
    if notes:
        yield "\n".join(notes)


def _table(entry: BoardEntry, board: Board) -> str:
    heads = ["claim", "the paper", "here", "effect", "verdict"]
    if board.beside is not None:
        heads += [plain(board.beside), "effect", "verdict"]
    attacks = attacks_of(board)
    heads += attacks
    rows = [heads, ["---"] * len(heads)]
    for line in entry.lines:
        cells = [plain(line.says), plain(line.paper), *_cells(line.here)]
        if board.beside is not None:
            cells += _cells(line.beside) if line.beside else ["-", "-", "-"]
        under = line.here.under
        rows.append([*cells, *(MARKS[under[name]] if name in under else "" for name in attacks)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def attacks_of(board: Board) -> list[str]:
    """The attacks besides the paper's own that any claim is judged under, in their order."""
    lines = (line for entry in board.entries for line in entry.lines)
    return list(dict.fromkeys(name for line in lines for name in line.here.under))


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
