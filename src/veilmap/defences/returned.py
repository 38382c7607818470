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
    after, figures = _pair(step, "on_points", "(LocalData, figures)", returned)
    if not isinstance(after, LocalData):
        raise _wrong(step, "on_points", "(LocalData, figures)", returned)
    if moves(step) == "nothing" and not np.isin(_complex(after), _complex(before)).all():
        raise UserError(
            f"defence {step.name} declares that it moves nothing, and on_points returned a "
            "position that it was not given; declare moves = 'by rule' or 'at random'"
        )
    return after, figures


def returned_update(step: Step, before: Floats, returned: Any) -> tuple[Floats, Figures]:
    """Of ``on_update``, in the precision of the update."""
    demand = f"(an array of shape {before.shape}, figures)"
    after, figures = _pair(step, "on_update", demand, returned)
    if not isinstance(after, np.ndarray) or after.shape != before.shape:
        raise _wrong(step, "on_update", demand, returned)
    return after.astype(before.dtype, copy=False), figures


def returned_lesson(step: Step, returned: Any) -> tuple[PointStep, Figures]:
    """Of ``learn``."""
    demand = "(a step with on_points, figures)"
    acting, figures = _pair(step, "learn", demand, returned)
    if not hasattr(acting, "on_points"):
        raise _wrong(step, "learn", demand, returned)
    return acting, figures


def _pair(step: Step, method: str, demand: str, returned: Any) -> tuple[Any, Figures]:
    match returned:
        case (result, Mapping() as figures) if all(map(_is_figure, figures.items())):
            return result, figures
    raise _wrong(step, method, demand, returned)


def _is_figure(item: tuple[Any, Any]) -> bool:
    name, value = item
    return isinstance(name, str) and isinstance(value, int | float | np.number)


def _wrong(step: Step, method: str, demand: str, returned: Any) -> UserError:
    return UserError(
        f"{method} of defence {step.name} must return {demand}, with figures as numbers by name, "
        f"got {shown(returned)}; fix it there"
    )


def _complex(data: LocalData) -> Any:
    """Positions as single numbers."""
    return data.xy_m[:, 0] + 1j * data.xy_m[:, 1]
