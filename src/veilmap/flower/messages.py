"""Requests and answers as Flower's records, under the names that its strategies use."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from numpy.typing import NDArray

from veilmap.errors import UserError, shown
from veilmap.flower.campaign import Campaign
from veilmap.flower.node import Request, Update
from veilmap.model.network import Floats

ARRAYS, CONFIG, METRICS = "arrays", "config", "metrics"
WEIGHTS, CAMPAIGN, ROUND, N, WHY = "weights", "campaign", "server-round", "num-examples", "why"
NOTHING = "nothing to send"
NO_ANSWER = "no answer in time"
_LONGEST = 500


def weights_record(weights: Floats) -> ArrayRecord:
    """The weights as one flat vector, as in ``model``."""
    return array_record(WEIGHTS, weights)


def array_record(name: str, values: NDArray[Any]) -> ArrayRecord:
    """One array under its name."""
    return ArrayRecord({name: Array(values)})


def weights_of(record: ArrayRecord) -> Floats:
    """What ``weights_record`` packed.

    Flower unpacks with numpy, without pickle; missing data are an error.
    """
    values = record[WEIGHTS].numpy()
    # An npz archive is not an array.
    if not isinstance(values, np.ndarray) or values.dtype != np.float32:
        raise TypeError("weights that are not float32")
    return values


def ask(request: Request) -> RecordDict:
    """A request as a record."""
    config = ConfigRecord({CAMPAIGN: request.campaign.text, ROUND: request.t})
    return RecordDict({ARRAYS: weights_record(request.weights), CONFIG: config})


def request_of(content: RecordDict) -> Request:
    """The request in a message; a malformed one is an error."""
    try:
        config, weights = content[CONFIG], weights_of(content[ARRAYS])  # type: ignore[arg-type]
        campaign, t = Campaign.of_text(str(config[CAMPAIGN])), int(config[ROUND])  # type: ignore
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"this is not a request of a campaign ({shown(error)})") from None
    if weights.shape != (campaign.network.size,) or not np.isfinite(weights).all():
        raise UserError(
            f"the request has weights of shape {weights.shape}; they must be finite and "
            f"{campaign.network.size:,}"
        )
    if not 1 <= t <= campaign.rounds:
        raise UserError(f"the request is for round {t} of {campaign.rounds}")
    return Request(campaign, t, weights)


def reply(update: Update | None) -> RecordDict:
    """The answer: an update, or nothing."""
    if update is None:
        return refusal(NOTHING)
    metrics = MetricRecord({N: update.n})
    return RecordDict({ARRAYS: weights_record(update.weights), METRICS: metrics})


def unpack(message: Message) -> Update | str:
    """The update of a reply, or why there is none."""
    try:
        if message.has_error():
            return f"no answer ({in_a_line(message.error.reason)})"
        why = why_not(message.content)
        if why is not None:
            return why
        weights = weights_of(message.content.array_records[ARRAYS])
        n = message.content.metric_records[METRICS][N]
        return Update(weights, n) if isinstance(n, int) else f"{shown(n)} points"
    except Exception as error:  # a malformed message must not end the run
        return f"malformed reply ({shown(error)})"


def refusal(why: str) -> RecordDict:
    """The answer of a node that sends nothing."""
    return RecordDict({CONFIG: ConfigRecord({WHY: why})})


def why_not(content: RecordDict) -> str | None:
    """The node's reason, if it sent nothing."""
    config = content.config_records.get(CONFIG, ConfigRecord())
    return in_a_line(config[WHY]) if WHY in config else None


def in_a_line(said: object) -> str:
    """Untrusted text for a log: one line, without terminal codes, truncated if long."""
    text = str(said)
    printable = "".join(letter if letter.isprintable() else " " for letter in text[:_LONGEST])
    return printable if len(text) <= _LONGEST else f"{printable}…"


def messages(contents: Mapping[int, RecordDict], kind: str, t: int) -> list[Message]:
    """One message to each node."""
    return [
        Message(content, dst_node_id=node, message_type=kind, group_id=str(t))
        for node, content in contents.items()
    ]
