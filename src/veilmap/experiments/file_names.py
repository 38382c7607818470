"""Distinct, readable file names for configurations of any name."""

import re
from hashlib import sha256

_LETTERS = 60


def readable(configuration: str) -> str:
    """``fedavg-farthest-eps_m=50-num=20``; a long or foreign name is cut and gets a hash."""
    plain = re.sub(r"[^A-Za-z0-9.=_]+", "-", configuration).strip(".-")
    if len(plain) <= _LETTERS and configuration.isascii():
        return plain
    return f"{plain[:_LETTERS]}-{sha256(configuration.encode()).hexdigest()[:8]}"
