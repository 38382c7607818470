"""What a step returned, held to what a step of its kind returns and to what it declares."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from veilmap.defences.declarations import moves
from veilmap.defences.step import Figures, PointStep, Step
from veilmap.errors import UserError, shown
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
        case (np.ndarray(shape=before.shape) as after, figures) if _is_real(after) and _are_figures(
            figures
        ):
            return after.astype(before.dtype, copy=False), figures
    raise _wrong(
        step, "on_update", f"(real numbers in an array of shape {before.shape}, figures)", returned
    )


def returned_lesson(step: Step, returned: Any) -> tuple[PointStep, Figures]:
    """Of ``learn``."""
    match returned:
        case (acting, figures) if hasattr(acting, "on_points") and _are_figures(figures):
            return acting, figures
    raise _wrong(step, "learn", "(a step with on_points, figures)", returned)


def _fault(points: LocalData) -> str | None:
    """What keeps the points from being trained on."""
    count = np.shape(points.rsrp_dbm)[:1] or (0,)
    for name, value in vars(points).items():
        shape = (*count, 2) if name == "xy_m" else count
        if not (isinstance(value, np.ndarray) and _is_real(value) and np.isfinite(value).all()):
            return f"{name} = {shown(value)}"
        if value.shape != shape:
            return f"{name} of shape {value.shape} for {count[0]:,} points"
    return None


def _is_real(array: Any) -> bool:
    return array.dtype.kind in "iuf"


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
