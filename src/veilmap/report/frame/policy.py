"""The page's second line of defence: only its own scripts run, and nothing is fetched."""

import re
from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256

from veilmap.errors import UserError, shown

# What Leaflet fills in.
_PLACEHOLDERS = {"z", "x", "y", "s", "r"}


def policy(scripts: Iterable[str], styles: Iterable[str], tiles: str | None) -> str:
    """A Content-Security-Policy that knows each inline block by its hash.

    Text from the data that should ever get into the page as markup still could neither run nor
    load anything.
    """
    pictures = f"data: blob: {tile_origin(tiles)}" if tiles else "data: blob:"
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(_hash(each) for each in scripts)}",
            f"style-src {' '.join(_hash(each) for each in styles)}",
            f"img-src {pictures}",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def tile_origin(tiles: str) -> str:
    """Scheme and host of a template such as ``https://{s}.example.org/{z}/{x}/{y}.png``."""
    match = re.match(r"(https?://)(\{s\}\.)?([\w.-]+(?::\d+)?)/", tiles, re.ASCII)
    names = set(re.findall(r"\{([^}]*)\}", tiles))
    if not match or not {"z", "x", "y"} <= names <= _PLACEHOLDERS:
        raise UserError(
            "tiles must be a web address with {z}, {x} and {y} in it, and no other braces than {s} "
            f"and {{r}}, such as https://tile.example.org/{{z}}/{{x}}/{{y}}.png, got {shown(tiles)}"
        )
    scheme, any_server, host = match.groups()
    return f"{scheme}{'*.' if any_server else ''}{host}"


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode('ascii')}'"
