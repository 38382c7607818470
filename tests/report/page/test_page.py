import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from tests.report.page.making import ATTACKS, LAT_DEG, LON_DEG, PANEL, Line, make_content
from veilmap.errors import UserError
from veilmap.metrics.panel_row import StepCost
from veilmap.metrics.verdict import Verdict
from veilmap.report.page import assets
from veilmap.report.page.content import Made
from veilmap.report.page.page import page_html, write_page

HOSTILE = (
    "</script><script>window.ran = 1</script><!-- <img src=x onerror='window.ran = 1'> "
    '&amp; "quoted" {{ 7 * 7 }} \u2028'
)


def test_it_opens_from_the_disk_and_asks_for_nothing(town_file, open_file):
    opened = open_file(town_file)
    assert opened.requests == [opened.address]
    assert opened.page.title() == "Audit of a made-up town"


def test_it_says_that_it_holds_positions(town_file, open_file):
    notice = open_file(town_file).page.locator(".notice").first.inner_text()
    assert notice == "This file shows where people were; protect it like the data."


def test_without_a_ground_there_is_no_map_and_the_rest_works(redacted_file, open_file):
    opened = open_file(redacted_file)
    assert opened.page.locator("#map").count() == 0
    assert "contains no positions" in opened.page.locator(".notice").first.inner_text()
    before = opened.picture("#round-charts")
    opened.page.locator("#attack").select_option("1")
    assert opened.picture("#round-charts") != before


def test_without_a_ground_no_coordinate_is_in_the_file(redacted_file):
    text = redacted_file.read_text()
    assert json.loads(payload_of(text))["ground"] is None
    for degrees in (LAT_DEG, LON_DEG):
        near = "|".join(f"{degrees + place / 100:.2f}" for place in range(-2, 3))
        assert not re.search(rf"\b({near})\d\d", text)


def test_a_campus_takes_less_than_3_mb():
    content = make_content(PANEL, ATTACKS, seeds=(0, 1, 2), rounds=11, points=30_000, cells=200)
    whole = {(name, "0"): content.ground.truth["0"] for name in PANEL}
    heat = {key: content.ground.found[key[0], "heatmap", key[2]] for key in content.ground.found}
    largest = replace(content, ground=replace(content.ground, chosen=whole, found=heat))
    assert len(page_html(largest).encode()) < 3_000_000


def test_texts_from_the_data_are_shown_and_never_run(tmp_path, open_file):
    write_page(hostile_content(), tmp_path / "hostile.html")
    opened = open_file(tmp_path / "hostile.html")
    page = opened.page
    for summary in page.locator("details > summary").all():
        summary.click()
    for select in ("configuration", "attack", "target", "tradeoff-attack"):
        page.locator(f"#{select}").select_option("1")
    page.locator("#round").fill("1")
    opened.settle()
    assert page.evaluate("window.ran") is None
    assert page.locator("img:not(.leaflet-image-layer)").count() == 0
    assert page.title() == HOSTILE
    for place in ("h1", ".headline", ".sentences li", "#advice-command", "#made-settings"):
        assert page.locator(place).first.text_content() == HOSTILE
    for select in ("configuration", "attack", "target"):
        texts = page.locator(f"#{select} option").evaluate_all("all => all.map(x => x.textContent)")
        assert texts[0] == HOSTILE
    for table in (
        "#configurations",
        "#all-rows",
        "#all-history",
        "#cost-charts figure:first-child",
    ):
        names = page.locator(f"{table} tbody th").evaluate_all("all => all.map(x => x.textContent)")
        assert any(name.startswith(HOSTILE) for name in names)
    assert HOSTILE in page.locator("#round-text").text_content()


