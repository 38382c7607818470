"""Who reads it, and how: narrow, dark, printed, with the keyboard, with a screen reader."""

import re
from importlib.resources import files

import pytest

PALETTE = (files("veilmap.report.frame") / "assets/styles/palette.css").read_text()


@pytest.mark.parametrize("width", [320, 375, 860])
def test_a_narrow_screen_scrolls_in_one_direction_only(town_file, open_file, width):
    page = open_file(town_file, width=width).page
    for summary in page.locator("details > summary").all():
        summary.click()
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_a_dark_system_gets_a_dark_page_and_map(town_file, open_file):
    light, dark = open_file(town_file), open_file(town_file, color_scheme="dark")
    assert background(light.page) == "rgb(255, 255, 255)"
    assert background(dark.page) == "rgb(18, 22, 29)"
    assert light.picture() != dark.picture()


def test_the_reader_can_choose_the_other_colours(town_file, open_file):
    opened = open_file(town_file)
    light = opened.canvases()
    opened.page.locator("#theme").click()
    assert background(opened.page) == "rgb(18, 22, 29)"
    assert opened.canvases() != light
    opened.page.locator("#theme").click()
    assert opened.canvases() == light


def test_the_tabulator_reaches_all_controls_in_reading_order(town_file, open_file):
    page = open_file(town_file).page
    reached = []
    for _ in range(70):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))
    wanted = [
        "theme", "configuration", "attack", "map", "whole-area", "play", "all-rounds", "round",
        "layer-truth", "layer-signal", "first-figure", "tradeoff-attack",
    ]  # fmt: skip
    assert [each for each in dict.fromkeys(reached) if each in wanted] == wanted


def test_the_first_tabulator_skips_to_the_content(town_file, open_file):
    page = open_file(town_file).page
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"


def test_arrow_keys_move_the_round(town_file, open_file):
    opened = open_file(town_file)
    before = opened.picture()
    opened.page.locator("#round").focus()
    opened.page.keyboard.press("ArrowRight")
    slider = opened.page.locator("#round")
    assert slider.get_attribute("aria-valuetext") == "Round 1, from 2024-03-02 00:00"
    assert opened.picture() != before


def test_every_control_has_a_name(town_file, open_file):
    nameless = open_file(town_file).page.evaluate(
        """[...document.querySelectorAll("button, select, input, a, summary, [tabindex='0']")]
          .filter(each => !(each.ariaLabel || each.textContent.trim() || each.labels?.length
            || each.getAttribute("aria-labelledby")))
          .map(each => each.outerHTML)"""
    )
    assert nameless == []


def test_an_id_is_given_once(town_file, open_file):
    page = open_file(town_file).page
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(each => each.id)")
    assert len(ids) == len(set(ids))


def test_paper_is_light_and_has_no_controls(town_file, open_file):
    page = open_file(town_file, color_scheme="dark").page
    page.emulate_media(media="print", color_scheme="dark")
    assert background(page) == "rgb(255, 255, 255)"
    for control in ("#play", "#theme", "nav", ".downloads"):
        assert not page.locator(control).is_visible()
    assert page.locator("#map").is_visible()


def test_the_map_fits_on_paper_and_comes_back(town_file, open_file):
    opened = open_file(town_file)
    before = opened.canvases()
    opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert opened.page.locator("#map").bounding_box()["width"] == 704
    opened.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert opened.canvases() == before


def test_a_command_is_copied(town_file, open_file):
    page = open_file(town_file, permissions=["clipboard-read", "clipboard-write"]).page
    page.locator("[data-copy=advice-command]").click()
    page.locator("text=Copied").first.wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.locator("#advice-command").text_content()


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("text", "ground"),
    [
        ("ink", "paper"), ("ink", "panel"), ("ink", "warn"), ("ink", "good"),
        ("ink-soft", "paper"), ("ink-soft", "panel"), ("good-ink", "good"), ("good-ink", "panel"),
        ("link", "paper"), ("on-press", "press"),
        ("holds-text", "holds-tint"), ("fails-text", "fails-tint"),
        ("undecided-text", "undecided-tint"), ("unknown-text", "unknown-tint"),
        ("on-verdict", "holds"), ("on-verdict", "fails"),
        ("on-verdict", "undecided"), ("on-verdict", "unknown"),
    ],
)  # fmt: skip
def test_text_stands_out_from_its_ground(theme, text, ground):
    assert contrast(colour(text, theme), colour(ground, theme)) >= 4.5


def background(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def colour(name, theme):
    both = re.search(rf"--{name}: light-dark\((#\w+), (#\w+)\);", PALETTE)
    return [int(both[1 + theme][place : place + 2], 16) / 255 for place in (1, 3, 5)]


def contrast(one, other):
    """The ratio of WCAG 2."""
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def luminance(rgb):
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in rgb]
    return sum(part * weight for part, weight in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))
