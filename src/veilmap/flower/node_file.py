"""A node's own settings: its data, its server, and what it insists on."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from pydantic import ConfigDict

from veilmap.errors import UserError
from veilmap.flower.minimum import Minimum
from veilmap.settings import load_toml, parse
from veilmap.sources.columns import Columns
from veilmap.sources.reading import Reading


@dataclass(frozen=True)
class Place:
    """Where a node finds things; relative to its file.

    Attributes:
        data: its measurements; read anew in every round, so they may grow.
        user: whose of them, where the file has several users.
        server: address and port of the server's gate.
        certificate: of the authority that vouches for the server.
        key: by which the server knows the node; made on the first start.
        folder: what the node keeps: its ledger, its logs, Flower's files.
        seed: for studies that are to be repeated; by default a secret of the node's own.
    """

    # A user may be named by a number.
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(coerce_numbers_to_str=True)

    data: Path
    user: str | None = None
    server: str = "127.0.0.1:9092"
    certificate: Path = Path("ca.pem")
    key: Path = Path("node.key")
    folder: Path = Path("node")
    seed: int | None = None


@dataclass(frozen=True)
class NodeFile:
    """The tables of a node's TOML file."""

    node: Place
    minimum: Minimum = field(default_factory=Minimum)
    columns: Columns = field(default_factory=Columns)
    reading: Reading = field(default_factory=Reading)

    @property
    def ledger(self) -> Path:
        """Where the node keeps count of its answers."""
        return self.node.folder / "ledger.json"


def load_node_file(path: Path) -> NodeFile:
    """The settings, with paths that hold wherever the node is started."""
    content = load_toml(path)
    node = content.get("node")
    if not isinstance(node, dict) or "data" not in node:
        raise UserError(f'{path} does not say where the measurements are; write [node] data = "…"')
    settings = parse(NodeFile, content, str(path))
    here, place = path.resolve().parent, settings.node
    paths = {name: here / getattr(place, name) for name in ("data", "certificate", "key", "folder")}
    return replace(settings, node=replace(place, **paths))
