"""``veilmap flower`` for the operator: ``serve``, ``admit``, ``expel``, ``nodes``, ``stop``."""

from pathlib import Path

from veilmap.cli.console import say, stdout, table
from veilmap.flower.machines import admission, runs
from veilmap.flower.machines.ports import Address
from veilmap.flower.machines.server import LISTEN, PORT, serve
from veilmap.wording import counted


def serve_(
    state: Path, *, host: list[str] | None = None, listen: str = str(LISTEN), port: int = PORT
) -> None:
    """Run the server until Ctrl-C: Flower's SuperLink, and the proxy that nodes connect to.

    The first start creates the certificates; give keys/ca.pem of the folder to the nodes.

    Args:
        state: the folder for the server's keys, database and logs.
        host: the names and addresses under which nodes reach this machine, for the certificate.
        listen: address and port of the proxy. The default is this machine only; 0.0.0.0:9092 opens
            the proxy, and nothing else, to the network.
        port: port of the SuperLink, on the loopback address, for the operator's commands.
    """
    serve(state, say, hosts=host or [], port=port, listen=Address.parse(listen))


def admit_(state: Path, key: Path, *, name: str) -> None:
    """Admit a node.

    Args:
        state: the server's folder.
        key: the node's public key, sent by its owner.
        name: the node's name in logs and in the transcript.
    """
    node = admission.admit(state, key, name)
    say(f"admitted {name} as node {node}")


def expel_(state: Path, name: str) -> None:
    """Permanently expel a node.

    Args:
        state: the server's folder.
        name: the name under which the node was admitted.
    """
    admission.expel(state, name)
    say(f"expelled {name}; its key is not admitted again")


def nodes_(state: Path) -> None:
    """List the admitted nodes and their status.

    Args:
        state: the server's folder.
    """
    listed = table(None, "node", "status", "since (UTC)", "number", left=4)
    for node in admission.nodes(state):
        since = node.since[:19].replace("T", " ")
        listed.add_row(node.name, node.status, since or "never here", str(node.node_id))
    if listed.row_count:
        stdout.print(listed)
    else:
        say("no node is admitted yet; admit one with: veilmap flower admit STATE KEY --name NAME")


def stop_(state: Path) -> None:
    """Stop all runs; finished rounds are kept.

    Args:
        state: the server's folder.
    """
    stopped = runs.stop_all(state)
    say(f"stopped {counted(len(stopped), 'run')}")
