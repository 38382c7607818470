import numpy as np
import pytest
from matplotlib.colors import to_hex

from tests.report.fakes import drawn_as_written
from veilmap.canvas import png
from veilmap.errors import UserError
from veilmap.report.draw_bars import Bar, BarPanel, draw_bars

SCHEMES = ("FedSGD", "FedAvg")
LONG = tuple(f"FedAvg + Diverse, with user {user}" for user in range(12))


def panel(*bars, groups=SCHEMES, **options):
    return BarPanel("EMD", "EMD, √m", groups, bars, **options)


def entries(figure):
    return [text.get_text() for each in figure.legends for text in each.get_texts()]


def test_a_bar_ends_at_the_mean_and_single_seeds_are_dots():
    figure = draw_bars([panel(Bar("campus", ((4.0, 8.0), (9.0,))))], "t")
    (axes,) = figure.axes
    assert [bar.get_height() for bar in axes.patches] == [6, 9]
    assert axes.lines[0].get_xydata().tolist() == [[0, 4], [0, 8]]
    assert [each.get_text() for each in axes.get_xticklabels()] == list(SCHEMES)
    assert axes.get_ylabel() == "EMD, √m"
    assert entries(figure) == ["campus", "single seeds"]


def test_the_papers_figure_is_a_black_tick_over_its_bar_with_one_entry():
    bars = [Bar(name, ((5.0,), (6.0,)), (7.6, None)) for name in "ab"]
    figure = draw_bars([panel(*bars)], "t")
    ticks = [line for line in figure.axes[0].lines if line.get_color() == "black"]
    assert [list(tick.get_ydata()) for tick in ticks] == [[7.6, 7.6]] * 2
    bar = figure.axes[0].patches[0]
    assert np.mean(ticks[0].get_xdata()) == pytest.approx(bar.get_x() + bar.get_width() / 2)
    assert entries(figure) == ["a", "b", "the paper"]


def test_series_differ_in_colour_and_hatch_and_do_not_overlap():
    axes = draw_bars([panel(*(Bar(name, ((5.0,), (6.0,))) for name in "abc"))], "t").axes[0]
    first = [axes.patches[place] for place in (0, 2, 4)]
    assert len({to_hex(bar.get_facecolor()) for bar in first}) == 3
    assert len({bar.get_hatch() for bar in first}) == 3
    ends = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in first]
    assert ends[0][1] < ends[1][0] < ends[1][1] < ends[2][0]


def test_a_group_without_figures_has_no_bar():
    axes = draw_bars([panel(Bar("a", ((), (6.0,))))], "t").axes[0]
    assert [bar.get_height() for bar in axes.patches] == [6]
    assert axes.patches[0].get_x() > 0.5


def test_many_long_names_lie_with_the_first_on_top():
    bars = Bar("a", tuple((float(i),) for i in range(1, 13)), (3.5, *[None] * 11))
    axes, other = draw_bars([panel(bars, groups=LONG)] * 2, "t").axes
    assert [bar.get_width() for bar in axes.patches] == list(range(1, 13))
    assert list(axes.lines[1].get_xdata()) == [3.5, 3.5]
    assert axes.yaxis_inverted()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("EMD, √m", "")
    names = [" ".join(each.get_text().split()) for each in axes.get_yticklabels()]
    assert names == list(LONG)
    assert not any(each.get_visible() for each in other.get_yticklabels())


@pytest.mark.parametrize("groups", [SCHEMES, LONG[:2], LONG], ids=["short", "long", "many"])
@pytest.mark.parametrize("panels", [1, 3])
def test_names_of_groups_do_not_touch(groups, panels):
    figure = draw_bars([panel(Bar("a", ((1.0,),) * len(groups)), groups=groups)] * panels, "t")
    figure.draw_without_rendering()
    axes = figure.axes[0]
    lying = axes.yaxis_inverted()
    texts = axes.get_yticklabels() if lying else axes.get_xticklabels()
    boxes = [text.get_window_extent() for text in texts]
    assert all(one.count_overlaps(boxes) == 1 for one in boxes)
    assert all(box.x0 >= 0 and box.x1 <= figure.bbox.x1 for box in boxes)


@pytest.mark.parametrize("groups", [SCHEMES, LONG], ids=["upright", "lying"])
def test_a_reference_is_dashed_across_the_bars(groups):
    bars = Bar("a", ((1.0,),) * len(groups))
    options = {"reference": 34.0, "reference_name": "random guesses"}
    figure = draw_bars([panel(bars, groups=groups, **options)], "t")
    line = figure.axes[0].lines[-1]
    assert 34.0 in (line.get_ydata() if groups is SCHEMES else line.get_xdata())
    assert entries(figure) == ["a", "random guesses"]


CASES = {
    "no groups": panel(groups=()),
    "nothing known": panel(Bar("a", ((), ()))),
    "one bar": panel(Bar("a", ((5.0,),)), groups=("x",)),
    "all zero": panel(Bar("a", ((0.0, 0.0),) * 2)),
    "only the paper": panel(Bar("a", ((), ()), (5.0, None))),
    "lying, nothing known": panel(Bar("a", ((),) * 12), groups=LONG),
}


@pytest.mark.parametrize("case", CASES)
def test_every_case_gives_a_picture(case):
    assert png(draw_bars([CASES[case]], "t")).startswith(b"\x89PNG")


def test_names_are_drawn_as_they_are_written():
    figure = draw_bars([panel(Bar("$m_{$", ((5.0,),)), groups=("$x_{$",))], "$t$")
    png(figure)
    for name in ("$m_{$", "$x_{$", "$t$"):
        assert drawn_as_written(figure, name)


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(UserError, match="'a' must be finite, got inf"):
        Bar("a", ((1.0,),), (np.inf,))
    with pytest.raises(UserError, match="each of its 2 places, got 1"):
        panel(Bar("a", ((1.0,),)))
    with pytest.raises(UserError, match="reference of panel 'EMD' must be finite, got nan"):
        panel(reference=np.nan)
    with pytest.raises(UserError, match="no panel to draw"):
        draw_bars([], "t")
