"""What a step returned, held to what a step of its kind returns and to what it declares."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from veilmap.defences.declarations import moves
from veilmap.defences.step import Figures, PointStep, Spending, Step
from veilmap.errors import UserError, shown
from veilmap.foreign_arrays import is_real
from veilmap.local_data import LocalData
from veilmap.model.network import Floats


def returned_points(step: Step, before: LocalData, returned: Any) -> tuple[LocalData, Figures]:
    """Of ``on_points``."""
    match returned:
        case (LocalData() as after, figures) if _are_figures(figures):
            if fault := _fault(after):
                raise UserError(
                    f"on_points of defence {step.name} must return finite numbers in arrays, xy_m "
                    f"of shape (n, 2), rsrp_dbm and time_s of shape (n,), got {fault}; fix it there"
                )
            if moves(step) == "nothing" and not np.isin(_complex(after), _complex(before)).all():
                raise UserError(
                    f"defence {step.name} declares that it moves nothing, and on_points returned a "
                    "position that it was not given; declare moves = 'by rule' or 'at random'"
                )
            return after, figures
    raise _wrong(step, "on_points", "(LocalData, figures)", returned)


def returned_update(step: Step, before: Floats, returned: Any) -> tuple[Floats, Figures]:
    """Of ``on_update``, in the precision of the update."""
    match returned:
        case (np.ndarray(shape=before.shape) as sent, figures) if is_real(sent):
            if _are_figures(figures):
                return sent.astype(before.dtype, copy=False), figures
    demand = f"(real numbers in an array of shape {before.shape}, figures)"
    raise _wrong(step, "on_update", demand, returned)


def returned_lesson(step: Step, returned: Any) -> tuple[PointStep, Figures]:
    """Of ``learn``."""
    match returned:
        case (acting, figures) if hasattr(acting, "on_points") and _are_figures(figures):
            return acting, figures
    raise _wrong(step, "learn", "(a step with on_points, figures)", returned)


def returned_spent(step: Spending, returned: Any) -> Figures:
    """Of ``spent``, in numbers that JSON has."""
    if _are_figures(returned):
        numbers = returned.items()
        return {name: float(x) if isinstance(x, np.number) else x for name, x in numbers}
    raise UserError(
        f"spent of defence {type(step).__name__} must return numbers by name, got "
        f"{shown(returned)}; fix it there"
    )


def _fault(points: LocalData) -> str | None:
    """What keeps the points from being trained on."""
    count = np.shape(points.rsrp_dbm)[:1] or (0,)
    for name, value in vars(points).items():
        shape = (*count, 2) if name == "xy_m" else count
        if not (is_real(value) and np.isfinite(value).all()):
            return f"{name} = {shown(value)}"
        if value.shape != shape:
            return f"{name} of shape {value.shape} for {count[0]:,} points"
    return None


def _are_figures(given: Any) -> bool:
    return isinstance(given, Mapping) and all(
        isinstance(name, str) and isinstance(value, int | float | np.number)
        for name, value in given.items()
    )


def _wrong(step: Step, method: str, demand: str, returned: Any) -> UserError:
    return UserError(
        f"{method} of defence {step.name} must return {demand}, with figures as numbers by name, "
        f"got {shown(returned)}; fix it there"
    )


def _complex(data: LocalData) -> Any:
    """Positions as single numbers."""
    return data.xy_m[:, 0] + 1j * data.xy_m[:, 1]
