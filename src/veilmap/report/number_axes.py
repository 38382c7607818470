"""Axes with ticks at the figures and plainly written numbers."""

from collections.abc import Sequence
from math import floor, log10
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

from veilmap.canvas import as_written
from veilmap.report.sheet import TICK, text_width, wrapped

_PER_TICK = 0.33  # inches that a number needs
_SLANTED = 1.2  # inches of a slanted name on two lines
_PER_SLANTED = 0.45  # and from one to the next
_STEPS = (1, 2, 2.5, 5, 10)  # from tick to tick


def figure_axis(axis: Axis, *, log: bool) -> None:
    """Set up the axis of a measured figure."""
    if log:
        _set_log(axis)
    else:
        axis.set_major_locator(MaxNLocator(6, steps=_STEPS, min_n_ticks=3))
        _widen(axis)
    _write_numbers(axis)


def count_axis(axis: Axis, values: Sequence[float | str], wide: float, *, log: bool) -> None:
    """Set up the axis of a setting, with a tick at each value if ``wide`` inches are enough."""
    places = np.unique(np.asarray(values, np.float64))
    if log:
        _set_log(axis)
    span = np.log10(places) if log else places
    steps = np.diff(span) / max(np.ptp(span), 1e-300)
    if len(places) * _PER_TICK <= wide and steps.min(initial=1.0) * wide >= _PER_TICK:
        axis.set_major_locator(FixedLocator(places.tolist()))
        axis.set_minor_locator(NullLocator())
    elif not log:
        integer = bool((places == np.round(places)).all())
        axis.set_major_locator(MaxNLocator(6, steps=_STEPS, integer=integer, min_n_ticks=1))
    _write_numbers(axis)


def name_axis(axes: Axes, names: Sequence[str], wide: float) -> None:
    """Names along x, wrapped or, where that is not enough, slanted."""
    slot = wide / len(names)
    short = [wrapped(name, 0.95 * slot, TICK) for name in names]
    fits = all(text_width(name, TICK) <= slot for name in short)
    if not fits:
        short = [wrapped(name, _SLANTED, TICK) if slot >= _PER_SLANTED else name for name in names]
    slanted: dict[str, Any] = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"}
    axes.set_xticks(
        range(len(names)), [as_written(name) for name in short], **({} if fits else slanted)
    )
    axes.set_xlim(-0.4, len(names) - 0.6)


def number_text(value: float, *, as_power: bool) -> str:
    """``0.05`` and ``1,000``, or powers of ten if there are many zeros."""
    if value == 0 or not as_power:
        return f"{value:,.6g}".replace("-", "−")
    power = floor(log10(abs(value)))
    digits = f"{value / 10.0**power:.3g}"
    head = {"1": "", "-1": "-"}.get(digits, rf"{digits}\cdot")
    return f"${head}10^{{{power}}}$"


def _widen(axis: Axis) -> None:
    """Widen the axis of equal figures, which would otherwise show tiny steps around them."""
    low, high = axis.get_data_interval()
    if low == high:
        room = max(abs(high), 1.0)
        axis.axes.set(**{f"{axis.axis_name}lim": (low - 0.06 * room, high + room)})  # type: ignore[attr-defined]


def _write_numbers(axis: Axis) -> None:
    """Format all numbers of one axis in the same way."""
    sizes = np.abs(axis.get_data_interval())
    sizes = sizes[sizes > 0]
    tiny = sizes < 1e-3
    are_tiny = tiny.any() if axis.get_scale() == "log" else tiny.all()
    extreme = bool((sizes >= 1e6).any() or are_tiny)
    axis.set_major_formatter(FuncFormatter(lambda value, _: number_text(value, as_power=extreme)))


def _set_log(axis: Axis) -> None:
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})  # type: ignore[attr-defined]
    low, high = axis.get_data_interval()
    # Fewer than three decades have too few powers of ten to read a value off.
    few = high < 1000 * low
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,)))
    if not few:
        axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())
