"""The pictures of an attack, one PNG each."""

import re
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

_ODD = re.compile(r"[^\w.=]+")  # what a file name should not have


def attack_pictures(run: AttackRun) -> dict[str, bytes]:
    """The possible pictures of these attacks, by file name."""
    return {name: png(figure) for name, figure in _pictures(run)}


def _pictures(run: AttackRun) -> Iterator[tuple[str, Figure]]:
    found = run.found
    who = run.target if run.target == SUM else f"user {run.target}"
    title = f"Where the server places {who} ({run.configuration})"
    yield "whereabouts.png", draw_whereabouts(found, run.truth, run.area, title)
    yield "rounds.png", draw_rounds(found, run.truth, run.norms, f"{who}, round by round")
    with_path = [each for every in found.values() for each in every if each.path_m is not None]
    if with_path:
        each = _densest(with_path)
        title = f"The path of one attack ({run.configuration})"
        yield "path.png", draw_path(each, _truth(run, each), run.area, title)
    clouds = {name: [one for one in every if _is_cloud(one)] for name, every in found.items()}
    drawn = {name: _densest(every) for name, every in clouds.items() if every}
    for name, each in drawn.items():
        truth, cloud = _truth(run, each), each.cloud
        apart_m = None if truth is None else emd_m(truth.xy_m, cloud.xy_m, None, cloud.weights)
        by, end = ("", "") if name == "heatmap" else (f" by {name}", f"-{_ODD.sub('-', name)}")
        title = f"The heat map of one update{by} ({run.configuration})"
        yield f"heatmap{end}.png", draw_heatmap(each, truth, run.area, title, apart_m)


def _is_cloud(each: Reconstruction) -> bool:
    """Whether several places were found, with a weight for each."""
    return len(each.cloud.xy_m) > 1 and bool(np.isfinite(each.cloud.xy_m).all())


def _densest(found: Sequence[Reconstruction]) -> Reconstruction:
    return max(found, key=lambda each: each.n)


def _truth(run: AttackRun, each: Reconstruction) -> LocalData | None:
    return None if run.truth is None else run.truth[each.round]
