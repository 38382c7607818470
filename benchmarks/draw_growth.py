"""The picture of ``growth.py``: time and memory over measurements, users and rounds.

python benchmarks/draw_growth.py bench.json --plot docs/images/growth.png
"""

import argparse
import json
from pathlib import Path

from growth import STAGES

from veilmap.canvas import png
from veilmap.report.draw_lines import Line, LinePanel, draw_lines

GROWING = ("measurements", "users", "rounds")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("figures", type=Path, help="the JSON of run.py, or of growth.py")
    parser.add_argument("--plot", type=Path, required=True, help="a PNG file to write")
    options = parser.parse_args()
    content = json.loads(options.figures.read_text())
    figures = content["figures"]["growth"] if "figures" in content else content
    panels = [panel(name, figures[name]["points"]) for panel in (_time, _peak) for name in GROWING]
    drawn = draw_lines(panels, "One process: read, prepare, train, attack one user")
    options.plot.write_bytes(png(drawn))


def _time(name: str, points: list[dict]) -> LinePanel:
    """Seconds of each stage, and a line on which twice as much takes twice as long."""
    x = tuple(point[name] for point in points)
    lines = [
        Line(stage, x, tuple((point["stages"][stage]["seconds"],) for point in points))
        for stage in STAGES
    ]
    most = max(point["stages"][stage]["seconds"] for point in points[-1:] for stage in STAGES)
    ends = (x[-1] / 10, x[-1])
    linear = Line("linear", ends, ((2 * most / 10,), (2 * most,)))
    return LinePanel(f"over {name}", name, "seconds", (*lines, linear), log_x=True, log_y=True)


def _peak(name: str, points: list[dict]) -> LinePanel:
    x = tuple(point[name] for point in points)
    line = Line("peak memory", x, tuple((point["peak_mb"] / 1e3,) for point in points))
    return LinePanel("", name, "peak memory, GB", (line,), log_x=True, log_y=True)


if __name__ == "__main__":
    main()
