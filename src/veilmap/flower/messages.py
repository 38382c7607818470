"""Requests and answers as Flower's records, under the names that its strategies use."""

from collections.abc import Mapping
from typing import Any

from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from numpy.typing import NDArray

from veilmap.errors import UserError, shown
from veilmap.federation.map_family import Arrays
from veilmap.flower.campaign import Campaign
from veilmap.flower.exchange import Exchange, Update
from veilmap.flower.node import Request
from veilmap.flower.refusal import RefusalError
from veilmap.foreign_arrays import is_real
from veilmap.maps.families import MAP_FAMILIES, MissingMap
from veilmap.wording import listed

ARRAYS, CONFIG, METRICS = "arrays", "config", "metrics"
CAMPAIGN, ROUND, N, WHY = "campaign", "server-round", "num-examples", "why"
NOTHING = "nothing to send"
NO_ANSWER = "no answer in time"
_LONGEST = 500


def array_record(arrays: Arrays) -> ArrayRecord:
    """Arrays under their names."""
    return ArrayRecord({name: Array(values) for name, values in arrays.items()})


def arrays_of(record: ArrayRecord) -> Arrays:
    """What ``array_record`` packed.

    Flower unpacks with numpy, without pickle; missing data are an error.
    """
    arrays: dict[str, NDArray[Any]] = {name: each.numpy() for name, each in record.items()}
    for name, values in arrays.items():
        if not is_real(values):  # an npz archive is not even an array
            raise TypeError(f"{name} that are not real numbers")
    return arrays


def ask(request: Request) -> RecordDict:
    """A request as a record."""
    config = ConfigRecord({CAMPAIGN: request.campaign.text, ROUND: request.t})
    return RecordDict({ARRAYS: array_record(request.state), CONFIG: config})


def request_of(content: RecordDict) -> Request:
    """The request in a message; a malformed one is an error.

    Raises:
        RefusalError: it is for a map that this node does not know.
    """
    try:
        config, arrays = content[CONFIG], arrays_of(content[ARRAYS])  # type: ignore[arg-type]
        campaign, t = Campaign.of_text(str(config[CAMPAIGN])), int(config[ROUND])  # type: ignore
        if isinstance(campaign.map, MissingMap):
            known = listed(list(MAP_FAMILIES.own))
            raise RefusalError(f"makes the maps {known}, not {shown(campaign.map.called)}")
        state = campaign.exchange.state(arrays)
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"this is not a request of a campaign ({shown(error)})") from None
    if not 1 <= t <= campaign.rounds:
        raise UserError(f"the request is for round {t} of {campaign.rounds}")
    return Request(campaign, t, state)


def reply(update: Update | None, exchange: Exchange) -> RecordDict:
    """The answer: an update, or nothing."""
    if update is None:
        return refusal(NOTHING)
    content = RecordDict({ARRAYS: array_record(update.message)})
    if exchange.sends_n:
        content[METRICS] = MetricRecord({N: update.n})
    return content


def unpack(message: Message, exchange: Exchange) -> Update | str:
    """The update of a reply, or why there is none; of a message sent without n, n is 0."""
    try:
        if message.has_error():
            return f"no answer ({in_a_line(message.error.reason)})"
        why = why_not(message.content)
        if why is not None:
            return why
        sent = exchange.message(arrays_of(message.content.array_records[ARRAYS]))
        n = message.content.metric_records[METRICS][N] if exchange.sends_n else 0
        return Update(sent, n) if isinstance(n, int) else f"{shown(n)} points"
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
