from dataclasses import replace

import numpy as np

from tests.report.page.making import make_content
from veilmap.report.page.content import Track
from veilmap.report.page.page import write_page

POINTS = 170_000
TWO_FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def test_170_000_points_are_ready_in_2_s_and_step_at_once(tmp_path, open_file):
    """Best of three, because other work may hold the machine up."""
    write_page(large_content(), tmp_path / "large.html")
    ready_ms, step_ms = zip(
        *(times_ms(open_file(tmp_path / "large.html")) for _ in range(3)), strict=True
    )
    assert min(ready_ms) < 2_000
    assert min(step_ms) < 250


def times_ms(opened):
    ready_ms = opened.page.evaluate("performance.now()")
    step_ms = opened.page.evaluate(
        f"""(async () => {{
          const slider = document.getElementById("round");
          const start = performance.now();
          slider.value = 2;
          slider.dispatchEvent(new Event("input"));
          await {TWO_FRAMES};
          return performance.now() - start;
        }})()"""
    )
    return ready_ms, step_ms


def large_content():
    content = make_content(rounds=11, points=POINTS, cells=200)
    draw = np.random.default_rng(1)
    (target,) = content.targets
    spread = content.ground.truth[target]
    everywhere = Track(
        spread.lat_deg + draw.normal(0, 0.004, POINTS),
        spread.lon_deg + draw.normal(0, 0.004, POINTS),
        spread.rounds,
    )
    return replace(content, ground=replace(content.ground, truth={target: everywhere}))
