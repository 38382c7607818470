import pytest
from matplotlib.lines import Line2D

from veilmap.canvas import blank_sheet
from veilmap.report.number_axes import number_text
from veilmap.report.sheet import legend_below, panel_grid, wrapped


@pytest.mark.parametrize(
    ("count", "grid"),
    [(1, (1, 1)), (2, (1, 2)), (3, (1, 3)), (4, (2, 2)), (5, (2, 3)), (7, (3, 3))],
)
def test_up_to_three_panels_are_in_a_row_and_four_in_a_square(count, grid):
    assert panel_grid(count) == grid


def test_lines_of_a_text_are_about_equally_long_and_words_stay_whole():
    assert wrapped("tuning the learning rate", 1.4, 8.0) == "tuning the\nlearning rate"
    assert wrapped("incomprehensibilities", 0.1) == "incomprehensibilities"
    assert wrapped("", 1.0) == ""


@pytest.mark.parametrize(
    "name", ["a", "a name that is longer than the sheet is wide, or nearly so"]
)
def test_a_legend_stays_on_its_sheet(name):
    figure = blank_sheet((4, 3))
    legend_below(figure, [Line2D([], [], label=f"{name} {i}") for i in range(5)])
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert 0 <= box.x0 < box.x1 <= figure.bbox.x1


@pytest.mark.parametrize(
    ("value", "as_power", "text"),
    [
        (1000, False, "1,000"),
        (-0.5, False, "−0.5"),
        (1e-6, True, "$10^{-6}$"),
        (2e7, True, r"$2\cdot10^{7}$"),
        (0, True, "0"),
    ],
)
def test_numbers_are_written_as_one_writes_them(value, as_power, text):
    assert number_text(value, as_power=as_power) == text
