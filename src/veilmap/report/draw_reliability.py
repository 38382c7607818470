"""Whether a trained attacker's maps of home mean what they say."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter
from scipy.stats import binom

from veilmap.canvas import fitted_sheet
from veilmap.shadows.calibration import Calibration

_SIZE = (9.0, 4.4)
_LOOKS = (("#0072b2", "o"), ("#e69f00", "s"), ("#009e73", "^"))
_IDEAL, _BAND = "#555555", "#dddddd"
_BINS = 8
_LEVEL = 0.95


def draw_reliability(checked: Calibration) -> Figure:
    """How often guesses held beside what was promised, and where homes rank in the maps."""
    figure = fitted_sheet(_SIZE)
    curve, ranks = figure.subplots(1, 2)
    _draw_curve(curve, checked)
    _draw_ranks(ranks, checked)
    people = f"{checked.people} people"
    figure.suptitle(f"The trained attacker's maps of home, {people} set aside", fontsize=11)
    return figure


def _draw_curve(axes: Axes, checked: Calibration) -> None:
    axes.plot([0, 1], [0, 1], color=_IDEAL, linewidth=1, linestyle="--", label="calibrated")
    radii_m = sorted({each.within_m for each in checked.curve})
    for within_m, (colour, marker) in zip(radii_m, _LOOKS, strict=True):
        points = [each for each in checked.curve if each.within_m == within_m]
        said, held = [each.said for each in points], [each.held for each in points]
        label = f"within {within_m:g} m"
        axes.plot(said, held, color=colour, marker=marker, markersize=5, linewidth=1.2, label=label)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="chance promised", aspect="equal")
    axes.set_ylabel("share of homes found there")
    axes.xaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
    axes.yaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
    axes.set_title("reliability", fontsize=9)
    axes.legend(fontsize=8, frameon=False, loc="upper left")


def _draw_ranks(axes: Axes, checked: Calibration) -> None:
    """Between the bounds that hold 95 % of the counts of uniform ranks."""
    low, high = binom.interval(_LEVEL, checked.people, 1 / _BINS)
    axes.axhspan(
        low, high, color=_BAND, linewidth=0, label=f"{100 * _LEVEL:.0f} % of counts if calibrated"
    )
    axes.axhline(checked.people / _BINS, color=_IDEAL, linewidth=1, linestyle="--")
    edges = np.linspace(0, 1, _BINS + 1)
    counts, _ = np.histogram(checked.ranks, edges)
    axes.bar(edges[:-1], counts, 1 / _BINS, align="edge", color="#56b4e9", edgecolor="white")
    axes.set(xlim=(0, 1), xlabel="share of the map that is likelier than home")
    axes.set_ylabel("people")
    axes.set_ylim(0, 1.25 * max(high, counts.max()))  # room for the legend
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.xaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
    uniform = f"uniform with p = {checked.rank_p:.2f}"
    axes.set_title(f"rank of home, {uniform}", fontsize=9)
    axes.legend(fontsize=8, frameon=False)
