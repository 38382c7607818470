"""The skill of the federated maps after every round, between the constant and the best."""

from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from veilmap.canvas import as_written
from veilmap.map_quality.narrative import called
from veilmap.map_quality.rows import CurvePoint, QualityRow
from veilmap.map_quality.summary import Summary, best_of, summarise
from veilmap.report.sheet import LABEL, TICK

_LOWEST = -0.5  # a map that has not learned the mean is far below
_REFERENCE = "0.35"


def draw_curve(
    axes: Axes,
    rows: Sequence[QualityRow],
    curve: Sequence[CurvePoint],
    colours: Mapping[str, str],
) -> None:
    """A line is the mean over the seeds, its band reaches from the least to the most.

    There is no legend: the names of the maps beside it have the colours of the lines.
    """
    summaries = summarise(rows)
    best = best_of(summaries, "central")
    drawn = [0.0]
    for summary in summaries:
        if summary.kind == "federated":
            drawn += _line(axes, summary, curve, colours[summary.predictor])
    axes.axhline(0, color=_REFERENCE, linewidth=0.8, linestyle="--")
    # At the left below its line, where curves seldom are.
    _label(axes, "- - constant", (0, 0), (2, -2), ("axes fraction", "data"))
    if best is not None and (skill := best.mean("skill_by_place") or 0) > 0:
        drawn.append(skill)
        axes.axhline(skill, color=_REFERENCE, linewidth=0.8)
        # Above all curves, which come near its line at the right.
        text = f"— best centralised: {called(best)}"
        _label(axes, text, (1, 1), (-2, -1), ("axes fraction", "axes fraction"))
    low, high = max(min(drawn), _LOWEST), max(drawn)
    room = 0.12 * max(high - low, 0.2)
    axes.set_ylim(low - room, high + 2 * room)
    axes.set_xlabel("round", fontsize=LABEL)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.tick_params(labelsize=TICK, color="0.7")
    axes.spines[["top", "right"]].set_visible(False)


def _line(axes: Axes, summary: Summary, curve: Sequence[CurvePoint], colour: str) -> list[float]:
    """Draws it; the skills drawn."""
    by_round: dict[int, list[float]] = {}
    for point in curve:
        skill = point.trained.skill_by_place
        if point.predictor == summary.predictor and skill is not None:
            by_round.setdefault(point.trained.round, []).append(skill)
    if not by_round:
        return []
    rounds = sorted(by_round)
    means = [fmean(by_round[each]) for each in rounds]
    mark = "o" if len(rounds) < 20 else ""
    name = as_written(called(summary))
    axes.plot(rounds, means, color=colour, linewidth=1.5, marker=mark, markersize=3, label=name)
    least, most = (np.array([end(by_round[each]) for each in rounds]) for end in (min, max))
    axes.fill_between(rounds, least, most, color=colour, alpha=0.2, linewidth=0)
    return means


def _label(
    axes: Axes,
    text: str,
    place: tuple[float, float],
    offset: tuple[float, float],
    coordinates: tuple[str, str],
) -> None:
    axes.annotate(
        text, place, offset, xycoords=coordinates, textcoords="offset points",
        ha="right" if place[0] else "left", va="top", fontsize=TICK, color=_REFERENCE,
    )  # fmt: skip
