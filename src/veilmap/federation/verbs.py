"""The verbs of a map family, called: their input cannot be changed, their result is checked."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veilmap.errors import UserError, shown
from veilmap.federation.map_family import (
    Arrays,
    Footing,
    MapFamily,
    Prediction,
    PredictsSignal,
    Sent,
)
from veilmap.federation.plan import Plan
from veilmap.foreign_arrays import is_real, read_only_for
from veilmap.local_data import LocalData


def start(plan: Plan) -> Arrays:
    """The server's first state."""
    return _state(plan.map, "start", plan.map.start(plan))


def answer(plan: Plan, state: Arrays, batch: LocalData, user: str, t: int) -> Arrays:
    """A phone's message of round t."""
    state, batch = read_only_for(plan.map, state), read_only_for(plan.map, batch)
    return _arrays(plan.map, "answer", plan.map.answer(plan, state, batch, user, t))


def combine(plan: Plan, state: Arrays, messages: Iterable[Sent], senders: int) -> Arrays:
    """The next state; an error if a message was left, for it would have no part in the map."""
    family = plan.map
    given = (read_only_for(family, sent) for sent in messages)
    after = family.combine(plan, read_only_for(family, state), given, senders)
    if (left := next(given, None)) is not None:
        raise UserError(
            f"combine of map {family.name} must take all messages, and left that of user "
            f"{shown(left.user)}; go through them to the end: for sent in messages"
        )
    return _state(family, "combine", after)


def predict(
    family: MapFamily, footing: Footing, state: Arrays, xy_m: NDArray[np.float64]
) -> Prediction:
    """The map at positions in metres."""
    state, xy_m = read_only_for(family, state), read_only_for(family, xy_m)
    return _prediction(family, len(xy_m), family.predict(footing, state, xy_m))


def signal_dbm(
    family: MapFamily, footing: Footing, state: Arrays, xy_m: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The map without its uncertainty, which some families give at a fraction of the time."""
    if not isinstance(family, PredictsSignal):
        return predict(family, footing, state, xy_m).rsrp_dbm
    found = Prediction(family.signal_dbm(footing, read_only_for(family, state), xy_m))
    return _prediction(family, len(xy_m), found).rsrp_dbm


def _state(family: MapFamily, verb: str, returned: Any) -> Arrays:
    arrays = _arrays(family, verb, returned)
    for name, value in arrays.items():
        if not np.isfinite(value).all():
            demand = "finite numbers, such as 0 where nothing was measured"
            raise _wrong(family, verb, demand, f"others in the array {name}")
    return arrays


def _arrays(family: MapFamily, verb: str, returned: Any) -> Arrays:
    if not isinstance(returned, Mapping):
        raise _wrong(family, verb, "arrays by name", shown(returned))
    for name, value in returned.items():
        if not (isinstance(name, str) and isinstance(value, np.ndarray)):
            raise _wrong(family, verb, "arrays by name", f"{shown(value)} as {shown(name)}")
        if not is_real(value):
            raise _wrong(family, verb, "real numbers", f"{value.dtype} in the array {name}")
    if verb == "answer" and not returned:
        raise _wrong(family, verb, "one array at least", "none")
    # In the order in which files hold them.
    return {name: np.asarray(value, order="C") for name, value in returned.items()}


def _prediction(family: MapFamily, places: int, returned: Any) -> Prediction:
    if not isinstance(returned, Prediction):
        raise _wrong(family, "predict", "a Prediction", shown(returned))
    for name, value in vars(returned).items():
        if name != "rsrp_dbm" and value is None:
            continue
        if not is_real(value):
            raise _wrong(family, "predict", f"an array of real numbers as {name}", shown(value))
        if value.shape != (places,):
            demand = f"{name} of shape {(places,)} for {places:,} places"
            raise _wrong(family, "predict", demand, f"shape {value.shape}")
    return returned


def _wrong(family: MapFamily, verb: str, demand: str, got: str) -> UserError:
    return UserError(f"{verb} of map {family.name} must return {demand}, got {got}; fix it there")
