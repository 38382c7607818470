"""The three files of the lock: requirements as any pip reads them, with markers and hashes."""

import re
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
LOCKED = ROOT / "locked.txt"
CPU = ROOT / "locked-cpu.txt"
SHARED = ROOT / "locked-shared.txt"


@dataclass(frozen=True)
class Pin:
    """A distribution at one version, where it is needed, and the files that may be installed."""

    requirement: Requirement
    hashes: frozenset[str]

    @property
    def name(self) -> str:
        return self.requirement.name

    @property
    def version(self) -> str:
        return next(iter(self.requirement.specifier)).version

    def __str__(self) -> str:
        marker = f" ; {self.requirement.marker}" if self.requirement.marker else ""
        hashes = "".join(f" \\\n    --hash=sha256:{each}" for each in sorted(self.hashes))
        return f"{self.name}=={self.version}{marker}{hashes}\n"


def read(path):
    """The pins of a file of the lock, with those of the files that it names."""
    pins = []
    for entry in re.split(r"(?<!\\)\n", path.read_text()):
        if entry.startswith("-r "):
            pins += read(path.parent / entry.removeprefix("-r "))
        elif entry and not entry.startswith("#"):
            requirement, *_ = re.split(r"\s*\\?\s*--hash=", entry)
            hashes = re.findall(r"--hash=sha256:([0-9a-f]{64})", entry)
            pins.append(Pin(Requirement(requirement), frozenset(hashes)))
    return pins


def write(path, head, pins):
    """The lines of ``head``, then the pins by name."""
    lines = "".join(str(pin) for pin in sorted(pins, key=lambda pin: pin.name))
    path.write_text(f"{head}\n{lines}")
