"""A node's machine: Flower's SuperNode and SuperExec, kept running."""

import json
import secrets
import ssl
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from veilmap.errors import UserError
from veilmap.files import write_whole
from veilmap.flower.machines import node_key
from veilmap.flower.machines.environment import flower_environment
from veilmap.flower.machines.guard import CLIENT_COMMAND, write_commands
from veilmap.flower.machines.ports import LOOPBACK, Address, answers, free_port
from veilmap.flower.machines.preflight import PreflightResult, ServerAccess, ask_admission
from veilmap.flower.machines.private_files import held_privately, write_private
from veilmap.flower.machines.supervision import Children, Program, Say, stop_signals
from veilmap.flower.node_file import NodeSettings

_LOOK_EVERY_S = 0.2
_FIRST_PAUSE_S = 5.0
_LONGEST_PAUSE_S = 60.0


def join(own: NodeSettings, config: Mapping[str, str], say: Say) -> None:
    """Run the node until SIGTERM or Ctrl-C.

    A node that is not admitted retries instead of ending: its owner starts it once, sends the key,
    and has nothing more to do when the operator admits it.

    Args:
        own: the node's paths and its server.
        config: values that the client app finds in ``context.node_config``.
        say: called with one line per event.
    """
    server, folder = Address.parse(own.server), own.folder.resolve()
    try:
        ssl.create_default_context(cafile=own.certificate)
    except OSError:  # also if it is not a certificate
        raise UserError(
            f"{own.certificate} is not a CA certificate; ask the operator for the server's ca.pem"
        ) from None
    with held_privately(folder, "veilmap flower join"), stop_signals() as stop:
        access = ServerAccess(server, own.certificate, node_key.obtain(own.key))
        secret = folder / "superexec.secret"
        write_private(secret, secrets.token_bytes(32))
        environment = flower_environment(
            folder / "flower", write_commands(folder / "commands", CLIENT_COMMAND)
        )
        admission = Admission(access, own.key, folder, say)
        programs = _programs(own, admission, write_config(folder, config), secret)
        with Children(programs, environment, folder / "logs", say) as children:
            while not stop.is_set():
                children.tend()
                stop.wait(_LOOK_EVERY_S)
            say("leaving")


def _programs(
    own: NodeSettings, admission: "Admission", config: Path, secret: Path
) -> list[Program]:
    runtime = Address(LOOPBACK, free_port())
    supernode = Program(
        "supernode",
        "flwr.supernode.cli:flower_supernode",
        (
            *("--superlink", str(admission.access.address)),
            *("--root-certificates", str(own.certificate.resolve())),
            *("--auth-supernode-private-key", str(own.key.resolve())),
            *("--node-config", str(config)),
            *("--host", runtime.host, "--port", str(runtime.port)),
            *("--isolation", "process"),
            *("--superexec-auth-secret-file", str(secret)),
        ),
        ready=admission.lets_in,
    )
    superexec = Program(
        "superexec",
        "flwr.supercore.cli:flower_superexec",
        (
            *("--runtime-api-address", str(runtime), "--insecure"),  # on the loopback address
            *("--superexec-auth-secret-file", str(secret)),
        ),
        ready=lambda: answers(runtime),
    )
    return [supernode, superexec]


def write_config(folder: Path, config: Mapping[str, str]) -> Path:
    """As a file: on its command line Flower does not support values with quotation marks."""
    path = folder / "node_config.toml"
    lines = (f"{json.dumps(name)} = {json.dumps(value)}\n" for name, value in config.items())
    write_whole(path, "".join(lines).encode())
    return path


class Admission:
    """Asks the server for admission, with growing pauses, and reports every new answer once."""

    def __init__(self, access: ServerAccess, key: Path, folder: Path, say: Say) -> None:
        self.access = access
        self._key = key
        self._id_file = folder / "node_id"
        self._say = say
        self._last: PreflightResult | None = None
        self._pause_s = _FIRST_PAUSE_S
        self._not_before = 0.0

    def lets_in(self) -> bool:
        if time.monotonic() < self._not_before:
            return False
        answer, node_id = ask_admission(self.access, self._last_node_id())
        if node_id is not None:
            self._pause_s = _FIRST_PAUSE_S
            write_whole(self._id_file, f"{node_id}\n".encode())
            self._say(f"joined {self.access.address} as node {node_id}")
        else:
            self._wait(answer)
        self._last = answer
        return node_id is not None

    def _wait(self, answer: PreflightResult) -> None:
        if answer is not self._last:
            key = node_key.public_file(self._key)
            self._say(f"{self.access.address}: {answer.value} (key: {key}); retrying")
            self._pause_s = _FIRST_PAUSE_S
        self._not_before = time.monotonic() + self._pause_s
        self._pause_s = min(2 * self._pause_s, _LONGEST_PAUSE_S)

    def _last_node_id(self) -> int | None:
        with suppress(OSError, ValueError):
            return int(self._id_file.read_text())
        return None
