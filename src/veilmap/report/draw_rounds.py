"""Success of the attacks per round, and the norm of the gradient that they read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import cycle

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, StrMethodFormatter

from veilmap.attacks.reconstruction import Reconstruction
from veilmap.canvas import as_written, fitted_sheet
from veilmap.local_data import LocalData
from veilmap.report.looks import Look, attack_looks
from veilmap.report.sheet import MARKERS, say

_LAYER_COLOURS = ("#08306B", "#2171B5", "#6BAED6", "#BDD7E7")  # from dark to light

Results = Mapping[str, Sequence[Reconstruction]]  # by attack
ValueByRound = Mapping[int, float]  # by round


def draw_rounds(
    method_results: Results,
    truth: Mapping[int, LocalData] | None,
    norms: Mapping[int, Sequence[float]],
    title: str,
) -> Figure:
    """Cosine, distance from the centroid, and norm of the leaked gradient, over the rounds.

    ``truth`` is the user's data by round, None if it is not known; ``norms`` gives by round the
    norm of each layer's gradient. Several starts in one round count by their median.
    """
    figure = fitted_sheet((10.5, 8.0))
    cosine, distance, norm = figure.subplots(3, 1, sharex=True)
    looks = attack_looks(method_results)
    _draw_lines(cosine, _by_attack(method_results, lambda each: each.cosine), looks)
    cosine.set_ylabel("cosine of the leaked gradient\nand the one explained", fontsize=9)
    if truth:
        _draw_lines(distance, _distances_m(method_results, truth), looks)
    else:
        say(distance, "no truth given")
    distance.set_ylabel("distance from\nthe centroid in m", fontsize=9)
    by_layer = _by_layer(norms)
    _draw_lines(norm, by_layer, _layer_looks(by_layer))
    norm.set_ylabel("norm of the\nleaked gradient", fontsize=9)
    norm.set_xlabel("round", fontsize=9)
    norm.xaxis.set_major_locator(MaxNLocator(12, integer=True, min_n_ticks=1))
    for axes in (distance, norm):
        _scale(axes)
    figure.align_ylabels()
    figure.suptitle(as_written(title), fontsize=11)
    return figure


def _by_attack(
    method_results: Results, figure: Callable[[Reconstruction], float]
) -> dict[str, ValueByRound]:
    return {
        attack: _medians([(each.round, figure(each)) for each in results])
        for attack, results in method_results.items()
    }


def _distances_m(
    method_results: Results, truth: Mapping[int, LocalData]
) -> dict[str, ValueByRound]:
    known = {
        attack: [each for each in results if truth.get(each.round)]
        for attack, results in method_results.items()
    }
    return _by_attack(
        known, lambda each: float(np.linalg.norm(each.xy_m - truth[each.round].centroid_m))
    )


def _by_layer(norms: Mapping[int, Sequence[float]]) -> dict[str, ValueByRound]:
    layers = max((len(each) for each in norms.values()), default=0)
    return {
        f"layer {layer + 1}": _medians(
            [(number, each[layer]) for number, each in norms.items() if layer < len(each)]
        )
        for layer in range(layers)
    }


def _medians(values: Sequence[tuple[int, float]]) -> ValueByRound:
    """Rounds in order; NaN, which breaks the line, where an attack found nothing."""
    by_round: dict[int, list[float]] = {}
    for number, value in sorted(values):
        by_round.setdefault(number, []).extend([value] if np.isfinite(value) else [])
    return {number: float(np.median(each)) if each else np.nan for number, each in by_round.items()}


def _layer_looks(lines: Iterable[str]) -> dict[str, Look]:
    layers = zip(lines, cycle(_LAYER_COLOURS), cycle(MARKERS), strict=False)
    return {name: Look(colour, colour, marker) for name, colour, marker in layers}


def _draw_lines(axes: Axes, lines: Mapping[str, ValueByRound], looks: Mapping[str, Look]) -> None:
    for name, line in lines.items():
        axes.plot(
            list(line), list(line.values()), color=looks[name].colour, linewidth=1.4,
            marker=looks[name].marker, markersize=4.5, label=as_written(name),
        )  # fmt: skip
    if not np.isfinite([value for line in lines.values() for value in line.values()]).any():
        say(axes, "nothing to show")
    if lines:
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=9, frameon=False)
    axes.grid(axis="y", color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)


def _scale(axes: Axes) -> None:
    """Use a log scale if the values span more than a decade."""
    values = np.concatenate([np.empty(0), *(line.get_ydata() for line in axes.lines)])
    values = values[np.isfinite(values)]
    if not len(values):
        return
    if 0 < 10 * values.min() < values.max():
        axes.set_yscale("log")
        axes.set_ylabel(f"{axes.get_ylabel()} (log scale)")
        # Fewer than three decades have too few powers of ten to read a value off.
        digits = (1, 2, 5) if values.max() < 1000 * values.min() else (1,)
        axes.yaxis.set_major_locator(LogLocator(subs=digits))
        axes.yaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
