"""The picture of ``growth.py``: time and memory over measurements, users and rounds.

python benchmarks/draw_growth.py bench.json --plot docs/images/growth.png
"""

import argparse
import json
from pathlib import Path

from growth import STAGES
from matplotlib.axes import Axes

from veilmap.canvas import png
from veilmap.report.draw_lines import Line, LinePanel, draw_lines
from veilmap.report.sheet import LABEL

GROWING = ("measurements", "users", "rounds")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("figures", type=Path, help="the JSON of run.py, or of growth.py")
    parser.add_argument("--plot", type=Path, required=True, help="a PNG file to write")
    options = parser.parse_args()
    content = json.loads(options.figures.read_text())
    figures = content["figures"]["growth"] if "figures" in content else content
    points = {name: figures[name]["points"] for name in GROWING}
    panels = [panel(name, points[name]) for panel in (_time, _peak) for name in GROWING]
    drawn = draw_lines(panels, "One process: read, prepare, train, attack one user")
    times, peaks = drawn.axes[: len(GROWING)], drawn.axes[len(GROWING) :]
    for axes, name in zip(times, GROWING, strict=True):
        _draw_linear(axes, points[name][-1], name)
    most_gb = max(point["peak_mb"] for each in points.values() for point in each) / 1e3
    for axes in peaks:
        axes.set_ylim(0, 1.05 * most_gb)
    options.plot.write_bytes(png(drawn))


def _time(name: str, points: list[dict]) -> LinePanel:
    """Seconds of each stage."""
    x = tuple(point[name] for point in points)
    lines = (
        Line(stage, x, tuple((point["stages"][stage]["seconds"],) for point in points))
        for stage in STAGES
    )
    return LinePanel(f"over {name}", name, "seconds", tuple(lines), log_x=True, log_y=True)


def _peak(name: str, points: list[dict]) -> LinePanel:
    x = tuple(point[name] for point in points)
    line = Line("peak memory", x, tuple((point["peak_mb"] / 1e3,) for point in points))
    return LinePanel("", name, "peak memory, GB", (line,), log_x=True)


def _draw_linear(axes: Axes, last: dict, name: str) -> None:
    """Over the last decade, above the slowest stage: where ten times as much takes ten times."""
    most_s = 2.5 * max(last["stages"][stage]["seconds"] for stage in STAGES)
    axes.plot([last[name] / 10, last[name]], [most_s / 10, most_s], "--", color="0.4", linewidth=1)
    axes.annotate(
        "linear", (last[name] / 10, most_s / 10), (-3, 3), textcoords="offset points",
        ha="right", color="0.4", fontsize=LABEL,
    )  # fmt: skip


if __name__ == "__main__":
    main()
