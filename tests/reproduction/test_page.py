import re
from base64 import b64encode
from collections import Counter
from dataclasses import replace
from html import unescape

import pytest

from tests.reproduction.making import (
    FAILS,
    HOLDS,
    PICTURES,
    UNDECIDED,
    make_board,
    make_entry,
    make_line,
    make_png,
)
from veilmap.reproduction.page import EmbeddedPng, board_page, shares
from veilmap.reproduction.reproduce import reproduce

HOSTILE = "</title><script>window.ran = 1</script><img src=x onerror='window.ran = 1'> {{ 7 * 7 }}"


@pytest.fixture(scope="module")
def html():
    return board_page(make_board(), PICTURES)


def test_it_says_at_the_top_how_many_claims_hold(html):
    words = text_of(html)
    assert (
        "On the simulation, of 6 claims: 2 hold, 2 do not hold, 1 is undecided, "
        "1 is not determined."
    ) in words
    assert "✓ holds 2 ✗ does not hold 2 ? undecided 1 – not determined 1" in words


def test_one_claim_holds_and_two_hold():
    lines = (make_line("a"), make_line("b", FAILS), make_line("c", UNDECIDED))
    board = replace(make_board(), entries=(make_entry("fig:x", "x", lines),))
    words = text_of(board_page(board, {}))
    assert ("On the simulation, of 3 claims: 1 holds, 1 does not hold, 1 is undecided.") in words


def test_the_claims_on_the_other_data_are_counted_by_themselves(html):
    bars = re.findall(r'class="shares svg".*?aria-label="([^"]*)"', html)
    assert bars == [
        "holds 2, does not hold 2, undecided 1, not determined 1",
        "holds 2, does not hold 1",
    ]


def test_it_says_what_it_was_run_on(html):
    facts = text_of(re.search(r'<dl class="facts">.*?</dl>', html, re.DOTALL)[0])
    assert facts == (
        "Data the simulation Beside a town Seeds 5 Computing, on one core 1,140 min "
        "Machine x86_64, 2 cores"
    )


def test_every_claim_is_there_with_its_numbers_and_verdicts(html):
    assert rows_of(html)[0] == [
        "EMD rises with eps",
        "9.6 → 14.5 √m",
        "8.5 → 12.4 √m effect −3.94 (−5.7 to −2.1), 5 seeds",
        "✓ holds",
        "8.5 → 12.4 √m effect −3.94 (−5.7 to −2.1), 5 seeds ✗ does not hold",
        "✗ search : does not hold ? first_layer : undecided – heatmap : not determined",
    ]
    assert [row[0] for row in rows_of(html)] == [
        "EMD rises with eps",
        "fewer points are chosen",
        "RMSE is flat Two tables disagree.",
        "a higher rate diverges",
        "EMD falls with the rate",
        "a third cell agrees",
    ]


def test_a_claim_that_was_not_run_beside_says_so(html):
    assert [row[4] for row in rows_of(html)[3:]] == ["not run there"] * 3


def test_a_claim_without_an_attack_says_that_none_is_involved(html):
    assert [row[5] for row in rows_of(html)[1:]] == ["not involved"] * 5


def test_without_other_data_there_is_no_column_for_them():
    board = make_board(beside=None)
    html = board_page(board, PICTURES)
    assert {len(row) for row in rows_of(html)} == {5}
    assert html.count('class="tally"') == 1
    assert "a town" not in html


def test_every_picture_is_in_the_file_with_its_size_and_words(html):
    address = f"data:image/png;base64,{b64encode(PICTURES['tab-eps.png']).decode()}"
    images = re.findall(r'<img src="([^"]*)" width="320" height="200" [^>]*alt="([^"]*)"', html)
    assert images == [
        (address, "Diverse Batch by eps"),
        (address, "By the learning rate, picture 1 of 2"),
        (address, "By the learning rate, picture 2 of 2"),
    ]


