"""Which nodes take part: the operator admits and expels them by their keys."""

import re
from dataclasses import dataclass
from pathlib import Path

from flwr.proto.control_pb2 import ListNodesRequest, RegisterNodeRequest, UnregisterNodeRequest
from flwr.proto.node_pb2 import NodeInfo
from flwr.supercore.primitives.asymmetric import public_key_to_bytes

from veilmap.errors import UserError, shown
from veilmap.files import write_json
from veilmap.flower.machines import node_key
from veilmap.flower.machines.control import control
from veilmap.flower.machines.server_folder import ServerFolder
from veilmap.settings import load_json
from veilmap.wording import listed

_GONE = "unregistered"
_RESTORE = "restore it, or move it away and see the nodes by their numbers"


@dataclass(frozen=True)
class AdmittedNode:
    """An admitted node; ``status`` is Flower's term, ``since`` when it last changed (UTC)."""

    node_id: int
    name: str
    status: str
    since: str


def admit(path: Path, public_key: Path, name: str) -> int:
    """Admit the node with this key under a unique name; returns its id."""
    folder = ServerFolder(path)
    key = public_key_to_bytes(node_key.load_public(public_key))
    names = read_names(path)
    _refuse_name(name, names)
    with control(folder) as client:
        for node in client.ListNodes(ListNodesRequest()).nodes_info:
            if node.public_key == key:
                raise UserError(_known(node, names, public_key))
        node_id = client.RegisterNode(RegisterNodeRequest(public_key=key, name=name)).node_id
    write_json(folder.nodes, {str(known): each for known, each in {**names, node_id: name}.items()})
    return node_id


def expel(path: Path, name: str) -> None:
    """Expel the node with this name for good: its key is not admitted again."""
    folder = ServerFolder(path)
    names = read_names(path)
    ids = [node_id for node_id, known in names.items() if known == name]
    if not ids:
        raise UserError(
            f"no node is called {shown(name)}; choose one of: {listed([*names.values()])}"
        )
    with control(folder) as client:
        client.UnregisterNode(UnregisterNodeRequest(node_id=ids[0]))
    rest = {str(node_id): known for node_id, known in names.items() if known != name}
    write_json(folder.nodes, rest)


def nodes(path: Path) -> list[AdmittedNode]:
    """The admitted nodes in the order of their admission."""
    names = read_names(path)
    with control(ServerFolder(path)) as client:
        known = client.ListNodes(ListNodesRequest()).nodes_info
    return [
        AdmittedNode(node.node_id, names.get(node.node_id, node.name), node.status, _since(node))
        for node in sorted(known, key=lambda node: node.registered_at)
        if node.status != _GONE
    ]


def read_names(path: Path) -> dict[int, str]:
    """The names of the nodes by their ids, as the operator gave them."""
    file = ServerFolder(path).nodes
    if not file.exists():
        return {}
    content = load_json(file.read_bytes(), f"{file} is not a list of nodes", _RESTORE)
    try:
        return {int(node_id): str(name) for node_id, name in content.items()}
    except ValueError as error:
        raise UserError(f"{file} is not a list of nodes ({error}); {_RESTORE}") from None


def _refuse_name(name: str, names: dict[int, str]) -> None:
    if not re.fullmatch(r"\w[\w.-]{0,63}", name):
        raise UserError(
            f"a node's name must have 1 to 64 letters, digits, '.', '_' or '-', got {shown(name)}"
        )
    if name in names.values():
        raise UserError(f"a node is already called {shown(name)}; choose another --name")


def _known(node: NodeInfo, names: dict[int, str], public_key: Path) -> str:
    if node.status == _GONE:
        return (
            f"the key {public_key} was expelled; let the node make a new one: move its "
            "key file away and join again"
        )
    name = names.get(node.node_id, node.name)
    return f"the key {public_key} is already admitted as {shown(name)}; nothing is left to do"


def _since(node: NodeInfo) -> str:
    return max(node.last_activated_at, node.last_deactivated_at)
