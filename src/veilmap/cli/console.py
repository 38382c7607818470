"""Where commands print: results to standard output, progress to the terminal."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

# C0 and C1 without the line feed: control codes of terminals.
_STEERING = (*range(10), *range(11, 32), *range(127, 160))
# Marks that change the writing direction: a name could look like another.
_TURNING = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROLS = {
    **{code: f"\\x{code:02x}" for code in _STEERING},
    **{code: f"\\u{code:04x}" for code in _TURNING},
}


def visible(text: str) -> str:
    """Escape terminal codes in names from files."""
    return text.translate(_CONTROLS)


class _Console(Console):
    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(visible(text), **options)


# Brackets in the user's names and paths are not markup, colons not emoji.
stdout = _Console(highlight=False, markup=False, emoji=False)
stderr = _Console(stderr=True, highlight=False, markup=False, emoji=False)


def say(text: str) -> None:
    """Print one line unwrapped, so that paths and commands can be copied."""
    stdout.print(text, soft_wrap=True)


def say_wrapped(text: str) -> None:
    """Print sentences, wrapped between words."""
    stdout.print(text)


def progress() -> Progress:
    """A progress bar with the time left; silent without a terminal."""
    # Lines printed meanwhile must go through the console that draws the bar.
    watched = stdout if stdout.is_terminal else stderr
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("time left"),
        TimeRemainingColumn(),
        console=watched,
        transient=True,
        disable=not watched.is_terminal,
    )


def table(title: str | None, *columns: str, left: int = 1) -> Table:
    """An empty table: the first ``left`` columns are names, the others numbers."""
    made = Table(
        title=title,
        title_justify="left",
        box=None,
        pad_edge=False,
        show_header=any(columns),
        header_style="bold",
    )
    for index, name in enumerate(columns):
        # Folded and never cut: names may differ in their ends.
        made.add_column(name, justify="left" if index < left else "right", overflow="fold")
    return made


def print_table(
    rows: Iterable[Sequence[str]], *columns: str, title: str | None = None, left: int = 1
) -> None:
    """Print rows as ``table`` lays them out."""
    made = table(title, *columns, left=left)
    for row in rows:
        made.add_row(*row)
    stdout.print(made)


def print_side_by_side(rows: Sequence[Sequence[str]], *columns: str) -> None:
    """Print named rows; columns that do not fit the terminal follow in tables below."""
    first = 1
    while first < len(columns):
        last = first + 1
        while last < len(columns) and _fits(_columns_of(rows, columns, first, last + 1)):
            last += 1
        stdout.print(_columns_of(rows, columns, first, last))
        first = last
        if first < len(columns):
            stdout.print()


def _columns_of(
    rows: Sequence[Sequence[str]], columns: Sequence[str], first: int, last: int
) -> Table:
    made = table(None, columns[0], *columns[first:last])
    for row in rows:
        made.add_row(row[0], *row[first:last])
    return made


def _fits(made: Table) -> bool:
    unbounded = stdout.options.update(max_width=10_000)
    return stdout.measure(made, options=unbounded).maximum <= stdout.width
