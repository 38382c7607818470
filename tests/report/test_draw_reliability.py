import numpy as np
import pytest

from veilmap.canvas import png
from veilmap.report.draw_reliability import draw_reliability
from veilmap.shadows.calibration import Calibration, Reliability

CURVE = tuple(
    Reliability(within_m, said, held, 10)
    for within_m in (50.0, 100.0, 200.0)
    for said, held in ((0.2, 0.1), (0.8, 0.9))
)
CHECKED = Calibration(20, (0.5, 0.6, 0.7), (0.5, 0.6, 0.7), CURVE, (0.05,) * 15 + (0.95,) * 5, 0.03)


def test_every_radius_has_a_line_from_the_least_sure_guesses_to_the_surest():
    curve, _ = draw_reliability(CHECKED).axes
    ideal, *lines = curve.lines
    assert ideal.get_xydata().tolist() == [[0, 0], [1, 1]]
    assert [line.get_xydata().tolist() for line in lines] == [[[0.2, 0.1], [0.8, 0.9]]] * 3
    assert [line.get_label() for line in lines] == ["within 50 m", "within 100 m", "within 200 m"]


def test_ranks_are_counted_beside_what_uniform_ones_would_be():
    """15 in the first of eight bins, 5 in the last; of 20 uniform ones 2.5 in each."""
    figure = draw_reliability(CHECKED)
    _, ranks = figure.axes
    assert [bar.get_height() for bar in ranks.containers[0]] == [15, 0, 0, 0, 0, 0, 0, 5]
    assert ranks.lines[0].get_ydata()[0] == pytest.approx(2.5)
    assert ranks.get_title() == "rank of home, uniform with p = 0.03"
    assert "20 people set aside" in figure.get_suptitle()
    assert png(figure).startswith(b"\x89PNG")
    assert np.isfinite(ranks.get_ylim()).all()
