import numpy as np
import pytest

from tests.report.fakes import (
    AREA,
    CORNER_M,
    NOWHERE,
    drawn_as_written,
    found,
    grid_cloud,
    points,
    titles,
)
from veilmap.attacks.reconstruction import Cloud
from veilmap.canvas import png
from veilmap.report.draw_heatmap import draw_heatmap

TRUTH = points(*[(300, 300)] * 3, (340, 380))
HEAT = found(4, (400.0, 400.0), grid_cloud())


def shares(axes):
    (mesh,) = axes.collections
    return mesh.get_array().compressed()


def test_both_panels_have_the_same_view_tiles_and_colours():
    heat, really, colour_bar = draw_heatmap(HEAT, TRUTH, AREA, "t", 12.3).axes
    assert {heat.get_aspect(), really.get_aspect()} == {1.0}
    assert (heat.get_xlim(), heat.get_ylim()) == (really.get_xlim(), really.get_ylim())
    assert heat.get_xlabel() == really.get_xlabel() == "km east of the area's corner"
    (one,), (other,) = heat.collections, really.collections
    np.testing.assert_array_equal(one.get_coordinates(), other.get_coordinates())
    assert one.get_clim() == other.get_clim() == (0, 0.75)
    assert colour_bar.get_ylabel() == "share per tile of 40 x 40 m (square-root scale)"


def test_weights_and_points_are_shown_as_shares():
    """25 equal places; three of the four points are at one place."""
    heat, really, _ = draw_heatmap(HEAT, TRUTH, AREA, "t").axes
    assert shares(heat) == pytest.approx([1 / 25] * 25)
    assert shares(really) == pytest.approx([0.75, 0.25])


def test_the_title_has_the_emd_where_it_is_given():
    assert draw_heatmap(HEAT, TRUTH, AREA, "t", 1234.5).get_suptitle() == (
        "t\nround 4, user u: sliced EMD 1,234 m"
    )
    assert draw_heatmap(HEAT, TRUTH, AREA, "t").get_suptitle() == "t\nround 4, user u"


def test_without_a_truth_there_is_one_panel():
    figure = draw_heatmap(HEAT, None, AREA, "t")
    assert titles(figure) == ["the heat map\n100 % of its weight inside the area"]


def test_weight_outside_the_area_is_reported():
    half = Cloud(CORNER_M + np.array([[500.0, 500.0], [-900.0, 500.0]]), np.array([0.5, 0.5]))
    figure = draw_heatmap(found(4, (0.0, 0.0), half), None, AREA, "t")
    assert titles(figure) == ["the heat map\n50 % of its weight inside the area"]


CASES = {
    "one place": found(4, (500.0, 500.0)),
    "found nothing": found(4, NOWHERE),
    "all outside": found(4, (9e6, 500.0)),
    "no weight": found(4, (1.0, 1.0), Cloud(CORNER_M[None], np.zeros(1))),
}


@pytest.mark.parametrize("truth", [None, TRUTH, points()], ids=["-", "4", "empty"])
@pytest.mark.parametrize("case", CASES)
def test_every_case_gives_a_picture(case, truth):
    assert png(draw_heatmap(CASES[case], truth, AREA, "t", 5.0)).startswith(b"\x89PNG")


def test_names_are_drawn_as_they_are_written():
    figure = draw_heatmap(found(4, (1.0, 1.0), user="$u_{$"), TRUTH, AREA, "$t$")
    png(figure)
    assert drawn_as_written(figure, "$u_{$")
