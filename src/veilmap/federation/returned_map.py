"""What a verb of a map family returned, held to what the verb returns."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from veilmap.errors import UserError, shown
from veilmap.federation.map_family import Arrays, MapFamily, Prediction, Sent


def returned_arrays(family: MapFamily, verb: str, returned: Any) -> Arrays:
    """Of ``start``, ``answer`` and ``combine``."""
    if not isinstance(returned, Mapping):
        raise _wrong(family, verb, "arrays by name", shown(returned))
    for name, value in returned.items():
        if not (isinstance(name, str) and isinstance(value, np.ndarray)):
            raise _wrong(family, verb, "arrays by name", f"{shown(value)} as {shown(name)}")
        if not _is_real(value):
            raise _wrong(family, verb, "real numbers", f"{value.dtype} in the array {name}")
    if verb == "answer" and not returned:
        raise _wrong(family, verb, "one array at least", "none")
    return returned


def returned_prediction(family: MapFamily, places: int, returned: Any) -> Prediction:
    """Of ``predict`` at so many places."""
    if not isinstance(returned, Prediction):
        raise _wrong(family, "predict", "a Prediction", shown(returned))
    for name, value in (("rsrp_dbm", returned.rsrp_dbm), ("std_db", returned.std_db)):
        if name == "std_db" and value is None:
            continue
        if not isinstance(value, np.ndarray) or not _is_real(value):
            raise _wrong(family, "predict", f"an array of real numbers as {name}", shown(value))
        if value.shape != (places,):
            demand = f"{name} of shape {(places,)} for {places:,} places"
            raise _wrong(family, "predict", demand, f"shape {value.shape}")
    return returned


def refuse_left_over(family: MapFamily, messages: Iterator[Sent]) -> None:
    """What ``combine`` did not take has no part in the map, and nothing else would say so."""
    if (left := next(messages, None)) is not None:
        raise UserError(
            f"combine of map {family.name} must take all messages, and left that of user "
            f"{shown(left.user)}; go through them to the end: for sent in messages"
        )


def _is_real(array: Any) -> bool:
    return array.dtype.kind in "iuf"


def _wrong(family: MapFamily, verb: str, demand: str, got: str) -> UserError:
    return UserError(f"{verb} of map {family.name} must return {demand}, got {got}; fix it there")
