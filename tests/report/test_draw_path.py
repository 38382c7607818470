import numpy as np
import pytest

from tests.report.fakes import AREA, NOWHERE, drawn_as_written, found, points
from veilmap.canvas import png
from veilmap.errors import UserError
from veilmap.report.draw_path import draw_path

PATH_M = np.array([[100.0, 100.0], [300.0, 500.0], [400.0, 500.0], [403.0, 504.0]])
TRUTH = points((390, 500), (410, 500))
ATTACK = found(3, PATH_M[-1], path_m=PATH_M)


def test_the_path_is_coloured_by_iteration_on_a_log_scale():
    axes, colour_bar = draw_path(ATTACK, TRUTH, AREA, "t").axes
    (lines,) = axes.collections
    assert lines.get_array().tolist() == [1, 2, 3]
    np.testing.assert_allclose(lines.get_segments()[0], PATH_M[:2] / 1000)
    assert colour_bar.get_yscale() == "log"
    assert colour_bar.get_ylabel() == "iteration (log scale)"


def test_the_title_says_how_far_the_end_is_from_the_centroid():
    """From (403, 504) to the centroid (400, 500) it is 5 m."""
    figure = draw_path(ATTACK, TRUTH, AREA, "DLG")
    assert figure.get_suptitle() == "DLG\nround 3, user u: 5 m from the centroid after 7 iterations"
    unknown = draw_path(ATTACK, None, AREA, "DLG").get_suptitle()
    assert unknown == "DLG\nround 3, user u: ended after 7 iterations"
    lost = draw_path(found(3, NOWHERE, path_m=PATH_M), TRUTH, AREA, "DLG").get_suptitle()
    assert lost == "DLG\nround 3, user u: no location after 7 iterations"


def test_the_view_fits_path_and_points_with_equal_scales():
    far = points((5000, 100), (5200, 100))
    axes = draw_path(ATTACK, far, AREA, "t").axes[0]
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    assert left < 0.1 < 5.2 < right
    assert bottom < 0.1 < 0.504 < top
    assert axes.get_aspect() == 1.0
    assert axes.get_xlabel() == "km east of the area's corner"


def test_start_and_end_are_marked_where_they_are():
    figure = draw_path(ATTACK, TRUTH, AREA, "t")
    marks = {line.get_label(): line.get_xydata().tolist() for line in figure.axes[0].lines}
    assert marks["start"] == [[0.1, 0.1]]
    np.testing.assert_allclose(marks["end"], [[0.403, 0.504]])
    (legend,) = figure.legends
    assert {text.get_text() for text in legend.get_texts()} >= {"start", "end", "true points"}


@pytest.mark.parametrize(
    "path_m",
    [PATH_M[:1], PATH_M[:2], np.repeat(PATH_M[:1], 50, axis=0), 1e12 * PATH_M,
     np.vstack([PATH_M, [NOWHERE, (np.inf, 0.0)]])],
    ids=["one place", "one step", "at rest", "far", "not finite at the end"],
)  # fmt: skip
@pytest.mark.parametrize("truth", [None, TRUTH, points()], ids=["-", "2", "empty"])
def test_every_path_gives_a_picture(path_m, truth):
    attack = found(3, path_m[-1], path_m=path_m)
    assert png(draw_path(attack, truth, AREA, "t")).startswith(b"\x89PNG")


def test_names_are_drawn_as_they_are_written():
    figure = draw_path(found(3, PATH_M[-1], path_m=PATH_M, user="$u_{$"), TRUTH, AREA, "$t$")
    png(figure)
    assert drawn_as_written(figure, "$u_{$")


def test_an_attack_without_a_path_is_refused():
    with pytest.raises(UserError, match="round 3 has no path to draw"):
        draw_path(found(3, (1.0, 1.0)), TRUTH, AREA, "t")
    with pytest.raises(UserError, match="no finite location, got 2"):
        draw_path(found(3, NOWHERE, path_m=np.full((2, 2), np.nan)), TRUTH, AREA, "t")
