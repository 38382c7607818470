from dataclasses import replace

import pytest

from tests.report.page.making import PANEL, Line, make_content
from veilmap.metrics.spread import Spread, Strongest
from veilmap.report.page.page import write_page


def test_every_chart_has_words_and_a_table(town_file, open_file):
    page = open_file(town_file).page
    charts = page.locator("figure.chart")
    assert charts.count() == 9
    for place in range(charts.count()):
        svg = charts.nth(place).locator("svg[role=img]")
        assert svg.get_attribute("aria-label").count(" ") > 5
        assert svg.locator("> title").text_content()
        assert charts.nth(place).locator("table tbody tr").count() > 0


def test_another_figure_draws_another_chart(town_file, open_file):
    opened = open_file(town_file)
    before = opened.picture("#tradeoff-charts figure:first-child .drawing")
    opened.page.locator("#first-figure").select_option("2")
    assert opened.picture("#tradeoff-charts figure:first-child .drawing") != before
    title = opened.page.locator("#tradeoff-charts figcaption").first.inner_text()
    assert "Distance to the centroid" in title


def test_a_single_attack_has_its_median_over_seeds_in_the_table(tmp_path, open_file):
    content = make_content(PANEL[:1], seeds=(0, 1))
    rows = [Line({**row, "emd_paper": 10.0 + 2 * row["seed"]}) for row in content.rows]
    write_page(replace(content, rows=rows), tmp_path / "seeds.html")
    page = open_file(tmp_path / "seeds.html").page
    page.locator("#tradeoff-attack").select_option("1")
    numbers = page.locator("#tradeoff-charts figure").nth(1).locator(".numbers")
    numbers.locator("summary").click()
    assert "10.0 (10.0\u00a0to\u00a012.0)" in numbers.inner_text()


def test_the_frontier_has_those_that_no_other_beats(tmp_path, open_file):
    """RMSE 5, 6, 7 dB and figures 10, 30, 20: the third is beaten by the second."""
    content = make_content(PANEL[:3])
    configurations = tuple(
        replace(
            each,
            rmse_db=Spread(rmse_db, rmse_db, rmse_db),
            strongest={
                name: replace(best, figure=Spread(hidden, hidden, hidden))
                for name, best in each.strongest.items()
            },
        )
        for each, rmse_db, hidden in zip(
            content.configurations, (5.0, 6.0, 7.0), (10.0, 30.0, 20.0), strict=True
        )
    )
    write_page(replace(content, configurations=configurations), tmp_path / "frontier.html")
    chart = open_file(tmp_path / "frontier.html").page.locator("#tradeoff-charts svg[role=img]")
    words = chart.first.get_attribute("aria-label")
    assert f"On the frontier: {PANEL[0]}: 5.00 dB, 10 m; {PANEL[1]}: 6.00 dB, 30 m." in words
    assert f"{PANEL[2]}:" not in words


def test_the_frontier_goes_no_higher_than_a_guess(tmp_path, open_file):
    """The strongest attack leaves 10 and 900 m, a blind guess 570 m; what none finds has 570 m."""
    content = make_content(PANEL[:3])
    guesses = {"home_error_m": (Strongest("blind", Spread(570.0, 570.0, 570.0)),)}
    figures = (Spread(10.0, 10.0, 10.0), Spread(900.0, 900.0, 900.0), None)
    configurations = tuple(
        replace(
            each,
            rmse_db=Spread(rmse_db, rmse_db, rmse_db),
            strongest={} if figure is None else {"home_error_m": Strongest("dlg", figure)},
            guesses=guesses,
        )
        for each, rmse_db, figure in zip(
            content.configurations, (5.0, 7.0, 6.0), figures, strict=True
        )
    )
    write_page(replace(content, configurations=configurations), tmp_path / "guess.html")
    page = open_file(tmp_path / "guess.html").page
    words = page.locator("#tradeoff-charts svg[role=img]").first.get_attribute("aria-label")
    assert f"On the frontier: {PANEL[0]}: 5.00 dB, 10 m; {PANEL[2]}: 6.00 dB, 570 m." in words
    assert words.endswith("Blind guess: 570 m.")
    title = page.locator("#tradeoff-charts figcaption").first.inner_text()
    assert "finds nothing in most runs: 3" in title
    said = "Home error without any message: blind guess 570 m."
    assert page.locator("#guesses").inner_text() == said


