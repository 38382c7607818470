"""Write or check the lock: every distribution that ``make`` installs, by version and hash.

    python tools/lock.py                      # after a change of pyproject.toml
    python tools/lock.py --upgrade            # the newest versions
    python tools/lock.py --check              # for all systems and versions of Python, by metadata
    python tools/lock.py --check --download   # the same with pip, which downloads every file

One lock serves Linux on x86-64 and aarch64, macOS on arm64 and Windows, with Python 3.11 to 3.14:
requirements with environment markers, which any pip reads. pylock.toml would say the same, but the
pip that comes with these Pythons cannot install it.

``locked.txt`` needs the public index alone. On Linux it brings torch with GPU packages;
``locked-cpu.txt`` brings torch's build for CPUs, which only PyTorch's own index has.
"""

import argparse
import sys
from types import MappingProxyType

from locking import checks, resolution
from locking.files import CPU, LOCKED, SHARED, Pin, read, write
from locking.index import TORCH_FOR_CPUS, UnreachableError, ask_for, wheels
from locking.targets import SYSTEMS, TARGETS
from packaging.requirements import Requirement

# PyTorch publishes it for these systems; the size of one wheel.
TORCH_FOR_CPUS_MB = {"Linux x86-64": 192, "Linux aarch64": 155}
NOTHING = MappingProxyType({})

SHARED_HEAD = """\
# What locked.txt and locked-cpu.txt share; they name it, and pip installs one of them.
"""
LOCKED_HEAD = """\
# The exact files with which veilmap is tested, for every system, from the public index alone.
# On Linux torch brings GPU packages; locked-cpu.txt does without them.
# Made from pyproject.toml; to make it again: python tools/lock.py
# To download, in MB: {sizes}
-r locked-shared.txt"""
CPU_HEAD = """\
# As locked.txt, for Linux without a GPU: torch's build for CPUs, from {index}.
# tools/install.py asks there for torch alone: pip would ask for all the others too.
# To download, in MB: {sizes}
-r locked-shared.txt"""


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="change nothing, say what is missing")
    parser.add_argument("--download", action="store_true", help="check with pip's own dry run")
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions")
    parser.add_argument("--only", default="", help="check only targets with this in their name")
    options = parser.parse_args()
    if options.check:
        sys.exit(check(options.only, options.download))
    make(options.upgrade)


def make(upgrade):
    """Resolve, and write the three files."""
    requirements = resolution.whole(upgrade)
    ask_for(each.name for each in requirements)
    torch = next(each for each in requirements if each.name == "torch")
    apart = {"torch", *gpu_packages(torch)}
    write(SHARED, SHARED_HEAD, [pinned(each) for each in requirements if each.name not in apart])
    public = [pinned(each) for each in requirements if each.name in apart]
    # Twice, for the sizes are of the files that it names.
    write(LOCKED, LOCKED_HEAD, public)
    write(LOCKED, LOCKED_HEAD.format(sizes=sizes(LOCKED, SYSTEMS)), public)
    linux = [system for system in SYSTEMS if system.name in TORCH_FOR_CPUS_MB]
    cpu_head = CPU_HEAD.format(sizes=sizes(SHARED, linux, TORCH_FOR_CPUS_MB), index=TORCH_FOR_CPUS)
    write(CPU, cpu_head, [torch_for_cpus(torch)])
    print(f"{len(read(LOCKED))} distributions")


def pinned(requirement):
    """With the hashes of all wheels of the version, so that every machine finds its own."""
    version = next(iter(requirement.specifier)).version
    return Pin(requirement, frozenset(each.sha256 for each in wheels(requirement.name, version)))


def gpu_packages(torch):
    """What torch's public build needs on Linux and nowhere else."""
    needed = resolution.needed_by(f"torch{torch.specifier}")
    linux, macos = (next(t for t in TARGETS if name in str(t)) for name in ("Linux", "macOS"))
    return {each.name for each in needed if linux.takes(each) and not macos.takes(each)}


def torch_for_cpus(torch):
    """Its wheels for Linux; where PyTorch's index cannot be asked, those that the lock has."""
    version = f"{next(iter(torch.specifier)).version}+cpu"
    requirement = Requirement(f"torch=={version} ; sys_platform == 'linux'")
    try:
        found = wheels("torch", version, TORCH_FOR_CPUS)
    except UnreachableError as error:
        known = [pin for pin in read(CPU) if pin.name == "torch" and pin.version == version]
        if not known:
            sys.exit(f"torch {version} is new, and its hashes cannot be asked for: {error}")
        print(f"kept the hashes of torch {version}: {error}", file=sys.stderr)
        return known[0]
    best = (target.best(found) for target in TARGETS if target.system.name in TORCH_FOR_CPUS_MB)
    return Pin(requirement, frozenset(wheel.sha256 for wheel in best if wheel))


def sizes(path, systems, more_mb=NOTHING):
    """``Linux x86-64 3300, …`` with the first of the Pythons."""
    targets = {each.system: each for each in reversed(TARGETS)}
    megabytes = {
        system.name: checks.download_mb(targets[system], path) + more_mb.get(system.name, 0)
        for system in systems
    }
    return ", ".join(f"{name} {size}" for name, size in megabytes.items())


def check(only, download):
    """Print what is missing, target by target; whether anything is."""
    faults = list(checks.outdated())
    report("what pyproject.toml asks for", faults)
    ask_for(pin.name for pin in read(LOCKED))
    cpu_index = checks.reachable(TORCH_FOR_CPUS)
    if not cpu_index:
        print(f"{TORCH_FOR_CPUS} does not answer: {CPU.name} is not compared with it")
    for target in (each for each in TARGETS if only in str(each)):
        found = [*checks.missing_files(target), *checks.missing_dependencies(target)]
        if cpu_index:
            found += checks.missing_torch_for_cpus(target)
        if download:
            found += checks.refused_by_pip(target)
        report(f"{target}: {len(checks.taken(target))} distributions", found)
        faults += found
    return bool(faults)


def report(what, faults):
    """One line if all is well, else one for each fault."""
    print(f"{what}: {'ok' if not faults else f'{len(faults)} missing'}", flush=True)
    for fault in faults:
        print(f"    {fault}")


if __name__ == "__main__":
    main()
