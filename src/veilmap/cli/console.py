"""Where commands print: results to standard output, progress to the terminal."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

# Names and paths are the user's: brackets in them are no markup, colons no emoji.
stdout = Console(highlight=False, markup=False, emoji=False)
stderr = Console(stderr=True, highlight=False, markup=False, emoji=False)


def say(text: str) -> None:
    """One line as it is: not wrapped, so that paths and commands can be copied."""
    stdout.print(text, soft_wrap=True)


def progress() -> Progress:
    """A progress bar with the time left; silent where nobody is watching."""
    # Lines printed meanwhile must go through the console that draws the bar, or they tear it.
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
    made = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for index, name in enumerate(columns):
        made.add_column(name, justify="left" if index < left else "right")
    return made