def test_a_figure_that_no_attack_has_leaves_the_page_whole(tmp_path, open_file):
    content = make_content()
    configurations = tuple(replace(each, strongest={}, costs=()) for each in content.configurations)
    bare = replace(content, configurations=configurations, rows=[], history=[])
    write_page(bare, tmp_path / "bare.html")
    page = open_file(tmp_path / "bare.html").page
    assert page.locator("#configurations tbody tr").count() == 4
    assert not page.locator("#cost").is_visible()


@pytest.mark.parametrize("rounds", [1, 40])
def test_few_and_many_rounds_are_drawn(tmp_path, open_file, rounds):
    write_page(make_content(rounds=rounds), tmp_path / "rounds.html")
    page = open_file(tmp_path / "rounds.html").page
    assert page.locator("#round").get_attribute("max") == str(rounds)
    assert page.locator("#round-charts circle.dot").count() > 0


def test_the_theorem_is_held_to_the_first_seed_and_to_what_was_trained_on(tmp_path, open_file):
    content = make_content(PANEL[:1], seeds=(0, 1), rounds=2)
    history = [
        Line(
            {
                **row,
                "distance_trained_m": 10.0 * row["round"] + 1000 * row["seed"],
                "distance_m": 7.0,
                "bound_m": 40.0 if row["seed"] == 0 else None,
            }
        )
        for row in content.history
    ]
    write_page(replace(content, history=history), tmp_path / "theorem.html")
    figure = open_file(tmp_path / "theorem.html").page.locator("#round-charts figure").last
    figure.locator("summary").click()
    rows = [row.locator("> *").all_inner_texts() for row in figure.locator("tbody tr").all()]
    assert [(row[1], row[3]) for row in rows] == [("10", "40"), ("20", "40")]


def marks(page):
    """Colour and shape of each configuration in the legend."""
    return page.evaluate(
        """() => [...document.querySelectorAll("#tradeoff-legend .mark")].map((mark) =>
            [getComputedStyle(mark).fill, mark.getAttribute("points") ?? "circle"])"""
    )


def test_a_defence_of_a_stranger_has_a_look_of_its_own(tmp_path, open_file):
    names = (*PANEL, "fedavg + first:num=3", "fedavg + second", "fedsgd + first:num=3")
    write_page(make_content(names), tmp_path / "strangers.html")
    page = open_file(tmp_path / "strangers.html").page
    *ours, first, second, hollow = marks(page)
    assert len({*map(tuple, ours), tuple(first), tuple(second)}) == len(PANEL) + 2
    assert hollow[1] == first[1]
    assert hollow[0] != first[0]
    alone = make_content((PANEL[0], "fedavg + first:num=9"))
    write_page(alone, tmp_path / "alone.html")
    assert marks(open_file(tmp_path / "alone.html").page)[1] == first


def test_six_kinds_of_maps_are_told_apart(tmp_path, open_file):
    """Each of them is a star, because none has a defence."""
    names = ("fedavg", "fedsgd", *(f"map{number}" for number in range(4)))
    write_page(make_content(names), tmp_path / "maps.html")
    opened = open_file(tmp_path / "maps.html")
    places = [f"#tradeoff-legend li:nth-child({place}) svg" for place in range(1, 7)]
    assert len({opened.picture(place) for place in places}) == 6
    assert len({points for _, points in marks(opened.page)}) == 1


def test_an_attack_has_the_same_colour_whichever_others_there_are(tmp_path, open_file):
    def line(attacks, chosen):
        write_page(make_content(attacks=attacks), tmp_path / "attacks.html")
        page = open_file(tmp_path / "attacks.html").page
        page.locator("#attack").select_option(str(attacks.index(chosen)))
        path = page.locator("#round-charts path").first
        return path.evaluate("path => getComputedStyle(path).stroke")

    heatmap = line(("heatmap",), "heatmap")
    assert line(("dlg", "heatmap", "mine:depth=3"), "heatmap") == heatmap == "rgb(204, 121, 167)"
    mine = line(("dlg", "heatmap", "mine:depth=3"), "mine:depth=3")
    assert mine == line(("mine:depth=3",), "mine:depth=3") != heatmap