def test_no_element_and_no_attribute_comes_from_the_data():
    """The page of hostile texts has the same elements as that of plain ones."""

    def elements(html):
        found = []
        parser = HTMLParser()
        parser.handle_starttag = lambda tag, attributes: found.append((tag, attributes))
        parser.feed(html)
        return found

    hostile = f"{HOSTILE} javascript:alert(1) ' onload=x \u202e\u2066"
    assert elements(page_html(hostile_content(hostile))) == elements(
        page_html(hostile_content("plain"))
    )


def test_our_scripts_never_make_markup_of_text():
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write", assets.script())


def test_the_policy_stops_a_script_that_is_not_ours(tmp_path, open_file):
    html = page_html(make_content()).replace("<main", "<script>window.ran = 1</script><main", 1)
    (tmp_path / "broken.html").write_text(html)
    opened = open_file(tmp_path / "broken.html")
    assert opened.page.evaluate("window.ran") is None
    assert "Content Security Policy" in opened.errors.pop()


def test_what_json_lacks_becomes_unknown():
    content = make_content()
    rows = [Line({**content.rows[0], "distance_m": np.inf, "emd_m": np.float64("nan")})]
    packed = json.loads(payload_of(page_html(replace(content, rows=rows))))["rows"]
    row = dict(zip(packed["columns"], packed["values"][0], strict=True))
    assert row["distance_m"] is None
    assert row["emd_m"] is None


def test_tiles_must_be_a_template():
    with pytest.raises(UserError, match=r"with \{z\}, \{x\} and \{y\}.*got 'https://x.org'"):
        page_html(make_content(), "https://x.org")


def test_tiles_cannot_loosen_the_policy():
    with pytest.raises(UserError, match="tiles must be a web address"):
        page_html(make_content(), "https://x.org; script-src */{z}/{x}/{y}.png")


def test_any_server_of_a_host_may_send_tiles():
    html = page_html(make_content(), "https://{s}.x.org:8080/{z}/{x}/{y}.png")
    assert "img-src data: blob: https://*.x.org:8080;" in html
    assert "Background © x.org:8080" in html


def test_facts_of_the_data_are_written_for_people(town_file, open_file):
    facts = open_file(town_file).page.locator("#made .pairs").first.inner_text()
    assert "2,000" in facts
    assert "no signal: 3" in facts


def test_it_can_be_made_without_advice(tmp_path, open_file):
    content = make_content()
    verdict = replace(content.verdict, advice=None, knows=(), oracle=(), sentences=())
    write_page(replace(content, verdict=verdict), tmp_path / "plain.html")
    page = open_file(tmp_path / "plain.html").page
    assert page.locator("#advice").count() == 0
    assert "Nothing beyond the updates." in page.locator("#attacker").inner_text()


def payload_of(html):
    return re.search(r'id="payload">(.*?)</script>', html, re.DOTALL)[1]


def hostile_content(text=HOSTILE):
    """Every text that can come from the data or the command line is hostile."""
    content = make_content((text, f"x + {text}"), (text, "heatmap"), (text, "b"))
    advice = replace(
        content.verdict.advice, configuration=text, words=text, command=text, toml=text
    )
    configurations = tuple(
        replace(each, costs=(StepCost(text, 1.0, 1.0, 0.0, {text: 1.0}),))
        for each in content.configurations
    )
    return replace(
        content,
        title=text,
        verdict=Verdict(text, (text,), (text,), (text,), advice),
        configurations=configurations,
        rows=[Line({**row, text: text}) for row in content.rows],
        made=Made(text, text, (0,), {text: text}, {text: text}, 1.0),
        ground=replace(content.ground, starts=(text,) * len(content.ground.rounds)),
    )


def test_advice_that_misses_the_bounds_is_no_recommendation(tmp_path, open_file):
    content = make_content()
    advice = replace(content.verdict.advice, is_met=False)
    verdict = replace(content.verdict, advice=advice)
    write_page(replace(content, verdict=verdict), tmp_path / "missed.html")
    words = open_file(tmp_path / "missed.html").page.locator("#advice").inner_text()
    assert "No configuration is recommended." in words
    assert "★" not in words
