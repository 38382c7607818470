"""Install what the lock names, and veilmap itself, into the Python that runs this.

    python -m venv .venv && .venv/bin/python tools/install.py

``make`` does the same. On Linux torch's build for CPUs is tried first, and where pip finds none of
its files the public build is taken, which brings GPU packages. Nothing but the standard library is
imported here: it runs before anything is installed.
"""

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
PUBLIC, CPU = ROOT / "locked.txt", ROOT / "locked-cpu.txt"
PYTHONS = ((3, 11), (3, 15))  # from, up to
TORCH_FOR_CPUS = "https://download.pytorch.org/whl/cpu/torch/"
# The lock is whole, so pip need not resolve. Where it does, the pip of Python 3.11 takes the newest
# release of what another distribution needs with an extra, and that hash is not in the lock.
BY_HASH = ("--no-deps", "--require-hashes", "--only-binary", ":all:")


def main():
    if not PYTHONS[0] <= sys.version_info < PYTHONS[1]:
        given = ".".join(map(str, sys.version_info[:2]))
        sys.exit(f"Python must be 3.11 to 3.14, got {given}; name another: make PYTHON=python3.12")
    lock = CPU if sys.platform == "linux" and torch_for_cpus() else PUBLIC
    print(f"To download, less what pip has kept, in MB: {sizes(lock)}", flush=True)
    if pip(*BY_HASH, "--requirement", lock):
        sys.exit("pip could not install the lock; README.md, Install, has proxies and own indexes")
    # Our own part needs neither dependencies nor a build backend from elsewhere.
    sys.exit(pip("--no-deps", "--no-build-isolation", "--editable", ROOT))


def torch_for_cpus():
    """Install torch's build for CPUs alone; whether there is one for this machine."""
    print("Trying torch's build for CPUs (0.2 GB)", flush=True)
    with TemporaryDirectory() as folder:
        alone = Path(folder) / "torch.txt"
        alone.write_text(CPU.read_text().replace("-r locked-shared.txt\n", ""))
        # One retry: where PyTorch's index cannot be reached the wait should be short.
        where = ("--find-links", TORCH_FOR_CPUS, "--retries", "1")
        command = pip_install("--quiet", *BY_HASH, *where, "--requirement", alone)
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        *_, why = done.stderr.strip().splitlines() or [""]
        print(f"That failed ({why}); the public build, with GPU packages, takes its place")
    return not done.returncode


def pip(*arguments):
    """Its exit code; with progress bars where somebody looks on."""
    quiet = () if sys.stdout.isatty() else ("--quiet",)
    return subprocess.call(pip_install(*quiet, *arguments))


def pip_install(*arguments):
    return [sys.executable, "-m", "pip", "install", *arguments]


def sizes(lock):
    return re.search(r"^# To download, in MB: (.*)$", lock.read_text(), re.MULTILINE)[1]


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted; rerun the command to install the rest")
