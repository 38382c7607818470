"""A node's own settings: its data, its server, and its requirements."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from veilmap.errors import UserError
from veilmap.flower.minimum import Minimum
from veilmap.settings import NamesMayBeNumbers, load_toml, parse
from veilmap.sources.columns import Columns
from veilmap.sources.reading import Reading


@dataclass(frozen=True)
class NodeSettings(NamesMayBeNumbers):
    """A node's paths and addresses; paths are relative to its file.

    Attributes:
        data: its measurements; read again in every round, so they may grow.
        user: the node's user, if the file has several.
        server: address and port of the server's proxy.
        certificate: certificate of the authority that signs the server's.
        key: key that identifies the node to the server; created on the first start.
        folder: folder for the ledger, the logs and Flower's files.
        seed: seed for reproducible studies; by default the node's own secret.
    """

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

    node: NodeSettings
    minimum: Minimum = field(default_factory=Minimum)
    columns: Columns = field(default_factory=Columns)
    reading: Reading = field(default_factory=Reading)

    @property
    def ledger(self) -> Path:
        """The file with the record of the node's answers."""
        return self.node.folder / "ledger.json"


def load_node_file(path: Path) -> NodeFile:
    """The settings, with absolute paths."""
    content = load_toml(path)
    node = content.get("node")
    if not isinstance(node, dict) or "data" not in node:
        raise UserError(f'{path} does not say where the measurements are; write [node] data = "…"')
    settings = parse(NodeFile, content, str(path))
    here, own = path.resolve().parent, settings.node
    paths = {name: here / getattr(own, name) for name in ("data", "certificate", "key", "folder")}
    return replace(settings, node=replace(own, **paths))
