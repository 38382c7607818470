import csv
import io
import json
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from tests.report.page.making import PANEL, Line, make_content
from veilmap.metrics.panel_row import StepCost
from veilmap.metrics.spread import Spread, Strongest
from veilmap.report.page.page import write_page


def column(page, place):
    cells = page.locator(f"#configurations tbody tr > :nth-child({place})")
    return cells.all_inner_texts()


def test_a_click_sorts_and_another_turns_it_round(town_file, open_file):
    page = open_file(town_file).page
    numbers = column(page, 2)
    head = page.locator("#configurations thead th").nth(2)
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    rising = column(page, 3)
    assert rising == sorted(rising, key=lambda text: float(text.split()[0]))
    assert column(page, 2) != numbers
    head.locator("button").press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert column(page, 3) == rising[::-1]


def test_what_is_not_known_goes_last_in_both_directions(tmp_path, open_file):
    content = make_content()
    rows = [
        Line({**row, "emd_m": None if place == 0 else place})
        for place, row in enumerate(content.rows)
    ]
    write_page(replace(content, rows=rows), tmp_path / "gaps.html")
    page = open_file(tmp_path / "gaps.html").page
    page.locator("#all-rows summary").click()
    button = page.get_by_role("button", name="emd_m", exact=True)
    for first in ("1", str(len(rows) - 1)):
        button.click()
        last = page.locator("#all-rows tbody tr > :last-child").all_inner_texts()
        assert (last[0], last[-1]) == (first, "–")


def test_a_configuration_says_that_it_is_recommended(town_file, open_file):
    page = open_file(town_file).page
    marked = page.locator("#configurations .is-recommended")
    assert "recommended" in marked.inner_text()
    assert marked.count() == 1


def test_all_rows_and_the_history_are_there(town_file, open_file):
    """4 configurations, 2 attacks, 2 seeds, 5 rounds."""
    page = open_file(town_file).page
    for name, lines in (("all-rows", 16), ("all-history", 80)):
        page.locator(f"#{name} summary").click()
        expect(page.locator(f"#{name} tbody tr")).to_have_count(lines)


def test_a_long_table_shows_its_beginning_in_every_order(tmp_path, open_file):
    rows = [Line({"number": number}) for number in range(2_500)]
    write_page(replace(make_content(), rows=rows), tmp_path / "long.html")
    page = open_file(tmp_path / "long.html").page
    page.locator("#all-rows summary").click()
    lines = page.locator("#all-rows tbody tr")
    expect(lines).to_have_count(2_000)
    assert "The first 2,000 of 2,500" in page.locator("#all-rows").inner_text()
    for first in ("0", "2499"):
        page.get_by_role("button", name="number", exact=True).click()
        assert lines.first.inner_text() == first


@pytest.mark.parametrize("name", ["rows", "history"])
def test_a_download_as_json_is_what_went_in(town_file, open_file, name):
    assert json.loads(saved(open_file(town_file), f"{name}.json")) == [
        dict(row) for row in getattr(make_content(), name)
    ]


@pytest.mark.parametrize("name", ["rows", "history"])
def test_a_download_as_csv_has_every_row(town_file, open_file, name):
    lines = list(csv.DictReader(io.StringIO(saved(open_file(town_file), f"{name}.csv"))))
    rows = getattr(make_content(), name)
    assert len(lines) == len(rows)
    assert lines[3]["configuration"] == rows[3]["configuration"]
    assert float(lines[3]["distance_m"]) == rows[3]["distance_m"]


def test_a_text_that_a_spreadsheet_would_run_is_made_harmless(tmp_path, open_file):
    content = make_content()
    rows = [
        Line({"target": text, "loss_db": -1.5})
        for text in ("=1+1", "+1", "-1", "@SUM(A1)", "\tx", 'a "quoted", name', "plain")
    ]
    write_page(replace(content, rows=rows), tmp_path / "formulas.html")
    text = saved(open_file(tmp_path / "formulas.html"), "rows.csv")
    lines = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [line["target"] for line in lines] == [
        "'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\tx", 'a "quoted", name', "plain",
    ]  # fmt: skip
    assert {line["loss_db"] for line in lines} == {"-1.5"}


def saved(opened, name):
    with opened.page.expect_download() as download:
        opened.page.locator(f'[data-download="{name}"]').click()
    assert download.value.suggested_filename == f"veilmap-{name}"
    return download.value.path().read_bytes().decode()


def cells(table):
    """Row by row, with plain spaces."""
    rows = table.locator("tbody tr").all()
    return [
        [text.replace("\u00a0", " ") for text in row.locator("> *").all_inner_texts()]
        for row in rows
    ]


