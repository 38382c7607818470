"""The board as Markdown, for the documentation."""

from collections.abc import Iterator, Mapping

from veilmap.inspection.labels import counted
from veilmap.reproduction.board import (
    EXPLAINED,
    MARKS,
    Board,
    Entry,
    Finding,
    Line,
    counted_claims,
    duration,
)
from veilmap.sweeping.verdict import Outcome

ATTACKS = ("search", "neurons", "heatmap")


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
    yield f"On {board.data}, {counted_claims(board.counts)}."
    if board.beside is not None:
        yield ""
        yield f"On {board.beside}, {counted_claims(board.counts_beside)}."
    yield ""
    yield EXPLAINED
    yield ""


def _entry(entry: Entry, board: Board, pictures: str) -> Iterator[str]:
    yield f"## {entry.title}"
    yield ""
    runs = counted(entry.runs, "run")
    yield f"`{entry.command}`: {runs}, {duration(entry.seconds)} of computing."
    yield ""
    if entry.about:
        yield entry.about
        yield ""
    for name in entry.pictures:
        yield f"![{entry.title}]({pictures}{name})"
        yield ""
    if entry.lines:
        yield from _table(entry.lines, board)
    for line in entry.lines:
        if line.note:
            yield f"- {line.says}: {line.note}"
    for why in entry.failed:
        yield f"- A run without figures: {why}"
    if any(line.note for line in entry.lines) or entry.failed:
        yield ""


def _table(lines: tuple[Line, ...], board: Board) -> Iterator[str]:
    heads = ["claim", "the paper", "here", "effect", "verdict"]
    if board.beside is not None:
        heads += [board.beside, "effect", "verdict"]
    heads += ATTACKS
    yield "| " + " | ".join(heads) + " |"
    yield "|" + " --- |" * len(heads)
    for line in lines:
        cells = [line.says, line.paper, *_cells(line.here)]
        if board.beside is not None:
            cells += _cells(line.beside) if line.beside else ["-", "-", "-"]
        yield "| " + " | ".join([*cells, *_under(line.here.under)]) + " |"
    yield ""


def _cells(finding: Finding) -> list[str]:
    return [finding.values, finding.effect, f"{MARKS[finding.outcome]} {finding.outcome.words}"]


def _under(under: Mapping[str, Outcome]) -> list[str]:
    return [MARKS[under[name]] if name in under else "" for name in ATTACKS]
