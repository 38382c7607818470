import numpy as np
import pytest
from matplotlib.quiver import Quiver

from tests.report.fakes import (
    AREA,
    NOWHERE,
    drawn_as_written,
    found,
    grid_cloud,
    points,
    titles,
)
from veilmap.canvas import png
from veilmap.errors import UserError
from veilmap.report.draw_whereabouts import draw_whereabouts

TRUTH = {1: points((100, 100), (300, 100)), 2: points((900, 500))}
INSIDE = [found(1, (210.0, 90.0)), found(2, (800.0, 450.0))]
FAR = [found(1, (9e9, 500.0)), found(2, (1000.0, -1.0)), found(3, (1000.0, 500.0))]


def drawn(axes, label):
    return [each for each in axes.collections if each.get_label() == label]


def test_every_attack_has_a_panel_with_equal_scales_and_units():
    methods = dict.fromkeys(("dlg", "search", "first_layer", "heatmap"), INSIDE)
    *panels, colour_bar = draw_whereabouts(methods, TRUTH, AREA, "t").axes
    assert [axes.get_title().split("\n")[0] for axes in panels] == list(methods)
    assert {axes.get_aspect() for axes in panels} == {1.0}
    assert panels[2].get_xlabel() == "km east of the area's corner"
    assert panels[2].get_ylabel() == "km north of the area's corner"
    assert len({(axes.get_xlim(), axes.get_ylim()) for axes in panels}) == 1
    assert len({drawn(axes, "found")[0].get_clim() for axes in panels}) == 1
    assert colour_bar.get_ylabel() == "round"


def test_locations_are_in_km_from_the_areas_corner_and_coloured_by_round():
    axes = draw_whereabouts({"dlg": INSIDE}, TRUTH, AREA, "t").axes[0]
    (dots,) = drawn(axes, "found")
    np.testing.assert_allclose(dots.get_offsets(), [[0.21, 0.09], [0.8, 0.45]])
    assert dots.get_array().tolist() == [1, 2]
    assert dots.get_clim() == (1, 2)


def test_true_points_and_centroids_are_drawn_if_they_are_known():
    known = draw_whereabouts({"dlg": INSIDE}, TRUTH, AREA, "t")
    _, places, centroids = known.axes[0].lines
    assert len(places.get_xdata()) == 3
    np.testing.assert_allclose(centroids.get_xydata(), [[0.2, 0.1], [0.9, 0.5]])
    unknown = draw_whereabouts({"dlg": INSIDE}, None, AREA, "t")
    assert len(unknown.axes[0].lines) == 1  # the area
    for figure, said in ((known, True), (unknown, False)):
        (legend,) = figure.legends
        assert ("true centroid" in [text.get_text() for text in legend.get_texts()]) == said


def test_those_outside_are_counted_and_become_arrows_within_the_view():
    axes = draw_whereabouts({"dlg": FAR}, None, AREA, "t").axes[0]
    assert axes.get_title() == "dlg\n2 of 3 left the area"
    (arrows,) = (each for each in axes.collections if isinstance(each, Quiver))
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    assert left < min(arrows.X) <= max(arrows.X) < right
    assert bottom < min(arrows.Y) <= max(arrows.Y) < top
    np.testing.assert_allclose(np.column_stack([arrows.U, arrows.V]), [[1, 0], [0, -1]], atol=1e-6)
    assert len(drawn(axes, "found")[0].get_offsets()) == 1


def test_one_outside_the_area_but_in_the_view_is_shown_where_it_is():
    axes = draw_whereabouts({"dlg": FAR[1:2]}, None, AREA, "t").axes[0]
    (arrows,) = (each for each in axes.collections if isinstance(each, Quiver))
    assert (arrows.X.item(), arrows.Y.item()) == pytest.approx((1, -0.001))


def test_attacks_that_found_no_location_are_counted_apart():
    figure = draw_whereabouts({"dlg": [*FAR, found(4, NOWHERE)]}, None, AREA, "t")
    assert titles(figure) == ["dlg\n2 of 4 left the area, 1 found none"]


def test_a_heat_map_is_drawn_by_its_pooled_weight():
    """The one cloud is a grid of 25 places; the other round's 25 are the same, so 4 % each."""
    rounds = [found(number, (400.0, 400.0), grid_cloud()) for number in (1, 2)]
    axes = draw_whereabouts({"heatmap": rounds}, TRUTH, AREA, "t").axes[0]
    (bubbles,) = drawn(axes, "weight")
    assert len(bubbles.get_offsets()) == 25
    assert len(set(bubbles.get_sizes())) == 1
    legend = axes.figure.legends[0].get_texts()[-1].get_text()
    assert legend == "2 % of the heat map's weight"


CASES = {
    "no rounds": {"dlg": []},
    "one point": {"dlg": INSIDE[:1]},
    "all outside": {"dlg": FAR[:2], "heatmap": FAR[:2]},
    "nothing found": {"dlg": [found(1, NOWHERE)]},
    "five attacks": dict.fromkeys("abcde", INSIDE),
    "so far that its square overflows": {"dlg": [found(1, (1e200, -1e200))]},
}


@pytest.mark.parametrize("truth", [None, TRUTH, {1: points()}], ids=["-", "2", "empty"])
@pytest.mark.parametrize("case", CASES)
def test_every_case_gives_a_picture(case, truth):
    assert png(draw_whereabouts(CASES[case], truth, AREA, "t")).startswith(b"\x89PNG")


def test_names_are_drawn_as_they_are_written():
    figure = draw_whereabouts({"$m_{$": INSIDE}, None, AREA, "$t$ of $")
    png(figure)
    assert drawn_as_written(figure, "$m_{$")
    assert drawn_as_written(figure, "$t$ of $")


def test_no_attack_at_all_is_refused():
    with pytest.raises(UserError, match="no attack to draw"):
        draw_whereabouts({}, TRUTH, AREA, "t")
