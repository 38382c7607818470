import numpy as np
import pytest

from tests.report.fakes import AREA, CORNER_M, NOWHERE, drawn_as_written, titles
from veilmap.area import Area
from veilmap.canvas import pdf, png
from veilmap.errors import UserError
from veilmap.report.draw_places import PlacePanel, draw_places


def places(*xy_m):
    return CORNER_M + np.array(xy_m, float).reshape(-1, 2)


TRUTH_M = places((100, 100), (300, 100), (900, 500))
FOUND_M = places((210, 90), (800, 450))


def panel(title="FedAvg", found_m=FOUND_M, **more):
    return PlacePanel(title, TRUTH_M, found_m, np.arange(1, len(found_m) + 1), **more)


def found(axes):
    (dots,) = axes.collections
    return dots


def entries(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_all_panels_have_equal_scales_and_the_same_view_and_colours():
    *panels, bar = draw_places([panel(), panel(found_m=places((1, 1)))], AREA, "t").axes
    assert {axes.get_aspect() for axes in panels} == {1.0}
    assert len({(axes.get_xlim(), axes.get_ylim()) for axes in panels}) == 1
    assert {found(axes).get_clim() for axes in panels} == {(1, 2)}
    assert bar.get_ylabel() == "round"


def test_later_rounds_are_darker():
    axes = draw_places([panel()], AREA, "t").axes[0]
    dots = found(axes)
    early, late = dots.to_rgba([1, 2])[:, :3].mean(axis=1)
    assert late < early - 0.2
    np.testing.assert_allclose(dots.get_offsets(), [[0.21, 0.09], [0.8, 0.45]])


def test_what_is_given_is_drawn_where_it_is_and_in_the_legend():
    more = {
        "chosen_m": places((300, 100)),
        "centroid_m": places((433, 233))[0],
    }
    figure = draw_places([panel(**more)], AREA, "t")
    _, truth, chosen, centroid, _ = figure.axes[0].lines
    assert truth.get_marker() == chosen.get_marker() == "s"
    np.testing.assert_allclose(truth.get_xydata(), [[0.1, 0.1], [0.3, 0.1], [0.9, 0.5]])
    np.testing.assert_allclose(chosen.get_xydata(), [[0.3, 0.1]])
    np.testing.assert_allclose(centroid.get_xydata(), [[0.433, 0.233]])
    words = ["true points", "true centroid", "points chosen by the defence"]
    assert entries(figure) == ["the area", *words, "found locations"]
    plain = draw_places([panel()], AREA, "t")
    assert entries(plain) == ["the area", "true points", "found locations"]


def test_those_outside_are_counted_and_not_drawn():
    lost_m = np.concatenate([FOUND_M, places((-1, 5), (9e9, 1), (5, 1001)), [NOWHERE]])
    figure = draw_places([panel(found_m=lost_m), panel()], AREA, "t")
    assert titles(figure) == ["FedAvg\n(3 outside, 1 found none)", "FedAvg"]
    assert len(found(figure.axes[0]).get_offsets()) == 2


def test_the_scale_bar_has_its_length_in_the_maps_own_scale():
    """The area is 2 km wide; the bar is 500 m."""
    axes = draw_places([panel()], AREA, "t").axes[0]
    assert [text.get_text() for text in axes.texts] == ["500 m"]
    left, right = axes.get_xlim()
    assert np.ptp(axes.lines[-1].get_xdata()) * (right - left) == pytest.approx(0.5)


def test_one_round_needs_no_colour_bar():
    one = PlacePanel("20 starts", TRUTH_M, FOUND_M, np.array([7, 7]))
    assert len(draw_places([one], AREA, "t").axes) == 1


def test_forty_thousand_points_are_as_many_artists_as_three_and_make_a_small_pdf():
    """An artist for each point would take minutes."""
    many_m = CORNER_M + np.random.default_rng(0).uniform(0, 1000, (40_000, 2))
    crowded, sparse = (
        draw_places([PlacePanel("a", at_m, FOUND_M, np.array([1, 2]), chosen_m=at_m)], AREA, "t")
        for at_m in (many_m, TRUTH_M)
    )
    assert len(crowded.findobj()) == len(sparse.findobj())
    assert len(pdf(crowded)) < 300_000


CASES = {
    "nothing at all": PlacePanel("a", places(), places(), np.empty(0, int)),
    "all outside": panel(found_m=places((9e9, 9e9))),
    "found none": panel(found_m=np.array([NOWHERE])),
    "nothing chosen": panel(chosen_m=places(), centroid_m=places()),
}


@pytest.mark.parametrize("count", [1, 4, 5])
@pytest.mark.parametrize("case", CASES)
def test_every_case_gives_a_picture(case, count):
    assert png(draw_places([CASES[case]] * count, AREA, "t")).startswith(b"\x89PNG")


def test_an_area_of_one_place_gives_a_picture():
    assert png(draw_places([panel()], Area.around(CORNER_M[None]), "")).startswith(b"\x89PNG")


def test_names_are_drawn_as_they_are_written():
    figure = draw_places([panel("$m_{$")], AREA, "$t$")
    png(figure)
    assert drawn_as_written(figure, "$m_{$")
    assert drawn_as_written(figure, "$t$")


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(UserError, match="a round for each location found, got 1 for 2"):
        PlacePanel("a", TRUTH_M, FOUND_M, np.array([1]))
    with pytest.raises(UserError, match=r"truth_m of panel 'a' must be n x 2, got shape \(1, 3\)"):
        PlacePanel("a", np.zeros((1, 3)), FOUND_M, np.array([1, 2]))
    with pytest.raises(UserError, match="no map to draw"):
        draw_places([], AREA, "t")
