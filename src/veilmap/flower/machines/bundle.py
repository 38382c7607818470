"""The bundle of a run: a pyproject.toml that names our own two apps.

Flower sends a bundle (FAB) of code with every run. Ours holds no code: server and nodes have
veilmap installed, and the bundle only carries the settings of the run.
"""

import math
import re
import tomllib
import zipfile
from collections.abc import Mapping
from io import BytesIO

from flwr.cli.build import build_fab_from_files

from veilmap.errors import UserError, refuse, shown
from veilmap.settings import toml

SERVER_APP = "veilmap.flower.server_app:app"
CLIENT_APP = "veilmap.flower.client_app:app"

RunConfig = Mapping[str, str | int | float | bool]

_PROJECT = "pyproject.toml"
_FILES = [_PROJECT, ".info/CONTENT"]
# Settings are a few kilobytes; a file that unpacks to gigabytes is an attack.
_LARGEST_FILE = 2**20


class ForeignBundleError(Exception):
    """The bundle is not one of ours."""


def project(run_config: RunConfig) -> str:
    """The pyproject.toml of a run."""
    refuse(_faults(run_config))
    return toml(
        {
            # No dependencies: whatever they named, Flower would install.
            "project": {
                "name": "veilmap-run",
                "version": "1.0.0",
                "description": "A campaign of veilmap, without any code",
                "license": "Apache-2.0",
                "dependencies": [],
            },
            "tool.flwr.app": {"publisher": "veilmap"},
            "tool.flwr.app.components": {"serverapp": SERVER_APP, "clientapp": CLIENT_APP},
            "tool.flwr.app.config": dict(run_config),
        }
    )


def build(run_config: RunConfig) -> bytes:
    """The bundle of a run."""
    content, _ = build_fab_from_files({_PROJECT: project(run_config).encode()})
    return content


def refuse_foreign(content: bytes) -> None:
    """Raise unless the bundle holds a pyproject.toml that names our two apps, and nothing else."""
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            entries = archive.infolist()
            if [entry.filename for entry in entries] != _FILES:
                raise ForeignBundleError(f"it holds {', '.join(e.filename for e in entries)}")
            if any(entry.file_size > _LARGEST_FILE for entry in entries):
                raise ForeignBundleError("one of its files is too large")
            tables = tomllib.loads(archive.read(_PROJECT).decode())
        components = tables["tool"]["flwr"]["app"]["components"]
    except (zipfile.BadZipFile, ValueError, LookupError, TypeError, NotImplementedError) as error:
        raise ForeignBundleError(f"it cannot be read: {error}") from error
    if components != {"serverapp": SERVER_APP, "clientapp": CLIENT_APP}:
        raise ForeignBundleError(f"it names {components}")


def _faults(run_config: RunConfig) -> list[UserError]:
    return [
        UserError(
            f"run setting {shown(name)} must be a plain name with a finite value, "
            f"got {shown(value)}"
        )
        for name, value in run_config.items()
        if not re.fullmatch(r"[a-z0-9_-]+", name)
        or (isinstance(value, float) and not math.isfinite(value))
    ]
