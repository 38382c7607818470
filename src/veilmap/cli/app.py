"""The list of commands, and how their errors end."""

import sys
from errno import EDQUOT, EFBIG, ENOSPC, EROFS
from io import TextIOWrapper
from typing import Any, NoReturn

from cyclopts import App, CycloptsError, Parameter

import veilmap
from veilmap.cli.config import layer_files
from veilmap.cli.renamed import renamed_shown, with_new_options
from veilmap.cli.standard_output import checked_output, give_up
from veilmap.errors import UserError, cannot_write, cut
from veilmap.shell import option_name

COMMANDS = {
    "audit": "Measure how near the server comes to users' homes, and which defence prevents it.",
    "inspect": "Show what is in a measurement file.",
    "train": "Train the signal map of one cell by online federated learning.",
    "quality": "Measure how good a map of one cell can be, and how good the federated ones are.",
    "attack": "Play the curious server: find where a user was, from the updates alone.",
    "sweep": "Run a grid of settings, several seeds each, and draw the frontier.",
    "reproduce": "Run the paper's tables and figures, with a verdict on every claim.",
    "compare": "Show what differs in settings and figures between two runs, attacks or audits.",
    "map": "Write the predicted signal map of a run as GeoTIFF, GeoJSON or PNG.",
    "tune": "Find the network and learning rate that suit a cell, by Hyperband.",
    "methods": "List all map families, defences, attacks and features, also of installed packages.",
    "stitch": "Make synthetic users from anonymous upload files.",
}
WORLDS = {
    "campus": "Simulate people on a campus, like the paper's, as Parquet.",
    "london": "Simulate contributors around London, as Parquet or Radiocells upload files (XML).",
}
FLOWER = {
    "serve": ("server", "Run the server: Flower's SuperLink, and the proxy that nodes connect to."),
    "admit": ("server", "Admit a node by its public key."),
    "expel": ("server", "Permanently expel a node."),
    "nodes": ("server", "List the admitted nodes and their status."),
    "stop": ("server", "Stop all runs."),
    "join": ("node", "Take part with the measurements on this machine."),
    "run": ("run", "Train one cell's map with the nodes of a server."),
    "simulate": ("simulate", "Train as 'veilmap train' does, on a Ray cluster."),
}
# Missing module → the extra that installs it.
EXTRAS = {
    "torch": "network",
    "flwr": "flower",
    "cryptography": "flower",
    "Crypto": "flower",
    "ray": "simulation",
}
# Errors that only a write can end in.
NO_ROOM = (ENOSPC, EDQUOT, EFBIG, EROFS)


def make_app() -> App:
    """The commands, imported on use."""
    app = App(
        name="veilmap",
        help="Federated signal maps: train them, measure what they leak, protect them.",
        version=lambda: veilmap.__version__,
        default_parameter=Parameter(name_transform=option_name, negative="", consume_multiple=True),
        config=layer_files,
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    for name, help_text in COMMANDS.items():
        app.command(f"veilmap.cli.{name}:{name}_", name=name, help=help_text)
    simulate = App(name="simulate", help="Write the measurements of a simulated world to a file.")
    for name, help_text in WORLDS.items():
        simulate.command(f"veilmap.cli.simulate:{name}_", name=name, help=help_text)
    app.command(simulate)
    flower = App(name="flower", help="Run the federation on real machines, through Flower.")
    for name, (module, help_text) in FLOWER.items():
        flower.command(f"veilmap.cli.flower.{module}:{name}_", name=name, help=help_text)
    app.command(flower)
    return app


def run(arguments: list[str] | None) -> None:
    """Parse and run; every user error becomes one line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # η in a Latin-1 terminal must not stop the command.
            stream.reconfigure(errors="replace")
    try:
        with checked_output(), renamed_shown():
            make_app()(with_new_options(arguments), exit_on_error=False, print_error=False)
    except (UserError, CycloptsError) as error:
        _end(_said(error))
    except ImportError as error:
        missing = _missing(error)
        if missing is None:
            raise
        way_out = f"install it with: pip install 'veilmap[{EXTRAS[missing]}]'"
        _end(f"{missing} is not installed; {way_out}")
    except OSError as error:
        _end(_unforeseen(error))


def _said(error: Exception) -> str:
    """The parser wraps the message of our own check of an option."""
    faults = getattr(error.__cause__, "errors", list[Any])()
    return "; ".join(each["msg"].removeprefix("Value error, ") for each in faults) or str(error)


def _end(message: str) -> NoReturn:
    from veilmap.cli.console import visible

    try:
        print(f"veilmap: error: {visible(cut(' '.join(message.split())))}", file=sys.stderr)
    except OSError:
        give_up(sys.stderr)
    sys.exit(2)


def _unforeseen(error: OSError) -> str:
    """The message for a library's own files; ours are named where they are read and written."""
    if error.errno in NO_ROOM:
        what = error.filename or "a temporary file"
        return str(cannot_write(what, error, "make room, or set TMPDIR to a place with room"))
    why = error.strerror or error
    if error.filename is None:
        return f"{why}; check the disk and the network"
    # Errors such as EACCES and EIO do not say whether the library was reading.
    return f"cannot read or write {error.filename}: {why}; check its permissions and the disk"


def _missing(error: BaseException | None) -> str | None:
    """The missing module of an extra; the parser wraps the import error."""
    while error is not None:
        name = (getattr(error, "name", None) or "").partition(".")[0]
        if isinstance(error, ModuleNotFoundError) and name in EXTRAS:
            return name
        error = error.__cause__
    return None
