import numpy as np
import pytest

from tests.report.fakes import drawn_as_written, titles
from veilmap.canvas import png
from veilmap.errors import UserError
from veilmap.report.draw_lines import Line, LinePanel, draw_lines

WEEKS = ("1 h", "24 h", "1 week")


def panel(*lines, **options):
    return LinePanel("EMD", "interval T", "EMD, √m", lines, **options)


def entries(figure):
    return [text.get_text() for each in figure.legends for text in each.get_texts()]


def test_a_mark_is_at_the_mean_and_a_bar_reaches_from_the_least_to_the_most():
    axes = draw_lines([panel(Line("dlg", (1, 2), ((4.0, 6.0, 11.0), (8.0,))))], "t").axes[0]
    np.testing.assert_allclose(axes.lines[0].get_xydata(), [[1, 7], [2, 8]])
    (bars,) = axes.collections
    assert bars.get_segments()[0].tolist() == [[1, 4], [1, 11]]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("interval T", "EMD, √m")
    assert axes.get_title() == "EMD"


def test_figures_that_are_all_zero_lie_at_the_foot_of_a_wide_axis():
    axes = draw_lines([panel(Line("dlg", (1, 2), ((0.0,), (0.0,))))], "t").axes[0]
    low, high = axes.get_ylim()
    assert -0.1 < low < 0
    assert high == 1


def test_names_along_x_are_in_order_of_appearance_over_all_lines():
    lines = Line("a", ("1 h", "1 week"), ((1.0,), (2.0,))), Line("b", WEEKS, ((3.0,),) * 3)
    axes = draw_lines([panel(*lines)], "t").axes[0]
    assert [each.get_text() for each in axes.get_xticklabels()] == ["1 h", "1 week", "24 h"]
    first, _, second, _ = axes.lines
    assert first.get_xdata().tolist() == [0, 1]
    np.testing.assert_array_equal(second.get_xdata(), [0, 1, 2])


def test_the_papers_figures_are_open_marks_with_one_entry():
    lines = [Line(name, (1, 2), ((5.0,), (6.0,)), (5.3, None)) for name in "ab"]
    figure = draw_lines([panel(*lines)], "t")
    ours, theirs = figure.axes[0].lines[:2]
    assert theirs.get_xydata().tolist() == [[1, 5.3]]
    assert theirs.get_markerfacecolor() == "none"
    assert theirs.get_color() == ours.get_color()
    assert entries(figure) == ["a", "b", "the paper"]


def test_series_without_any_figure_are_not_in_the_legend():
    lines = Line("a", (1,), ((5.0,),)), Line("never", (1,), ((),))
    assert entries(draw_lines([panel(*lines)], "t")) == ["a"]


def test_a_series_looks_the_same_in_all_panels_and_unlike_the_others():
    a, b = (Line(name, (1, 2), ((5.0,), (6.0,))) for name in "ab")
    one, two = draw_lines([panel(a, b), panel(b)], "t").axes
    looks = [(line.get_color(), line.get_marker()) for line in (*one.lines[::2], two.lines[0])]
    assert looks[1] == looks[2]
    assert looks[0][0] != looks[1][0]
    assert looks[0][1] != looks[1][1]


@pytest.mark.parametrize(("count", "marked"), [(20, None), (21, [])])
def test_more_than_twenty_points_are_a_curve_without_marks(count, marked):
    line = Line("a", tuple(range(count)), ((5.0, 6.0),) * count)
    assert draw_lines([panel(line)], "t").axes[0].lines[0].get_markevery() == marked


def test_a_lone_point_of_a_curve_keeps_its_mark():
    values = [(5.0,)] * 30
    values[4] = values[6] = ()
    curve = draw_lines([panel(Line("a", tuple(range(30)), tuple(values)))], "t").axes[0].lines[0]
    assert curve.get_markevery() == [5]


def test_a_reference_is_dashed_and_named_once():
    panels = [panel(Line("a", (1,), ((5.0,),)), reference=21.3, reference_name="random guesses")]
    figure = draw_lines(panels * 2, "t")
    dashed = figure.axes[1].lines[-1]
    assert dashed.get_ydata() == [21.3, 21.3]
    assert dashed.get_linestyle() == "--"
    assert entries(figure) == ["a", "random guesses"]


def test_far_apart_numbers_have_their_ticks_on_a_log_scale():
    axes = draw_lines([panel(Line("a", (0.1, 5, 50), ((1.0,),) * 3), log_x=True)], "t").axes[0]
    assert axes.get_xscale() == "log"
    axes.figure.draw_without_rendering()
    assert [each.get_text() for each in axes.get_xticklabels()] == ["0.1", "5", "50"]


def test_there_are_at_most_three_panels_in_a_row():
    figure = draw_lines([panel(Line("a", (1,), ((5.0,),)))] * 5, "t")
    assert len(titles(figure)) == 5
    assert figure.axes[0].get_gridspec().get_geometry() == (2, 3)


CASES = {
    "no lines": panel(),
    "nothing known": panel(Line("a", WEEKS, ((),) * 3)),
    "one point": panel(Line("a", (3,), ((5.0,),)), log_x=True, log_y=True),
    "all equal": panel(Line("a", (1, 2), ((5.0, 5.0),) * 2)),
    "only the paper": panel(Line("a", ("x",), ((),), (5.0,))),
    "tiny and huge": panel(Line("a", (1e-9, 1e9), ((1e-9,), (1e9,))), log_x=True, log_y=True),
    "many names": panel(Line("a", tuple(f"a long name {i}" for i in range(9)), ((1.0,),) * 9)),
}


@pytest.mark.parametrize("case", CASES)
def test_every_case_gives_a_picture(case):
    assert png(draw_lines([CASES[case]], "t")).startswith(b"\x89PNG")


def test_where_nothing_is_known_it_is_said():
    (text,) = draw_lines([CASES["nothing known"]], "t").axes[0].texts
    assert text.get_text() == "nothing to show"


def test_names_are_drawn_as_they_are_written():
    figure = draw_lines([panel(Line("$m_{$", ("$x_{$",), ((5.0,),)))], "$t$")
    png(figure)
    for name in ("$m_{$", "$x_{$", "$t$"):
        assert drawn_as_written(figure, name)


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(UserError, match=r"'a' must be finite, got nan \(1 of 2\)"):
        Line("a", (1, 2), ((np.nan,), (1.0,)))
    with pytest.raises(UserError, match="each of its 2 places, got 1"):
        Line("a", (1, 2), ((1.0,),))
    with pytest.raises(UserError, match="x of line 'a' must be finite"):
        Line("a", (np.inf,), ((1.0,),))
    with pytest.raises(UserError, match="y of panel 'EMD' must be above 0 on a log scale, got 0"):
        panel(Line("a", (1,), ((0.0,),)), log_y=True)
    with pytest.raises(UserError, match=r"x of panel 'EMD' must be above 0 .* got '1 h'"):
        panel(Line("a", WEEKS, ((1.0,),) * 3), log_x=True)
    with pytest.raises(UserError, match="reference of panel 'EMD' must be finite, got inf"):
        panel(reference=np.inf)
    with pytest.raises(UserError, match="y of panel 'EMD' must be above 0 on a log scale, got -1"):
        panel(reference=-1.0, log_y=True)
    with pytest.raises(UserError, match="no panel to draw"):
        draw_lines([], "t")
