"""The programs of a server: Flower's SuperLink and SuperExec, and our gate."""

import ssl

import httpx

from veilmap.flower.machines.ports import LOOPBACK, Address
from veilmap.flower.machines.server_folder import ServerFolder
from veilmap.flower.machines.supervision import Program


def superlink(folder: ServerFolder, port: int) -> Program:
    """The SuperLink: nodes, messages and runs, kept in a file.

    ``--isolation process``: the app of a run belongs to our own SuperExec instead of the
    SuperLink, and goes on when the SuperLink dies and comes back.
    """
    keys = folder.certificates
    return Program(
        "superlink",
        "flwr.superlink.cli:flower_superlink",
        (
            *("--host", LOOPBACK, "--port", str(port)),
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


def superexec(folder: ServerFolder, port: int) -> Program:
    """The SuperExec that starts the server app of a run."""
    return Program(
        "superexec",
        "flwr.supercore.cli:flower_superexec",
        (
            *("--runtime-api-address", str(Address(LOOPBACK, port))),
            *("--root-certificates", str(folder.certificates.ca)),
            *("--superexec-auth-secret-file", str(folder.secret)),
        ),
        ready=lambda: healthy(folder, port),
    )


def door(folder: ServerFolder, port: int, listen: Address) -> Program:
    """The gate between the nodes and the SuperLink at ``port``."""
    keys = folder.certificates
    return Program(
        "gate",
        "veilmap.flower.machines.proxy:main",
        (
            *(listen.host, str(listen.port), str(port)),
            *(str(keys.ca), str(keys.server), str(keys.server_key)),
        ),
        ready=lambda: healthy(folder, port),
    )


def healthy(folder: ServerFolder, port: int) -> bool:
    """Whether the SuperLink answers."""
    trust = ssl.create_default_context(cafile=folder.certificates.ca)
    try:
        answer = httpx.get(
            f"https://{Address(LOOPBACK, port)}/health", verify=trust, timeout=5.0, trust_env=False
        )
    except httpx.TransportError:
        return False
    return answer.is_success
