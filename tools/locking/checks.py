"""What may be wrong with the lock: that it is old, or that some machine could not install it."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from .files import CPU, LOCKED, Pin, read
from .index import PUBLIC, TORCH_FOR_CPUS, UnreachableError, size_mb, wheels
from .resolution import whole, why_not


def outdated():
    """What differs from what pyproject.toml asks for."""
    written = {str(pin.requirement) for pin in read(LOCKED)}
    wanted = {str(requirement) for requirement in whole()}
    yield from (f"the lock lacks {each}; run python tools/lock.py" for each in wanted - written)
    yield from (f"nothing needs {each}; run python tools/lock.py" for each in written - wanted)


def missing_files(target):
    """Lines of the lock for which the public index has no file that pip would take there."""
    for pin in taken(target):
        wheel = target.best(wheels(pin.name, pin.version))
        if wheel is None:
            yield f"no wheel of {pin.name} {pin.version}"
        elif wheel.sha256 not in pin.hashes:
            yield f"the hash of {wheel.url.rsplit('/', 1)[1]} is not in the lock"


def missing_dependencies(target):
    """What uv finds lacking when it installs the lock, without doing so."""
    why = why_not(target, LOCKED)
    if why:
        yield why


def missing_torch_for_cpus(target):
    """The same of torch's build for CPUs, which PyTorch's own index has, for Linux alone."""
    pins = {pin.name: pin for pin in read(CPU)}
    if not target.takes(pins["torch"].requirement):
        return
    pin = pins["torch"]
    wheel = target.best(wheels(pin.name, pin.version, TORCH_FOR_CPUS))
    if wheel is None:
        yield f"no wheel of torch {pin.version} on {TORCH_FOR_CPUS}"
    elif wheel.sha256 not in pin.hashes:
        yield f"the hash of torch {pin.version} from {TORCH_FOR_CPUS} is not in {CPU.name}"


def refused_by_pip(target):
    """What pip says of a dry run, for which it downloads every file and compares its hash.

    pip reads environment markers as on the machine that it runs on, whatever ``--platform`` says,
    so it gets the lines that are meant for the target, and no dependencies to look for.
    """
    plain = "".join(str(Pin(_unmarked(pin.requirement), pin.hashes)) for pin in taken(target))
    platforms = [word for each in target.system.wheels for word in ("--platform", each)]
    with TemporaryDirectory() as folder:
        requirements = Path(folder) / "requirements.txt"
        requirements.write_text(plain)
        command = [
            sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed",
            "--no-deps", "--only-binary", ":all:", "--require-hashes", "--target", folder,
            "--implementation", "cp", "--python-version", target.python, *platforms,
            "--index-url", PUBLIC, "--requirement", requirements,
        ]  # fmt: skip
        done = subprocess.run(command, env=without_settings(), capture_output=True, text=True)
    if done.returncode:
        yield done.stderr.strip()


def download_mb(target, path=LOCKED):
    """The size of all files that pip would take there from the public index, in MB."""
    best = [target.best(wheels(pin.name, pin.version)) for pin in taken(target, path)]
    return size_mb(wheel.url for wheel in best if wheel)


def taken(target, path=LOCKED):
    """The pins that are meant for a target."""
    return [pin for pin in read(path) if target.takes(pin.requirement)]


def reachable(index):
    """Whether the index answers at all."""
    try:
        wheels("torch", "", index)
    except UnreachableError:
        return False
    return True


def without_settings():
    """The environment without this machine's own settings for pip."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    return {**own, "PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def _unmarked(requirement):
    return type(requirement)(f"{requirement.name}{requirement.specifier}")
