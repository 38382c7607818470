"""Phones that send garbage, simulated: what a server does with it can be seen before it happens."""

from collections.abc import Callable, Mapping

import numpy as np

from veilmap.model.network import Floats

# As long as an honest update is short: it passes a limit on the norm, and turns the average round
# where one phone in ten sends it.
FLIPPED = 10.0
HUGE = 1e6

Garbage = Callable[[Floats, Floats], Floats]  # from w_{t-1} and what an honest phone would send

KINDS: Mapping[str, Garbage] = {
    "nan": lambda before, sent: np.full_like(sent, np.nan),
    "inf": lambda before, sent: np.full_like(sent, np.inf),
    "shape": lambda before, sent: sent[:-1],
    "huge": lambda before, sent: before + np.float32(HUGE) * (sent - before),
    "flipped": lambda before, sent: before - np.float32(FLIPPED) * (sent - before),
}


def as_sent(broken: Mapping[str, str], user: str, before: Floats, sent: Floats) -> Floats:
    """What arrives of a user's update; ``broken`` names the kind of garbage by user."""
    return KINDS[broken[user]](before, sent) if user in broken else sent
