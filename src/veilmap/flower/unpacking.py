"""Unpack a reply: an update, or the reason why there is none."""

from flwr.app import Message

from veilmap.errors import shown
from veilmap.flower.messages import ARRAYS, METRICS, N, in_a_line, weights_of, why_not
from veilmap.flower.node import Sent


def unpack(message: Message) -> Sent | str:
    """The update of a reply, or why there is none."""
    try:
        return _update(message)
    except Exception as error:  # a malformed message must not end the run
        return f"malformed reply ({shown(error)})"


def _update(message: Message) -> Sent | str:
    if message.has_error():
        return f"no answer ({in_a_line(message.error.reason)})"
    why = why_not(message.content)
    if why is not None:
        return why
    weights = weights_of(message.content.array_records[ARRAYS])
    n = message.content.metric_records[METRICS][N]
    return Sent(weights, n) if isinstance(n, int) else f"{shown(n)} points"
