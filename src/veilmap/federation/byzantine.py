"""Phones that send garbage, simulated: what a server does with it can be seen before it happens."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from veilmap.federation.map_family import Arrays

# As long as an honest update is short: it passes a limit on the norm, and turns the average round
# where one phone in ten sends it.
FLIPPED = 10.0
HUGE = 1e6

Values = NDArray[np.floating]
Garbage = Callable[[Values, Values], Values]  # from an array of the state and of an honest message

KINDS: Mapping[str, Garbage] = {
    "nan": lambda before, sent: np.full_like(sent, np.nan),
    "inf": lambda before, sent: np.full_like(sent, np.inf),
    "shape": lambda before, sent: sent[:-1],
    "huge": lambda before, sent: before + np.float32(HUGE) * (sent - before),
    "flipped": lambda before, sent: before - np.float32(FLIPPED) * (sent - before),
}


def as_sent(broken: Mapping[str, str], user: str, state: Arrays, message: Arrays) -> Arrays:
    """What arrives of a user's message; ``broken`` names the kind of garbage by user."""
    if user not in broken:
        return message
    garbage = KINDS[broken[user]]
    # Of whole numbers there is no NaN.
    floats = {name: sent.astype(np.result_type(sent, np.float32)) for name, sent in message.items()}
    return {
        name: garbage(state.get(name, np.zeros_like(sent)), sent) for name, sent in floats.items()
    }
