"""Tables on the terminal, in the look of the commands."""

from collections.abc import Iterable, Sequence

from veilmap.cli.console import stdout
from veilmap.cli.console import table as empty_table


def show_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], left: int = 1
) -> None:
    """The first ``left`` columns are names, the others figures; None is a dash."""
    made = empty_table(title, *columns, left=left)
    made.title_style = ""
    for row in rows:
        made.add_row(*("-" if cell is None else str(cell) for cell in row))
    stdout.print()
    stdout.print(made)


def note(text: str) -> None:
    """A sentence under a table, wrapped between words."""
    stdout.print(text)


def duration(seconds: float | None) -> str | None:
    """With three digits that count, in the unit that suits."""
    if seconds is None:
        return None
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size or unit == "µs":
            return f"{_three_digits(seconds / size)} {unit}"
    return None


def times(ratio: float | None) -> str | None:
    """How many times as long, or as much."""
    return None if ratio is None else f"{_three_digits(ratio)} ×"


def _three_digits(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
