"""What a reply holds: whatever a node packed, an update or a sentence."""

import numpy as np
from flwr.app import Message

from veilmap.flower.messages import ARRAYS, METRICS, WEIGHTS, N, why_not
from veilmap.flower.node import Sent


def unpack(message: Message) -> Sent | str:
    """The update of a reply, or why there is none."""
    if message.has_error():
        return f"no answer ({message.error.reason})"
    content = message.content
    why = why_not(content)
    if why is not None:
        return why
    try:
        values = content.array_records[ARRAYS][WEIGHTS].numpy()
        n = content.metric_records[METRICS][N]
    except Exception as error:  # whatever a stranger packed must not end the run
        return f"an answer that is none ({error!r})"
    if not isinstance(values, np.ndarray) or values.dtype != np.float32:
        return "weights that are no float32"
    return Sent(values, n) if isinstance(n, int) else f"{n!r} points"
