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
        case (np.ndarray(shape=before.shape) as after, figures) if _are_figures(figures):
            return after.astype(before.dtype, copy=False), figures
    raise _wrong(step, "on_update", f"(an array of shape {before.shape}, figures)", returned)


def returned_lesson(step: Step, returned: Any) -> tuple[PointStep, Figures]:
    """Of ``learn``."""
    match returned:
        case (acting, figures) if hasattr(acting, "on_points") and _are_figures(figures):
            return acting, figures
    raise _wrong(step, "learn", "(a step with on_points, figures)", returned)


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
