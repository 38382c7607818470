"""Settings files under the options: an option on the command line wins over a file."""

import re
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from cyclopts import App, Argument, ArgumentCollection
from cyclopts.config import Dict

from veilmap.errors import UserError, shown
from veilmap.shell import option_name

# Most specific first: the first file with a setting decides.
FILE_OPTIONS = ("--model", "--config")


def layer_files(app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Fill options that were not given from the settings files."""
    for argument in arguments:
        _refuse_misread(argument)
    for option in FILE_OPTIONS:
        for argument in arguments:
            if option in argument.names and argument.tokens:
                path = Path(argument.tokens[0].value)
                values = flat_settings(path)
                # Under the command: at the top, the parser drops settings that have the name of
                # one, such as map. Tables that this command does not use were checked too.
                for command in reversed(commands):
                    values = {command: values}
                Dict(values, source=str(path), allow_unknown=True)(app, commands, arguments)


def _refuse_misread(argument: Argument) -> None:
    """Refuse what the parser would take for something else without a word."""
    for token in argument.tokens:
        # No value at all, for which it would give an empty list.
        if token.implicit_value == () and token.source == "cli":
            raise UserError(f"{argument.name} has no value after it; give one or leave it out")
        words = _words_beside_a_whole_number(argument.hint)
        # 2.5 epochs, which it would round to 2.
        is_whole = re.fullmatch(r"[+-]?\d+", token.value)
        if words is not None and not is_whole and token.value not in words:
            demand = " or ".join(["a whole number", *words])
            raise UserError(f"{argument.name} must be {demand}, got {shown(token.value)}")


def _words_beside_a_whole_number(hint: Any) -> list[str] | None:
    """The ``all`` of ``int | Literal["all"]``; None where no whole number is wanted."""
    parts = get_args(hint) or (hint,)
    if int not in parts or float in parts:
        return None
    return [str(word) for part in parts if get_origin(part) is Literal for word in get_args(part)]


def flat_settings(path: Path) -> dict[str, Any]:
    """The values of a settings file by option name, after a check of the whole file."""
    from veilmap.auditing.settings import AuditFile
    from veilmap.settings import load_toml, parse, with_new_names

    tables = with_new_names(AuditFile, load_toml(path))
    parse(AuditFile, tables, path.name)
    return {option_name(name): value for table in tables.values() for name, value in table.items()}
