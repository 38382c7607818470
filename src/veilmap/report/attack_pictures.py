"""The pictures of an attack, one PNG each."""

from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.figure import Figure

from veilmap.attacks.reconstruction import Reconstruction
from veilmap.attacks.secure_sum import SUM
from veilmap.canvas import png
from veilmap.local_data import LocalData
from veilmap.metrics.transport import emd_m
from veilmap.report.draw_heatmap import draw_heatmap
from veilmap.report.draw_path import draw_path
from veilmap.report.draw_rounds import draw_rounds
from veilmap.report.draw_whereabouts import draw_whereabouts
from veilmap.study.attack_run import AttackRun


def attack_pictures(run: AttackRun) -> dict[str, bytes]:
    """The possible pictures of these attacks, by file name."""
    return {name: png(figure) for name, figure in _pictures(run)}


def _pictures(run: AttackRun) -> Iterator[tuple[str, Figure]]:
    found = run.found
    who = run.target if run.target == SUM else f"user {run.target}"
    title = f"Where the server places {who} ({run.configuration})"
    yield "whereabouts.png", draw_whereabouts(found, run.truth, run.area, title)
    yield "rounds.png", draw_rounds(found, run.truth, run.norms, f"{who}, round by round")
    walked = [each for every in found.values() for each in every if each.path_m is not None]
    if walked:
        each = _densest(walked)
        title = f"The way of one attack ({run.configuration})"
        yield "path.png", draw_path(each, _truth(run, each), run.area, title)
    mapped = [each for each in found.get("heatmap", ()) if np.isfinite(each.xy_m).all()]
    if mapped:
        each = _densest(mapped)
        truth, cloud = _truth(run, each), each.cloud
        apart_m = None if truth is None else emd_m(truth.xy_m, cloud.xy_m, None, cloud.weights)
        title = f"The heat map of one update ({run.configuration})"
        yield "heatmap.png", draw_heatmap(each, truth, run.area, title, apart_m)


def _densest(found: Sequence[Reconstruction]) -> Reconstruction:
    return max(found, key=lambda each: each.n)


def _truth(run: AttackRun, each: Reconstruction) -> LocalData | None:
    return None if run.truth is None else run.truth[each.round]
