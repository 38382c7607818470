"""How the four steps of a secure sum travel: rows of a node's number and what belongs to it."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import cast

from flwr.app import ConfigRecord, MessageType, RecordDict

from veilmap.flower.campaign import Campaign
from veilmap.flower.secure.keys import KEY_BYTES, PublicKeys
from veilmap.flower.secure.round_error import RoundError

ADVERTISE, SHARE, MASK, UNMASK = (
    f"{MessageType.TRAIN}.{step}" for step in ("advertise", "share", "mask", "unmask")
)
# A record of their own: the mask step also carries a request, under CONFIG.
SECURE = "secure"
ROWS, THRESHOLD, MASKED = "rows", "threshold", "masked"
_ID_BYTES = 8


def rows_record(rows: Mapping[int, bytes], threshold: int = 0) -> RecordDict:
    """One value per node; the threshold where it is first told."""
    packed = [node.to_bytes(_ID_BYTES) + value for node, value in sorted(rows.items())]
    return RecordDict({SECURE: ConfigRecord({ROWS: packed, THRESHOLD: threshold})})


def rows_of(content: RecordDict) -> dict[int, bytes]:
    """What ``rows_record`` packed."""
    try:
        rows = cast(Iterable[bytes], content.config_records[SECURE][ROWS])
        return {int.from_bytes(row[:_ID_BYTES]): bytes(row[_ID_BYTES:]) for row in rows}
    except (KeyError, TypeError) as error:
        raise RoundError(f"a message of a secure sum was cut short ({error!r})") from None


def threshold_of(content: RecordDict) -> int:
    """How many nodes the server demands to the end."""
    return int(cast(int, content.config_records[SECURE][THRESHOLD]))


def names_round(campaign: Campaign, t: int) -> bytes:
    """The campaign and the round, to which server and nodes bind all keys."""
    return hashlib.sha256(f"{campaign.text}, round {t}".encode()).digest()


def keys_row(keys: PublicKeys) -> bytes:
    """A node's two public keys."""
    return keys.sealing + keys.masking


def keys_of(row: bytes) -> PublicKeys:
    """What ``keys_row`` packed."""
    return PublicKeys(row[:KEY_BYTES], row[KEY_BYTES:])
