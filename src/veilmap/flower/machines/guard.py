"""The guard: neither a node nor the server runs code received over the network.

Flower unpacks the bundle of a run and imports what it names, so a sender of bundles could run code
on every machine. SuperExec starts the apps by name from PATH; there it finds the stand-ins that we
write, which lead here. They accept only our own bundle, and take the app from the installed
veilmap, never from the bundle.
"""

import os
import shlex
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType
from typing import Any, NoReturn

from veilmap.files import writing
from veilmap.flower.machines.bundle import CLIENT_APP, ForeignBundleError, refuse_foreign
from veilmap.flower.machines.private_files import private_folder
from veilmap.flower.machines.supervision import REPORT_MARK

CLIENT_COMMAND = "flwr-clientapp"
SERVER_COMMAND = "flwr-serverapp"
# The modules in which Flower unpacks a bundle and imports what it names.
CLIENT_PATH = "flwr.supernode.runtime.run_clientapp"
SERVER_PATH = "flwr.superlink.runtime.run_serverapp"


def write_commands(folder: Path, allowed: str) -> Path:
    """Write a stand-in for every command that SuperExec starts; all but ``allowed`` refuse."""
    from flwr.supercore.constant import TASK_TYPE_TO_COMMAND

    private_folder(folder)
    python = f"{shlex.quote(sys.executable)} -P -m veilmap.flower.machines.guard"
    for command in TASK_TYPE_TO_COMMAND.values():
        role = command if command == allowed else f"not-{allowed}"
        script = folder / command
        with writing(script):
            script.write_text(f'#!/bin/sh\nexec {python} {role} "$@"\n')
            script.chmod(0o700)
    return folder


def main() -> None:
    """Run the command named by the first argument, guarded."""
    role, sys.argv = sys.argv[1], sys.argv[1:]
    _ROLES[role]()


def _client_app(check: Callable[[bytes], None]) -> None:
    """Flower's flwr-clientapp with our own client app, whatever the bundle says.

    With ``refuse_all``, for other kinds of tasks on a node, it answers the message with an error:
    if the process just ended, the SuperNode would wait for an answer.
    """
    from flwr.supernode.cli import flwr_clientapp

    guard_client(import_module(CLIENT_PATH), check)
    flwr_clientapp()


def _server_app() -> None:
    from flwr.superlink.cli import flwr_serverapp

    guard_server(import_module(SERVER_PATH), refuse_foreign)
    flwr_serverapp()


def _no_server_app() -> NoReturn:
    print(f"{REPORT_MARK}refused to start another kind of task than a run of veilmap", flush=True)
    sys.exit(1)


def guard_client(module: ModuleType, check: Callable[[bytes], None]) -> None:
    """Put ``check`` in the place of unpacking, and our client app in the place of any other."""
    _replace(module, "install_from_fab", lambda content, **_: _checked(check, content))
    _replace(
        module, "get_load_client_app_fn", lambda **_: lambda *_bundle: resolve_name(CLIENT_APP)
    )


def guard_server(module: ModuleType, check: Callable[[bytes], None]) -> None:
    """Put ``check`` before unpacking; what is then unpacked is a pyproject.toml."""
    install = module.install_from_fab

    def checked_install(content: bytes, **options: Any) -> Any:
        _checked(check, content)
        return install(content, **options)

    _replace(module, "install_from_fab", checked_install)


def _checked(check: Callable[[bytes], None], content: bytes) -> None:
    try:
        check(content)
    except ForeignBundleError as fault:
        print(f"{REPORT_MARK}refused a foreign bundle: {fault}", flush=True)
        raise


def refuse_all(_: bytes) -> NoReturn:
    """Refuse a bundle of any content."""
    raise ForeignBundleError("only client apps run on a node")


def _replace(module: ModuleType, name: str, by: Callable[..., Any]) -> None:
    # Without the name the guard would be ineffective; better no app than any app.
    if not callable(getattr(module, name, None)):
        print(
            f"{REPORT_MARK}this version of flwr cannot be guarded: {module.__name__} has no {name}"
        )
        os._exit(1)
    setattr(module, name, by)


_ROLES: dict[str, Callable[[], None]] = {
    CLIENT_COMMAND: lambda: _client_app(refuse_foreign),
    f"not-{CLIENT_COMMAND}": lambda: _client_app(refuse_all),
    SERVER_COMMAND: _server_app,
    f"not-{SERVER_COMMAND}": _no_server_app,
}

if __name__ == "__main__":
    main()
