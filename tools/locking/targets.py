"""The machines that the lock is for, and which wheels pip takes on each of them."""

from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product

from packaging.tags import compatible_tags, cpython_tags, mac_platforms

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
GLIBC = (2, 28)  # of Debian 10, RHEL 8 and Ubuntu 18.10, and of torch's wheels
MACOS = (14, 0)  # of torch's wheels
_OLD_NAMES = {5: "manylinux1", 12: "manylinux2010", 17: "manylinux2014"}


@dataclass(frozen=True)
class System:
    """A kind of machine: its name in environment markers, in wheels, and in uv's words."""

    name: str
    markers: tuple[str, str, str, str]  # sys_platform, platform_system, os_name, platform_machine
    wheels: tuple[str, ...]
    uv: str


def _linux(machine):
    """Its names for wheels are in pip's order, the newest first."""
    names = []
    for minor in range(GLIBC[1], 4, -1):
        names.append(f"manylinux_{GLIBC[0]}_{minor}_{machine}")
        if minor in _OLD_NAMES:
            names.append(f"{_OLD_NAMES[minor]}_{machine}")
    markers = ("linux", "Linux", "posix", machine)
    uv = f"{machine}-manylinux_{GLIBC[0]}_{GLIBC[1]}"
    return System(f"Linux {machine.replace('_', '-')}", markers, (*names, f"linux_{machine}"), uv)


SYSTEMS = (
    _linux("x86_64"),
    _linux("aarch64"),
    System(
        "macOS arm64",
        ("darwin", "Darwin", "posix", "arm64"),
        tuple(mac_platforms(MACOS, "arm64")),
        "aarch64-apple-darwin",
    ),
    System(
        "Windows x86-64",
        ("win32", "Windows", "nt", "AMD64"),
        ("win_amd64",),
        "x86_64-pc-windows-msvc",
    ),
)


@dataclass(frozen=True)
class Target:
    """A system with a version of Python."""

    system: System
    python: str

    def __str__(self) -> str:
        return f"{self.system.name}, Python {self.python}"

    def takes(self, requirement) -> bool:
        """Whether a line of the lock is meant for it."""
        return requirement.marker is None or requirement.marker.evaluate(self._environment())

    def best(self, wheels):
        """The wheel that pip would take, or None."""
        fitting = [wheel for wheel in wheels if wheel.tags & self._ranks.keys()]
        return min(fitting, key=self._rank, default=None)

    def _rank(self, wheel):
        return min(self._ranks[tag] for tag in wheel.tags & self._ranks.keys())

    @cached_property
    def _ranks(self):
        version = tuple(map(int, self.python.split(".")))
        interpreter = f"cp{self.python.replace('.', '')}"
        tags = chain(
            cpython_tags(version, platforms=self.system.wheels),
            compatible_tags(version, interpreter, self.system.wheels),
        )
        return {tag: place for place, tag in enumerate(tags)}

    def _environment(self):
        sys_platform, platform_system, os_name, machine = self.system.markers
        return {
            "implementation_name": "cpython",
            "implementation_version": f"{self.python}.0",
            "os_name": os_name,
            "platform_machine": machine,
            "platform_python_implementation": "CPython",
            "platform_release": "",
            "platform_system": platform_system,
            "platform_version": "",
            "python_full_version": f"{self.python}.0",
            "python_version": self.python,
            "sys_platform": sys_platform,
            "extra": "",
        }


TARGETS = tuple(Target(*each) for each in product(SYSTEMS, PYTHONS))
