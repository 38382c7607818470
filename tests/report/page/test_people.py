from dataclasses import replace
from math import inf

import pytest

from tests.report.page.making import PANEL, make_content
from veilmap.metrics.people import HomeErrors
from veilmap.report.page.page import write_page


@pytest.fixture
def opened(tmp_path, open_file):
    write_page(make_content(targets=("0", "1", "2"), with_ground=False), tmp_path / "people.html")
    return open_file(tmp_path / "people.html").page


def cells(page):
    rows = page.locator("#people-chart tbody tr").all()
    return [row.locator("> *").all_inner_texts() for row in rows]


def test_a_line_for_each_configuration_and_the_guesses_beside_them(opened):
    svg = opened.locator("#people-chart svg[role=img]")
    assert svg.locator("path.line").count() == 4 + 2
    # The person who is not located has no mark.
    assert svg.locator(".mark").count() == 4 * 3 - 1
    legend = opened.locator("#people-legend li").all_inner_texts()
    assert legend == [
        *(f"{number} {name}" for number, name in enumerate(PANEL[:4], 1)),
        "blind guess",
        "guess from others' places",
    ]


def test_the_numbers_are_open_and_say_what_is_said_of_people(opened):
    first, second, *_, blind, prior = cells(opened)
    assert first == [PANEL[0], "heatmap", "30", "30", "60", "90", "33 %", "100 %", "100 %"]
    # Of three people one is never located, and 120 m is not within 100 m.
    assert second == [PANEL[1], "heatmap", "60", "60", "120", "–", "0 %", "33 %", "67 %"]
    assert blind == ["blind guess", "blind", "400", "400", "450", "500", "0 %", "0 %", "0 %"]
    assert prior[0] == "guess from others' places"


def test_the_picture_is_said_in_words(opened):
    said = opened.locator("#people-chart svg[role=img]").get_attribute("aria-label")
    assert "Home error over 3 people, under the strongest attack. " in said
    assert f"{PANEL[1]}: 33 % within 100 m, half within 120 m" in said
    assert "blind guess: 0 % within 100 m, half within 450 m" in said


def test_one_person_has_no_distribution(tmp_path, open_file):
    write_page(make_content(), tmp_path / "one.html")
    page = open_file(tmp_path / "one.html").page
    assert not page.locator("#people").is_visible()
    assert not page.locator('nav a[href="#people"]').is_visible()


@pytest.mark.parametrize("errors_m", [(inf, inf), (0.0, 0.0), (0.0, inf)])
def test_what_is_degenerate_leaves_the_page_whole(tmp_path, open_file, errors_m):
    content = make_content(targets=("0", "1"), with_ground=False)
    people = tuple(HomeErrors(name, "search", errors_m) for name in PANEL[:4])
    write_page(replace(content, people=people), tmp_path / "odd.html")
    page = open_file(tmp_path / "odd.html").page
    assert page.locator("#people-chart svg").count() == 1
    assert page.locator("#people-chart tbody tr").count() == 4


def test_a_line_of_many_people_has_one_mark(tmp_path, open_file):
    content = make_content(targets=("0", "1"), with_ground=False)
    many = tuple(float(10 + person) for person in range(200))
    people = tuple(HomeErrors(name, "search", many) for name in PANEL[:4])
    write_page(replace(content, people=people), tmp_path / "many.html")
    page = open_file(tmp_path / "many.html").page
    assert page.locator("#people-chart .mark").count() == 4
    assert "half within 109 m" in page.locator("#people-chart svg[role=img]").get_attribute(
        "aria-label"
    )
