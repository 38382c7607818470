import numpy as np
import pytest

from tests.map_figures import map_figures
from veilmap.canvas import png
from veilmap.errors import UserError
from veilmap.metrics.rows import TrialRow
from veilmap.metrics.scores import Scores
from veilmap.report.draw_tradeoff import (
    TradeoffPanel,
    draw_tradeoff,
    draw_tradeoffs,
    tradeoffs,
)
from veilmap.report.looks import PLAIN


def row(configuration, attack="dlg", seed=0, rmse_db=5.0, emd_paper=7.0, distance_m=None):
    scores = Scores(rounds=1, emd_paper=emd_paper, distance_m=distance_m)
    return TrialRow(configuration, attack, "0", seed, map_figures(rmse_db), scores=scores)


def test_a_configuration_is_gathered_over_its_seeds_for_one_attack():
    rows = [
        row("fedavg", rmse_db=5, emd_paper=7),
        row("fedavg", seed=1, rmse_db=6, emd_paper=8),
        row("fedavg", attack="search", emd_paper=99),
        row("fedavg + dp:epsilon=1", emd_paper=None),
        *(row("fedavg + centre", seed=seed, emd_paper=each) for seed, each in enumerate([7, None])),
        *(row("fedavg + gan", seed=s, emd_paper=each) for s, each in enumerate([7, 8, None])),
    ]
    plain, gan = tradeoffs(rows, "dlg", "emd_paper")
    assert (plain.kind, plain.rmse_db, plain.hidden) == (("fedavg", PLAIN), (5, 6), (7, 8))
    assert gan.hidden == (7, 8, np.inf)


def test_every_attack_has_a_panel_and_every_defence_a_line():
    names = ("fedavg", "fedavg + diverse:eps_m=5", "fedavg + diverse:eps_m=50", "fedavg + $x")
    rows = [
        row(name, attack, seed, rmse_db=5 + place + seed, emd_paper=7 + place)
        for place, name in enumerate(names)
        for attack in ("dlg", "search", "first_layer")
        for seed in (0, 1)
    ]
    figure = draw_tradeoff(rows, "emd_paper", "EMD", "campus")
    panels = [axes for axes in figure.axes if axes.get_title()]
    assert [axes.get_title() for axes in panels] == ["dlg", "search", "first_layer"]
    lines = {c.get_label(): c.lines[0].get_xydata() for c in panels[0].containers}
    np.testing.assert_array_equal(lines["diverse"], [[6.5, 8], [7.5, 9]])
    assert set(lines) == {PLAIN, "diverse", "$x"}
    assert png(figure).startswith(b"\x89PNG")


def test_the_guesses_are_lines_at_their_medians_in_every_panel():
    """A blind guess has 19, 19 and 20 √m; the other guess lacks the figure."""
    guesses = [row("fedavg", "blind", s, emd_paper=each) for s, each in enumerate([19, 19, 20])]
    guesses.append(row("fedavg", "prior", emd_paper=None))
    rows = [row("fedavg"), row("fedavg", "search")]
    figure = draw_tradeoff(rows, "emd_paper", "EMD", "campus", guesses)
    for axes in [axes for axes in figure.axes if axes.get_title()]:
        (line,) = [each for each in axes.lines if each.get_label() == "blind guess"]
        assert list(line.get_ydata()) == [19, 19]
    (legend,) = figure.legends
    assert {text.get_text() for text in legend.texts} == {PLAIN, "blind guess"}


def test_a_defence_that_one_attack_lacks_is_in_the_legend_all_the_same():
    rows = [
        row("fedavg"),
        row("fedavg", "search"),
        row("fedavg + centre", emd_paper=None),
        row("fedavg + centre", "search"),
    ]
    figure = draw_tradeoff(rows, "emd_paper", "EMD", "title")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [PLAIN, "centre"]


def test_combinations_look_the_same_under_every_attack_and_schemes_are_distinguished():
    rows = [
        row("fedavg + dp:epsilon=1 + centre", emd_paper=None),
        row("fedavg + dp:epsilon=1 + centre", "search"),
        row("fedavg + diverse:eps_m=5 + dp:epsilon=1"),
        row("fedavg + diverse:eps_m=5 + dp:epsilon=1", "search"),
        row("fedsgd + dp:epsilon=1 + centre", "search"),
    ]
    figure = draw_tradeoff(rows, "emd_paper", "EMD", "title")
    colours = [
        {each.get_label(): each.lines[0].get_color() for each in axes.containers}
        for axes in figure.axes[:2]
    ]
    assert colours[0]["diverse + dp"] == colours[1]["diverse + dp"] != colours[1]["dp + centre"]
    assert colours[1]["dp + centre (fedsgd)"] == colours[1]["dp + centre"]


def test_three_kinds_of_maps_are_distinguished():
    names = ("fedavg", "fedsgd", "rings:width_m=25", "rings:width_m=25 + fedsgd")
    rows = [row(name, rmse_db=5 + place) for place, name in enumerate(names)]
    (axes,) = draw_tradeoff(rows, "emd_paper", "EMD", "title").axes
    markers = [each.lines[0] for each in axes.containers]
    assert [each.get_label() for each in axes.containers] == [
        PLAIN, f"{PLAIN} (fedsgd)", f"{PLAIN} (rings)", f"{PLAIN} (rings + fedsgd)"
    ]  # fmt: skip
    assert len({(each.get_fillstyle(), each.get_markerfacecolor()) for each in markers}) == 4


def test_one_attack_can_have_panels_of_several_figures():
    rows = [
        row(
            f"fedavg + dp:epsilon={epsilon}",
            rmse_db=5 + place,
            emd_paper=7 + place,
            distance_m=300 + 100 * place,
        )
        for place, epsilon in enumerate((100, 1))
    ]
    panels = [
        TradeoffPanel("(a)", "dlg", "emd_paper", "EMD, √m"),
        TradeoffPanel("(b)", "dlg", "distance_m", "distance, m"),
    ]
    emd, distance = draw_tradeoffs(rows, panels, "t").axes
    assert [axes.get_title() for axes in (emd, distance)] == ["(a)", "(b)"]
    assert [axes.get_ylabel() for axes in (emd, distance)] == ["EMD, √m", "distance, m"]
    assert emd.get_ylim()[1] < 10 < 250 < distance.get_ylim()[0]
    for axes in (emd, distance):
        assert "dB" in axes.get_xlabel()
        assert [text.get_text() for text in axes.texts] == ["ε 100", "ε 1"]


def test_every_column_ends_with_the_units_of_its_axis():
    rows = [row("fedavg", attack) for attack in ("dlg", "search", "first_layer")]
    figure = draw_tradeoff(rows, "emd_paper", "EMD", "t")
    labelled = [bool(axes.get_xlabel()) for axes in figure.axes[:3]]
    assert labelled == [False, True, True]


def test_nothing_to_draw_is_refused():
    with pytest.raises(UserError, match="no trade-off to draw"):
        draw_tradeoff([], "emd_paper", "EMD", "t")


@pytest.mark.parametrize(("worst_db", "scale"), [(29.0, "linear"), (31.0, "log")])
def test_one_ruined_map_does_not_press_the_others_into_a_corner(worst_db, scale):
    rows = [row("fedavg"), row("fedavg + dp:epsilon=1", rmse_db=worst_db)]
    assert draw_tradeoff(rows, "emd_paper", "EMD", "t").axes[0].get_xscale() == scale
