"""The environment in which all of Flower's processes run."""

import os
from collections.abc import Mapping
from pathlib import Path

_LOOPBACK = "localhost,127.0.0.1,::1"


def flower_environment(
    home: Path, commands: Path, inherited: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """The environment of the processes, with Flower's telemetry off and its own home folder.

    Args:
        home: Flower's own folder, instead of ``~/.flwr``.
        commands: the folder of our stand-ins for the commands that Flower starts by name.
        inherited: the environment of the caller. Its ``FLWR_`` variables are dropped: one of them
            opens the Control API on all interfaces.
    """
    kept = {name: value for name, value in inherited.items() if not name.startswith("FLWR_")}
    return {
        "OMP_NUM_THREADS": "1",  # many small processes share the machine
        **kept,
        "FLWR_TELEMETRY_ENABLED": "0",
        "FLWR_DISABLE_UPDATE_CHECK": "1",
        "FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION": "1",
        "FLWR_HOME": str(home),
        # Not the folder of Python's scripts: Flower's own commands must not be found there.
        "PATH": os.pathsep.join([str(commands), os.defpath]),
        # Requests to this machine must not go through a proxy.
        "NO_PROXY": ",".join(filter(None, [kept.get("NO_PROXY"), _LOOPBACK])),
        "no_proxy": ",".join(filter(None, [kept.get("no_proxy"), _LOOPBACK])),
        "PYTHONUNBUFFERED": "1",
    }
