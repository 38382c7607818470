"""The files that a server keeps between starts."""

import secrets
from pathlib import Path

from veilmap.errors import UserError
from veilmap.files import write_whole
from veilmap.flower.machines.certificates import Certificates
from veilmap.flower.machines.ports import LOOPBACK, Address
from veilmap.flower.machines.private_files import private_folder, write_private
from veilmap.settings import load_toml, toml

_CONNECTION = "veilmap"


class ServerFolder:
    """The folder given to ``serve``, ``admit`` and ``run``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.keys = path / "keys"
        self.certificates = Certificates(self.keys)
        self.secret = self.keys / "superexec.secret"
        self.database = path / "superlink.db"
        self.logs = path / "logs"
        self.flower_home = path / "flower"
        self.commands = path / "commands"
        self.app = path / "app"  # of the last run, for Flower's own ``flwr run``
        self.nodes = path / "nodes.json"
        self._connections = self.flower_home / "config.toml"

    def prepare(self, port: int) -> None:
        """Create what is missing, and record where the SuperLink listens.

        As Flower's own connections, so that ``FLWR_HOME=STATE/flower flwr ls`` works too.
        """
        private_folder(self.flower_home)
        private_folder(self.keys)
        if not self.secret.exists():
            write_private(self.secret, secrets.token_bytes(32))
        if not self.database.exists():
            # It holds every update in flight; SQLite keeps the mode of the empty file.
            write_private(self.database, b"")
        connection = {
            "address": str(Address(LOOPBACK, port)),
            "root-certificates": str(self.certificates.ca.resolve()),
        }
        tables = {"superlink": {"default": _CONNECTION}, f"superlink.{_CONNECTION}": connection}
        write_whole(self._connections, toml(tables).encode())

    def superlink(self) -> Address:
        """Where the SuperLink of this folder listens, or did when it was last started."""
        if not self._connections.exists():
            raise UserError(
                f"{self.path} holds no server; start one with: veilmap flower serve {self.path}"
            )
        text = load_toml(self._connections)["superlink"][_CONNECTION]["address"]
        return Address.parse(text)
