"""The board as Markdown, for the documentation."""

from collections.abc import Iterator, Mapping

from veilmap.reproduction.board import Board, Entry, Finding, Line, counted_claims
from veilmap.sweeping.verdict import Outcome

ATTACKS = ("search", "neurons", "heatmap")
MARKS = {
    Outcome.HOLDS: "✓",
    Outcome.FAILS: "✗",
    Outcome.UNDECIDED: "?",
    Outcome.UNKNOWN: "–",
}


_EXPLAINED = (
    "**Effect** is above zero where a claim is true: a difference, a slope per step, or the",
    "distance from a bound, paired over the seeds, with its 95 % interval. ✓ holds: all of it is",
    "above zero; ✗ does not hold: it is below; ? undecided; – cannot be told: no run has the",
    "figure. The verdict is under the paper's own attack (DLG, start (ii), m = 400,000); the last",
    "columns give it under the others.",
)


def board_markdown(board: Board, pictures: str = "") -> str:
    """The whole page; ``pictures`` is the folder of the pictures as the page sees it."""
    entries = (line for entry in board.entries for line in _entry(entry, board, pictures))
    return "\n".join([*_head(board), *entries])


def _head(board: Board) -> Iterator[str]:
    yield "# The paper, claim by claim"
    yield ""
    yield f"Made by `veilmap reproduce`; {board.seeds} seeds, {board.data}; {board.machine};"
    yield f"{board.seconds / 60:,.0f} minutes of computing on one core."
    yield ""
    yield f"On {board.data}, {counted_claims(board.counts)}."
    if board.beside is not None:
        yield ""
        yield f"On {board.beside}, {counted_claims(board.counts_beside)}."
    yield ""
    yield from _EXPLAINED
    yield ""


def _entry(entry: Entry, board: Board, pictures: str) -> Iterator[str]:
    yield f"## {entry.title}"
    yield ""
    yield f"`{entry.command}`: {entry.runs} runs, {entry.seconds:,.0f} s of computing."
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
    heads = ["claim", "the paper", "here", "effect", ""]
    if board.beside is not None:
        heads += [f"on {board.beside}", "effect", ""]
    heads += ATTACKS
    yield "| " + " | ".join(heads) + " |"
    yield "|" + " --- |" * len(heads)
    for line in lines:
        cells = [line.says, line.paper, *_cells(line.here)]
        if board.beside is not None:
            cells += _cells(line.beside) if line.beside else ["-", "-", MARKS[Outcome.UNKNOWN]]
        yield "| " + " | ".join([*cells, *_under(line.here.under)]) + " |"
    yield ""


def _cells(finding: Finding) -> list[str]:
    return [finding.values, finding.effect, MARKS[finding.outcome]]


def _under(under: Mapping[str, Outcome]) -> list[str]:
    return [MARKS[under[name]] if name in under else "" for name in ATTACKS]
