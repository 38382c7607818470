import numpy as np
import pytest

from tests.report.fakes import NOWHERE, drawn_as_written, found, points
from veilmap.canvas import png
from veilmap.report.draw_rounds import draw_rounds

TRUTH = {number: points((100, 100)) for number in (1, 2, 3)}
NORMS = {1: (3.0, 200.0), 2: (2.0, 100.0), 3: (1.0, 50.0)}


def near(*distances_m):
    return [found(t, (100.0 + d, 100.0), cosine=1 - t / 10) for t, d in enumerate(distances_m, 1)]


def lines(axes):
    return {line.get_label(): np.asarray(line.get_ydata()).tolist() for line in axes.lines}


def test_three_panels_have_a_line_per_attack_or_layer():
    cosine, distance, norm = draw_rounds(
        {"dlg": near(30, 40, 50), "search": near(20, 20, 20)}, TRUTH, NORMS, "t"
    ).axes
    assert lines(cosine)["dlg"] == pytest.approx([0.9, 0.8, 0.7])
    assert lines(distance)["dlg"] == pytest.approx([30, 40, 50])
    assert lines(distance)["search"] == pytest.approx([20, 20, 20])
    assert lines(norm) == {"layer 1": [3, 2, 1], "layer 2": [200, 100, 50]}
    assert "in m" in distance.get_ylabel()
    assert norm.get_xlabel() == "round"
    assert all(line.get_marker() != "None" for axes in (cosine, norm) for line in axes.lines)


def test_a_scale_is_logarithmic_only_beyond_a_decade():
    figure = draw_rounds({"dlg": near(30, 40, 50)}, TRUTH, NORMS, "t")
    assert [axes.get_yscale() for axes in figure.axes] == ["linear", "linear", "log"]
    wide = draw_rounds({"dlg": near(3, 400, 50)}, TRUTH, NORMS, "t").axes[1]
    assert wide.get_yscale() == "log"
    assert "log scale" in wide.get_ylabel()
    with_zero = draw_rounds({"dlg": near(0, 400, 50)}, TRUTH, NORMS, "t").axes[1]
    assert with_zero.get_yscale() == "linear"


def test_without_a_truth_the_panel_says_so():
    distance = draw_rounds({"dlg": near(30, 40)}, None, NORMS, "t").axes[1]
    assert [text.get_text() for text in distance.texts] == ["no truth given"]
    assert not distance.lines


def test_a_single_round_is_the_only_tick():
    figure = draw_rounds({"dlg": near(30)}, TRUTH, {1: (1.0,)}, "t")
    left, right = figure.axes[2].get_xlim()
    assert [tick for tick in figure.axes[2].get_xticks() if left <= tick <= right] == [1]


def test_several_starts_of_a_round_count_by_their_median():
    starts = [near(10)[0], near(30)[0], near(900)[0], found(1, NOWHERE)]
    assert lines(draw_rounds({"dlg": starts}, TRUTH, NORMS, "t").axes[1])["dlg"] == [30]


def test_a_round_without_a_location_breaks_the_line():
    rounds = [near(30)[0], found(2, NOWHERE), *near(0, 0, 50)[2:]]
    np.testing.assert_allclose(
        lines(draw_rounds({"dlg": rounds}, TRUTH, NORMS, "t").axes[1])["dlg"], [30, np.nan, 50]
    )


def test_rounds_without_truth_are_left_out_of_the_distances():
    figure = draw_rounds({"dlg": near(30, 40, 50)}, {2: TRUTH[2], 3: points()}, NORMS, "t")
    assert lines(figure.axes[1])["dlg"] == pytest.approx([40])


@pytest.mark.parametrize(
    ("methods", "norms"),
    [
        ({}, {}),
        ({"dlg": []}, {}),
        ({"dlg": near(5)}, {1: (0.0, 0.0)}),
        ({"dlg": [found(1, NOWHERE, cosine=np.nan)]}, {1: (np.nan,)}),
        ({str(k): near(k, 2 * k) for k in range(9)}, {1: (1.0,) * 7, 2: (1.0, 1000.0)}),
    ],
    ids=["nothing", "no rounds", "one round", "nothing found", "many lines"],
)
def test_every_case_gives_a_picture(methods, norms):
    assert png(draw_rounds(methods, TRUTH, norms, "t")).startswith(b"\x89PNG")


def test_names_are_drawn_as_they_are_written():
    figure = draw_rounds({"$m_{$": near(5)}, None, NORMS, "$t$")
    png(figure)
    assert drawn_as_written(figure, "$m_{$")
    assert drawn_as_written(figure, "$t$")
