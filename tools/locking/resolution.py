"""What the project needs on every system at once, resolved by uv from metadata alone.

pip resolves for the machine that it runs on; uv's universal mode resolves for all of them and
writes down where a distribution is needed, as environment markers.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from .files import LOCKED, ROOT, read
from .index import PUBLIC
from .targets import MACOS, PYTHONS, Target

# What an editable install without build isolation needs besides the project's own dependencies.
BACKEND = "hatchling\neditables\n"


def whole(upgrade=False):
    """All that ``veilmap[dev]`` and its build need; versions in the lock stay if they can."""
    preferred = [] if upgrade or not LOCKED.exists() else read(LOCKED)
    with TemporaryDirectory() as folder:
        backend = Path(folder) / "backend.in"
        backend.write_text(BACKEND)
        out = Path(folder) / "resolved.txt"
        out.write_text("".join(f"{pin.name}=={pin.version}\n" for pin in preferred))
        _compile(ROOT / "pyproject.toml", backend, "--extra", "dev", "--output-file", out)
        return [pin.requirement for pin in read(out)]


def needed_by(requirement):
    """What one distribution needs, itself included."""
    with TemporaryDirectory() as folder:
        asked, out = Path(folder) / "asked.in", Path(folder) / "resolved.txt"
        asked.write_text(f"{requirement}\n")
        _compile(asked, "--output-file", out)
        return [pin.requirement for pin in read(out)]


def why_not(target: Target, path):
    """What uv says if the lock does not suffice for the target; None if it does.

    With hashes required uv takes nothing that the lock does not name, so this finds a dependency
    that is missing there, under the target's own markers.
    """
    with TemporaryDirectory() as folder:
        done = _uv(
            "pip", "install", "--dry-run", "--require-hashes", "--target", folder,
            "--python-platform", target.system.uv, "--python-version", target.python,
            "--requirement", path,
        )  # fmt: skip
    return done.stderr.strip() if done.returncode else None


def _compile(*arguments):
    done = _uv(
        "pip", "compile", *arguments, "--universal", "--python-version", PYTHONS[0],
        "--no-header", "--no-annotate",
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(done.stderr)


def _uv(*arguments):
    own = {name: value for name, value in os.environ.items() if not name.startswith("UV_")}
    public = ("--no-config", "--only-binary", ":all:", "--default-index", PUBLIC)
    return subprocess.run(
        [sys.executable, "-m", "uv", *arguments, *public],
        env={**own, "MACOSX_DEPLOYMENT_TARGET": ".".join(map(str, MACOS))},
        capture_output=True,
        text=True,
    )
