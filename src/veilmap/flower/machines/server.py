"""The server's machine: SuperLink, SuperExec and proxy, kept running."""

import ssl
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import httpx

from veilmap.errors import UserError
from veilmap.flower.machines import certificates
from veilmap.flower.machines.environment import flower_environment
from veilmap.flower.machines.guard import SERVER_COMMAND, write_commands
from veilmap.flower.machines.ports import LOOPBACK, Address, answers, refuse_taken
from veilmap.flower.machines.private_files import held_privately
from veilmap.flower.machines.server_folder import ServerFolder
from veilmap.flower.machines.supervision import Children, Program, Say, stop_signals

# The ports that Flower's users know: nodes at 9092, the operator at 9093.
LISTEN = Address(LOOPBACK, 9092)
PORT = 9093
_LOOK_EVERY_S = 0.2
_HOPELESS = 5


def serve(
    path: Path, say: Say, *, hosts: Sequence[str] = (), port: int = PORT, listen: Address = LISTEN
) -> None:
    """Run the server until SIGTERM or Ctrl-C.

    Args:
        path: its folder.
        say: called with one line per event.
        hosts: names and addresses under which nodes reach it.
        port: of the SuperLink, on the loopback address: for the operator on this machine.
        listen: of the proxy: for the nodes. The loopback address keeps them on this machine.
    """
    folder = ServerFolder(path.resolve())
    with held_privately(folder.path, "veilmap flower serve"), stop_signals() as stop:
        keys = certificates.obtain(folder.keys, _reachable(hosts, listen))
        inside = Address(LOOPBACK, port)
        refuse_taken(inside, "--port")
        refuse_taken(listen, "--listen")
        folder.prepare(port)
        environment = flower_environment(
            folder.flower_home, write_commands(folder.commands, SERVER_COMMAND)
        )
        programs = _programs(folder, inside, listen)
        with Children(programs, environment, folder.logs, say) as children:
            ready = False
            while not stop.is_set():
                children.tend()
                if not ready and children.deaths_in_a_row("superlink") >= _HOPELESS:
                    raise UserError(
                        "the SuperLink does not start; read "
                        f"{folder.logs / 'superlink.log'} for its reason"
                    )
                if not ready and children.all_run and answers(listen):
                    ready = True
                    say(f"ready: nodes join at {listen} and trust {keys.ca}")
                stop.wait(_LOOK_EVERY_S)
            say("ending")


def _reachable(hosts: Sequence[str], listen: Address) -> list[str]:
    # The certificate covers the listening address too, for nodes that use it directly.
    everywhere = listen.host in ("0.0.0.0", "::")  # noqa: S104 - compared, not bound
    return [*hosts] if everywhere else [*hosts, listen.host]


def _programs(folder: ServerFolder, inside: Address, listen: Address) -> list[Program]:
    """The SuperLink, which keeps nodes, messages and runs in a file, and what works with it.

    ``--isolation process``: the app of a run belongs to our own SuperExec instead of the
    SuperLink, and survives a restart of the SuperLink.
    """
    keys = folder.certificates
    superlink = Program(
        "superlink",
        "flwr.superlink.cli:flower_superlink",
        (
            *("--host", inside.host, "--port", str(inside.port)),
            *("--ssl-ca-certfile", str(keys.ca)),
            *("--ssl-certfile", str(keys.server), "--ssl-keyfile", str(keys.server_key)),
            "--enable-supernode-auth",
            *("--database", str(folder.database)),
            *("--isolation", "process"),
            # Without it any user of this machine can take tasks away from our SuperExec.
            *("--superexec-auth-secret-file", str(folder.secret)),
            "--disable-runtime-dependency-installation",
        ),
    )
    superexec = Program(
        "superexec",
        "flwr.supercore.cli:flower_superexec",
        (
            *("--runtime-api-address", str(inside), "--root-certificates", str(keys.ca)),
            *("--superexec-auth-secret-file", str(folder.secret)),
        ),
        ready=lambda: _healthy(inside, keys.ca),
    )
    proxy = Program(
        "proxy",
        "veilmap.flower.machines.proxy:main",
        (
            *(listen.host, str(listen.port), str(inside.port)),
            *(str(keys.ca), str(keys.server), str(keys.server_key)),
        ),
        ready=lambda: _healthy(inside, keys.ca),
    )
    return [superlink, superexec, proxy]


def _healthy(superlink: Address, ca: Path) -> bool:
    trust = ssl.create_default_context(cafile=ca)
    with suppress(httpx.TransportError):
        url = f"https://{superlink}/health"
        return httpx.get(url, verify=trust, timeout=5.0, trust_env=False).is_success
    return False
