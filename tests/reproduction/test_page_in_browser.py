from dataclasses import replace

import pytest

from tests.reproduction.making import PICTURES, make_board, make_entry, make_line, make_png
from tests.reproduction.test_page import HOSTILE
from veilmap.reproduction.page import board_page


@pytest.fixture(scope="module")
def board_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("board") / "board.html"
    path.write_text(board_page(make_board(), PICTURES))
    return path


@pytest.fixture
def opened(board_file, open_file):
    return open_file(board_file)


def test_it_opens_from_the_disk_and_asks_for_nothing(opened):
    assert opened.requests == [opened.address]
    assert opened.page.title() == "The paper, claim by claim"


def test_a_verdict_hides_the_claims_of_the_others_and_counts(opened):
    page = opened.page
    assert page.locator("#shown").inner_text() == "All 6 claims"
    choose(page, "fails")
    assert claims(page) == ["fewer points are chosen", "EMD falls with the rate"]
    assert page.locator("#shown").inner_text() == "2 of 6 claims"
    assert entries(page) == ["tab-eps", "fig-rate"]
    assert contents(page) == ["tab-eps", "fig-rate"]


def test_several_verdicts_are_shown_together(opened):
    choose(opened.page, "undecided")
    choose(opened.page, "unknown")
    assert claims(opened.page) == ["RMSE is flat", "a third cell agrees"]
    choose(opened.page, "unknown")
    assert claims(opened.page) == ["RMSE is flat"]


def test_words_are_looked_for_in_claims_titles_and_labels(opened):
    page = opened.page
    page.locator("#words").fill("emd RATE")
    assert claims(page) == ["EMD falls with the rate"]
    page.locator("#words").fill("tab:eps")
    assert len(claims(page)) == 3
    page.locator("#words").fill("measured")
    assert entries(page) == ["fig-where"]


def test_words_and_verdicts_work_together_and_everything_comes_back(opened):
    page = opened.page
    choose(page, "holds")
    page.locator("#words").fill("flat")
    assert claims(page) == []
    assert page.locator("#nothing").is_visible()
    page.locator("#everything").click()
    assert len(claims(page)) == 6
    assert entries(page) == ["fig-where", "tab-eps", "fig-rate"]
    assert not page.locator("#nothing").is_visible()
    assert not page.locator("#everything").is_visible()


def test_a_command_is_copied(board_file, open_file):
    page = open_file(board_file, permissions=["clipboard-read", "clipboard-write"]).page
    page.locator("[data-copy=tab-eps-command]").click()
    page.locator("text=Copied").first.wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "veilmap reproduce tab:eps"


def test_a_picture_is_enlarged_in_place_with_the_keyboard(tmp_path, open_file):
    path = tmp_path / "board.html"
    pictures = dict.fromkeys(PICTURES, make_png(1080, 850))
    path.write_text(board_page(make_board(), pictures))
    page = open_file(path).page
    button = page.locator("#tab-eps .picture")
    small = button.locator("img").bounding_box()["width"]
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    assert button.locator("img").bounding_box()["width"] > 2 * small
    page.keyboard.press("Enter")
    assert button.locator("img").bounding_box()["width"] == small


@pytest.mark.parametrize("width", [320, 390, 860, 1000, 1400])
def test_the_page_never_scrolls_sideways(board_file, open_file, width):
    page = open_file(board_file, width=width).page
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_on_a_phone_every_cell_is_named(board_file, open_file):
    page = open_file(board_file, width=390).page
    cells = page.locator(".claims tbody tr").first.locator("td")
    names = cells.evaluate_all("all => all.map(x => getComputedStyle(x, '::before').content)")
    assert names == ['"The paper"', '"Here"', '"Verdict"', '"On a town"', '"Other attackers"']
    tops = cells.evaluate_all("all => all.map(x => x.getBoundingClientRect().top)")
    assert tops == sorted(set(tops))


def test_without_scripts_everything_is_readable(board_file, browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(board_file.as_uri())
    rows, pictures = page.locator(".claims tbody tr"), page.locator(".picture img")
    assert [row.is_visible() for row in rows.all()] == [True] * 6
    assert [each.is_visible() for each in pictures.all()] == [True] * 3
    for control in ("#filter", "#theme", "[data-copy]"):
        assert not page.locator(control).first.is_visible()
    context.close()


def test_paper_has_all_claims_in_light_colours_and_no_controls(board_file, open_file):
    page = open_file(board_file, color_scheme="dark").page
    choose(page, "fails")
    page.emulate_media(media="print", color_scheme="dark")
    assert len(claims(page)) == 6
    assert page.locator(".picture").first.is_visible()
    assert background(page) == "rgb(255, 255, 255)"
    for control in ("#filter", "#theme", "[data-copy]"):
        assert not page.locator(control).first.is_visible()


def test_a_dark_system_gets_a_dark_page_until_the_reader_says_otherwise(board_file, open_file):
    page = open_file(board_file, color_scheme="dark").page
    assert background(page) == "rgb(18, 22, 29)"
    page.locator("#theme").click()
    assert background(page) == "rgb(255, 255, 255)"


def test_the_tabulator_reaches_filter_contents_and_entries_in_order(opened):
    reached = []
    for _ in range(16):
        opened.page.keyboard.press("Tab")
        reached.append(
            opened.page.evaluate(
                "(x => x.id || x.dataset.outcome || x.dataset.copy || x.getAttribute('href')"
                " || x.className)(document.activeElement)"
            )
        )
    assert reached == [
        "#content", "theme", "holds", "fails", "undecided", "unknown", "words", "#fig-where",
        "#tab-eps", "#fig-rate", "fig-where-command", "tab-eps-command", "picture",
        "fig-rate-command", "picture", "picture",
    ]  # fmt: skip


def test_an_id_is_given_once(opened):
    ids = opened.page.evaluate("[...document.querySelectorAll('[id]')].map(each => each.id)")
    assert len(ids) == len(set(ids))


def test_texts_are_shown_and_never_run(tmp_path, open_file):
    entry = make_entry(HOSTILE, HOSTILE, (make_line(HOSTILE),), failed=(HOSTILE,))
    path = tmp_path / "hostile.html"
    path.write_text(board_page(replace(make_board(), entries=(entry,)), {}))
    page = open_file(path).page
    assert page.evaluate("window.ran") is None
    assert page.locator(".entry h2").text_content() == HOSTILE
    assert claims(page) == [HOSTILE]


def choose(page, outcome):
    page.locator(f"#filter [data-outcome={outcome}]").click()


def claims(page):
    rows = page.locator(".claims tbody tr")
    return [
        row.locator("th").inner_text().partition("\n")[0] for row in rows.all() if row.is_visible()
    ]


def entries(page):
    return [each.get_attribute("id") for each in page.locator(".entry").all() if each.is_visible()]


def contents(page):
    items = page.locator(".contents li")
    return [each.get_attribute("data-entry") for each in items.all() if each.is_visible()]


def background(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")
