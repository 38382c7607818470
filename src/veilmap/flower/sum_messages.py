"""The messages of the four steps of a secure sum."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import cast

from flwr.app import ConfigRecord, MessageType, RecordDict

from veilmap.errors import shown
from veilmap.flower.exchange import fingerprint
from veilmap.flower.node import Request
from veilmap.flower.secure.round_error import RoundError
from veilmap.flower.secure.rows import pack, unpack

STEPS = ("advertise", "share", "mask", "unmask")
ADVERTISE, SHARE, MASK, UNMASK = (f"{MessageType.TRAIN}.{step}" for step in STEPS)
# A separate record, since the mask step also carries a request.
SECURE = "secure"
ROWS, THRESHOLD, MASKED = "rows", "threshold", "masked"


def rows_record(rows: Mapping[int, bytes], threshold: int = 0) -> RecordDict:
    """One value per node; with the threshold in the step that announces it."""
    return RecordDict({SECURE: ConfigRecord({ROWS: pack(rows), THRESHOLD: threshold})})


def rows_of(content: RecordDict) -> dict[int, bytes]:
    """What ``rows_record`` packed."""
    try:
        return unpack(cast(Iterable[bytes], content.config_records[SECURE][ROWS]))
    except (KeyError, TypeError) as error:
        raise RoundError(f"a message of a secure sum was cut short ({shown(error)})") from None


def threshold_of(content: RecordDict) -> int:
    """The threshold that the server demands."""
    try:
        return int(cast(int, content.config_records[SECURE][THRESHOLD]))
    except (KeyError, TypeError, ValueError) as error:
        raise RoundError(f"a message of a secure sum has no threshold ({shown(error)})") from None


def names_round(request: Request) -> bytes:
    """The campaign, the round and its state, to which server and nodes bind all keys."""
    digest = hashlib.sha256(f"{request.campaign.text}, round {request.t}".encode())
    digest.update(fingerprint(request.state))
    return digest.digest()
