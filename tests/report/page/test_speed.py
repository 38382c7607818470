from dataclasses import replace

import numpy as np

from tests.report.page.making import make_content
from veilmap.report.page.content import Track
from veilmap.report.page.page import write_page

POINTS = 170_000
# Counts what the page draws from here on: an element or a stroke for each point would be too much.
COUNT = """() => {
  window.drawn = 0;
  const kind = CanvasRenderingContext2D.prototype;
  for (const name of ["arc", "rect", "fill", "fillRect", "stroke", "drawImage", "putImageData"]) {
    const draw = kind[name];
    kind[name] = function (...given) { window.drawn += 1; return draw.apply(this, given); };
  }
}"""
STEP = """() => {
  const slider = document.getElementById("round");
  slider.value = 2;
  slider.dispatchEvent(new Event("input"));
}"""


def test_170_000_points_are_few_elements_and_a_step_draws_them_in_a_few_calls(tmp_path, open_file):
    write_page(large_content(), tmp_path / "large.html")
    opened = open_file(tmp_path / "large.html")
    opened.page.evaluate(COUNT)
    opened.page.evaluate(STEP)
    opened.settle()
    assert opened.page.evaluate("document.querySelectorAll('*').length") < 5000
    assert 0 < opened.page.evaluate("window.drawn") < 500


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
