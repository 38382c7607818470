"""Options of all commands that read a file; imported without torch, for ``inspect``."""

from dataclasses import dataclass, field
from typing import Annotated

from cyclopts import Group, Parameter

from veilmap.sources.columns import Columns
from veilmap.sources.reading import Reading


def grouped(title: str, order: int) -> Parameter:
    """The fields of a dataclass as plain options, under a title in the help."""
    return Parameter(name="*", group=Group(title, sort_key=order))


ColumnOptions = Annotated[Columns, grouped("Columns of the file (default: guessed)", 6)]
ReadingOptions = Annotated[Reading, grouped("Reading", 7)]


@Parameter(name="*")
@dataclass(frozen=True)
class FileOptions:
    """How a measurement file is read."""

    columns: ColumnOptions = field(default_factory=Columns)
    reading: ReadingOptions = field(default_factory=Reading)
