"""The list of commands, and how a run of any of them ends."""

import sys
from io import TextIOWrapper

from cyclopts import App, CycloptsError, Parameter

from veilmap.cli.config import layer_files
from veilmap.cli.renamed import renamed_shown, with_new_options
from veilmap.errors import UserError, cut
from veilmap.shell import option_name

COMMANDS = {
    "audit": "Find out how near the server comes to users' homes, and what keeps it away.",
    "inspect": "What is in a measurement file.",
    "train": "Train the signal map of one cell by online federated learning.",
    "attack": "Play the curious server: find where a user was from the updates alone.",
    "sweep": "Run a grid of settings, several seeds each, and draw the frontier.",
    "reproduce": "Run the paper's tables and figures, with a verdict on every claim.",
    "compare": "What differs in settings and figures between two runs, attacks or audits.",
    "map": "Write the predicted signal map of a run as GeoTIFF, GeoJSON or PNG.",
    "tune": "Find the network and learning rate that suit a cell, by Hyperband.",
    "methods": "List all map families, defences and attacks, also those of installed packages.",
    "stitch": "Make synthetic users from upload files that do not say whose they are.",
}
WORLDS = {
    "campus": "People on a campus, like the paper's: Parquet.",
    "london": "Contributors around London, like Radiocells': Parquet, or upload files (XML).",
}
FLOWER = {
    "serve": ("server", "Run the server: Flower's SuperLink, and the gate that nodes come to."),
    "admit": ("server", "Let a node take part, by its public key."),
    "expel": ("server", "End a node's part, for good."),
    "nodes": ("server", "List the admitted nodes, and which of them are connected."),
    "stop": ("server", "End the runs that go on."),
    "join": ("node", "Take part with the measurements on this machine."),
    "run": ("run", "Train one cell's map with the nodes of a server."),
    "simulate": ("simulate", "Train as 'veilmap train' does, on a Ray cluster."),
}
# Missing module → the extra that brings it.
EXTRAS = {
    "torch": "network",
    "flwr": "flower",
    "cryptography": "flower",
    "Crypto": "flower",
    "ray": "simulation",
}


def make_app() -> App:
    """The commands, none of them imported yet."""
    app = App(
        name="veilmap",
        help="Federated signal maps: train them, see what they give away, stop it.",
        version=_version,
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
    flower = App(name="flower", help="The same federation on real machines, through Flower.")
    for name, (module, help_text) in FLOWER.items():
        flower.command(f"veilmap.cli.flower.{module}:{name}_", name=name, help=help_text)
    app.command(flower)
    return app


def run(arguments: list[str] | None) -> None:
    """Parse, run, and turn every mistake of the user into one line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # η in a Latin-1 terminal is no reason to stop
    try:
        with renamed_shown():
            make_app()(with_new_options(arguments), exit_on_error=False, print_error=False)
    except (UserError, CycloptsError) as error:
        from veilmap.cli.console import visible

        message = visible(cut(" ".join(str(error).split())))
        print(f"veilmap: error: {message}", file=sys.stderr)
        sys.exit(2)
    except ImportError as error:
        missing = _missing(error)
        if missing is None:
            raise
        way_out = f"get it with: pip install 'veilmap[{EXTRAS[missing]}]'"
        print(f"veilmap: error: {missing} is not installed; {way_out}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        from veilmap.cli.console import visible

        where = "" if error.filename is None else f"{error.filename}: "
        print(f"veilmap: error: {visible(where)}{error.strerror or error}", file=sys.stderr)
        sys.exit(2)


def _missing(error: BaseException | None) -> str | None:
    """The module of an extra that is not there; the parser wraps the error that says so."""
    while error is not None:
        name = (getattr(error, "name", None) or "").partition(".")[0]
        if isinstance(error, ModuleNotFoundError) and name in EXTRAS:
            return name
        error = error.__cause__
    return None


def _version() -> str:
    from importlib.metadata import version

    return version("veilmap")
