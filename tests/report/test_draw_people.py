from math import inf

import numpy as np
import pytest

from veilmap.canvas import png
from veilmap.errors import UserError
from veilmap.metrics.people import HomeErrors
from veilmap.report.draw_people import draw_people


def errors(name, *errors_m, attack="search", is_guess=False):
    return HomeErrors(name, attack, tuple(map(float, errors_m)), is_guess=is_guess)


def drawn(*people):
    """By label, the corners of each line."""
    figure = draw_people(people, "distance from home", "a town")
    assert png(figure).startswith(b"\x89PNG")
    (axes,) = figure.axes
    return figure, {
        str(line.get_label()): line.get_xydata()
        for line in axes.get_lines()
        if not str(line.get_label()).startswith("_")
    }


def test_every_person_is_a_step():
    """Alone a line is at its shares, from nobody at the first error to everybody at the last."""
    figure, lines = drawn(errors("fedavg", 40, 10, 20, 300))
    np.testing.assert_allclose(
        lines["fedavg"], [[10, 0], [10, 0.25], [20, 0.5], [40, 0.75], [300, 1]]
    )
    assert not figure.axes[0].collections


def test_who_is_not_located_keeps_the_line_below_everybody():
    figure, lines = drawn(errors("fedavg", 10, 20, inf, inf))
    assert lines["fedavg"][-1].tolist() == [20, 0.5]
    (rest,) = figure.axes[0].collections
    assert rest.get_segments()[0][:, 1].tolist() == [0.5, 0.5]


def test_a_line_for_each_configuration_and_guess():
    names = ["fedavg", "fedavg + $x", "fedsgd"]
    guesses = [errors("fedavg", 500, attack=name, is_guess=True) for name in ("blind", "prior")]
    figure, lines = drawn(*(errors(name, 10 * n) for n, name in enumerate(names, 1)), *guesses)
    assert set(lines) == {
        "fedavg",
        r"fedavg + \$x",
        "fedsgd",
        "blind guess",
        "guess from others' places",
    }
    styles = {line.get_label(): line.get_linestyle() for line in figure.axes[0].get_lines()}
    assert (
        len({styles[name] for name in ("fedsgd", "blind guess", "guess from others' places")}) == 3
    )


def test_lines_of_few_people_run_side_by_side():
    _, few = drawn(errors("fedavg", 10, 20), errors("fedsgd", 10, 20))
    assert abs(few["fedavg"][1, 1] - few["fedsgd"][1, 1]) > 0.001
    _, many = drawn(errors("fedavg", *range(1, 40)), errors("fedsgd", *range(1, 40)))
    np.testing.assert_array_equal(many["fedavg"], many["fedsgd"])


@pytest.mark.parametrize("errors_m", [(0, 0), (inf,), (0, inf), (5,)])
def test_what_is_degenerate_is_drawn(errors_m):
    figure, _ = drawn(errors("fedavg", *errors_m))
    low_m, high_m = figure.axes[0].get_xlim()
    assert 0 < low_m < high_m < 1e4


def test_nobody_is_no_picture():
    with pytest.raises(UserError, match="there is nobody to draw in 'a town'"):
        draw_people([], "distance", "a town")
