"""``veilmap flower join``: a node's command."""

from pathlib import Path

from veilmap.cli.console import say
from veilmap.flower.client_app import NODE_FILE
from veilmap.flower.machines.node import join
from veilmap.flower.node_file import NodeFile, load_node_file
from veilmap.flower.own_data import the_user
from veilmap.sources.reader import read
from veilmap.wording import counted


def join_(file: Path) -> None:
    """Take part with the measurements on this machine, until Ctrl-C.

    The first start makes the node's key; send its .pub file to the operator.

    Args:
        file: the node's own settings (TOML): its measurements and its requirements.
    """
    settings = load_node_file(file)
    _announce(settings)
    join(settings.node, {NODE_FILE: str(file.resolve())}, say)


def _announce(settings: NodeFile) -> None:
    """Read the measurements once, so that errors show here and not in the first round."""
    data = read(settings.node.data, settings.columns, settings.reading)
    user = the_user(data, settings.node.user, settings.node.data)
    least = settings.minimum
    steps = ", then ".join(least.defence) or "none"
    say(f"data       {counted(len(data), 'measurement')} of user {user}")
    averaging = f"E ≥ {least.epochs}, B ≤ {least.batch_size}, η ≥ {least.learning_rate:g}"
    say(f"always     defence: {steps}; of a network {averaging}")
    say(
        f"only       rounds of at least {least.interval}, "
        f"with at least {counted(least.points, 'point')}"
    )
    if least.keeps_whole:
        say(
            "           a round with no more points than the defence keeps is sent whole: "
            "raise points"
        )
    if least.epsilon is not None:
        say(f"           ε ≤ {least.epsilon:g} in all, at δ = {least.delta:g}")
    if least.secure_aggregation:
        say(f"           in sums of at least {least.nodes} nodes")