def by_hand():
    """Three configurations whose every number is known; home is not found in a run of dp."""
    content = make_content(PANEL[:3], attacks=("dlg", "search"), seeds=(0, 1, 2))
    homes_m = {"dlg": (10.0, 906.0, 34.0), "search": (300.0, None, None)}
    rows = [
        Line({**row, "home_error_m": homes_m[row["attack"]][seed], "rmse_db": 5.0 + seed})
        for row in content.rows
        for seed in [row["seed"]]
    ]
    first, second, third = content.configurations
    later = Strongest("search", Spread(21.0, 9.0, 60.0))
    figures = {
        "home_error_m": Strongest("dlg", Spread(34.0, 10.0, 906.0), later),
        "recall_50m": Strongest("search", Spread(0.4, 0.2, 0.6)),
    }
    rmse_db = Spread(6.0, 5.0, 7.0)
    cost = StepCost("dp:epsilon=100", 12.0, 3.5, 40.0, {"epsilon": 250.0})
    given = {"strongest": figures, "rmse_db": rmse_db}
    configurations = (
        replace(
            first,
            **given,
            rmse_loss_db=0.0,
            points_share=1.0,
            is_on_frontier=True,
            skill_by_place=0.312,
            share_of_central=0.42,
        ),
        replace(
            second,
            **given,
            rmse_loss_db=-0.25,
            points_share=0.004,
            is_on_frontier=False,
            dominated_by=PANEL[2],
        ),
        replace(third, **given, rmse_loss_db=1.5, points_share=0.5, costs=(cost,)),
    )
    return replace(content, configurations=configurations, rows=rows)


def test_the_tables_say_what_the_content_says(tmp_path, open_file):
    write_page(by_hand(), tmp_path / "hand.html")
    page = open_file(tmp_path / "hand.html").page
    first, second, third = cells(page.locator("#configurations"))
    assert first[1:6] == ["1", "6.00 (5.00 to 7.00)", "0.00", "0.31", "42 %"]
    assert first[6:10] == ["100 %", "34 (10 to 906)", "dlg", "21 search"]
    assert (first[13], first[14]) == ("40 %", "on it")
    assert (second[3], second[6], second[14]) == ("−0.25", "0.4 %", "beaten by 3")
    assert second[4:6] == ["–", "–"]
    assert third[3] == "+1.50"
    costs = page.locator("#cost-charts figure")
    for number, value in enumerate(("12", "3.5", "40")):
        costs.nth(number).locator("summary").click()
        row = cells(costs.nth(number))[-1]
        assert row[1:] == ["dp:epsilon=100", value, "epsilon 250"]


def test_a_run_without_a_home_counts_as_infinitely_far(tmp_path, open_file):
    """Dlg has 10, 906 and 34 m; search has 300 m once and twice no home."""
    write_page(by_hand(), tmp_path / "hand.html")
    page = open_file(tmp_path / "hand.html").page
    page.locator("#first-figure").select_option("0")
    numbers = page.locator("#tradeoff-charts figure").first
    numbers.locator("summary").click()
    page.locator("#tradeoff-attack").select_option("1")
    assert {row[2] for row in cells(numbers)} == {"34 (10 to 906)"}
    page.locator("#tradeoff-attack").select_option("2")
    assert cells(numbers) == []
    assert "(finds nothing in most runs: 1, 2, 3)" in numbers.inner_text()


def test_without_a_home_the_page_speaks_of_the_heaviest_place(tmp_path, open_file):
    content = make_content()
    why = "no measurement between 22:00 and 07:00 at a main place"
    drives = [
        Line({**row, "true_home_by": "weight", "no_home": why, "home_error_m": 43.0})
        for row in content.rows
    ]
    write_page(replace(content, rows=drives), tmp_path / "drives.html")
    page = open_file(tmp_path / "drives.html").page
    heads = page.locator("#configurations th").all_inner_texts()
    assert "Error of the heaviest place, m" in heads
    assert "Home error, m" not in heads
    assert "Error of the heaviest place" in page.locator("#facts").inner_text()
    expect(page.locator("#map-caption")).to_contain_text(
        f"43 m from the heaviest place. The cell's data name no home of this user: {why}."
    )
    # Of two users one has a home: then it is the home error again.
    mixed = [Line({**row, "true_home_by": "hours", "no_home": None}) for row in content.rows]
    write_page(replace(content, rows=[*drives, *mixed]), tmp_path / "mixed.html")
    heads = open_file(tmp_path / "mixed.html").page.locator("#configurations th").all_inner_texts()
    assert "Home error, m" in heads


def test_the_guesses_stand_beside_the_figures_of_what_is_selected(tmp_path, open_file):
    content = by_hand()
    first = content.rows[0]
    own = {key: first[key] for key in ("configuration", "target")}
    guess = {"attack": "blind", "seed": 0, "home_error_m": 565.2, "emd_paper": None}
    write_page(replace(content, guesses=[Line({**own, **guess})]), tmp_path / "facts.html")
    page = open_file(tmp_path / "facts.html").page
    assert page.locator("#facts dd.beside").all_inner_texts() == ["blind guess 565"]