def test_the_size_of_a_picture_is_read_from_its_header():
    picture = EmbeddedPng.of(make_png(31, 17))
    assert (picture.width, picture.height) == (31, 17)


def test_an_entry_tells_how_it_is_made_and_what_failed(html):
    sections = [text_of(each) for each in re.findall(r"<section.*?</section>", html, re.DOTALL)]
    assert sections[0].startswith("fig:where Where users measured veilmap reproduce fig:where Copy")
    assert "One week." in sections[1]
    assert "6 runs, 90 s of computing" in sections[1]
    assert "1 run, 90 min of computing Runs without figures the loss became NaN" in sections[2]


def test_the_list_of_contents_has_every_entry_with_its_verdicts(html):
    items = re.findall(r"<li data-entry=.*?</li>", html, re.DOTALL)
    assert [text_of(each) for each in items] == [
        "Where users measured fig:where",
        "Diverse Batch by eps ✓ ✗ ? tab:eps",
        "By the learning rate ✓ ✗ – fig:rate",
    ]
    for target in re.findall(r'href="#([^"]+)"', html):
        assert f'id="{target}"' in html


def test_one_seed_comes_with_a_warning(html):
    assert "One seed has no interval" not in html
    assert "One seed has no interval" in board_page(make_board(seeds=1), PICTURES)


def test_texts_are_escaped():
    line = make_line(HOSTILE, note=HOSTILE, under=[(HOSTILE, FAILS)], beside=make_line("").here)
    line = replace(line, paper=HOSTILE, here=replace(line.here, values=HOSTILE, effect=HOSTILE))
    entry = make_entry(HOSTILE, HOSTILE, (line,), ("x",), about=HOSTILE, failed=(HOSTILE,))
    board = replace(make_board(), entries=(entry,), data=HOSTILE, beside=HOSTILE, machine=HOSTILE)
    html = board_page(board, {"x": make_png()})
    assert html.count("<script>") == 1
    assert "<img src=x" not in html
    assert "49" not in text_of(html)
    assert HOSTILE in unescape(html)


def test_the_policy_knows_style_and_script_by_their_hashes(html):
    policy = unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1])
    assert "unsafe" not in policy
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "style-src 'sha256-" in policy
    assert not re.search(r"<[^>]+ (?:style|on\w+)=", html)


def test_nothing_outside_the_file_is_named(html):
    places = re.findall(r'(?:src|href|action|srcset|data)="([^"]*)"', html)
    assert {re.match("data:|#", place) is not None for place in places} == {True}
    assert not re.search(r"url\(|@import", html)


def test_the_parts_of_a_bar_fill_it():
    """One of four holds, three are undecided: 0 to 25 and 25 to 100 percent."""
    counts = Counter({HOLDS: 1, UNDECIDED: 3})
    assert list(shares(counts)) == [(HOLDS, 0.0, 25.0), (UNDECIDED, 25.0, 75.0)]


def test_a_board_without_claims_is_a_page_too():
    html = board_page(replace(make_board(), entries=()), {})
    assert "of 0 claims: none" in text_of(html)


def test_a_reproduction_writes_it_with_its_pictures(tmp_path):
    reproduce(["fig:density_maps_uci"], out=tmp_path, quick=True, jobs=1)
    html = (tmp_path / "board.html").read_text()
    picture = (tmp_path / "fig-density_maps_uci.png").read_bytes()
    assert b64encode(picture).decode() in html


def rows_of(html):
    bodies = "".join(re.findall(r"<tbody>.*?</tbody>", html, re.DOTALL))
    rows = re.findall(r"<tr .*?</tr>", bodies, re.DOTALL)
    return [[text_of(cell) for cell in re.findall(CELL, row, re.DOTALL)] for row in rows]


def text_of(html):
    return " ".join(
        unescape(
            re.sub(r"<style>.*?</style>|<script>.*?</script>|<[^>]*>", " ", html, flags=re.DOTALL)
        ).split()
    )


CELL = r"<t[hd] .*?</t[hd]>"
