"""Texts of files and of data stay texts: the page is read by an oracle, rich's Markdown parser."""

from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from tests.reproduction.making import make_board
from veilmap.reproduction.markdown import board_markdown, code, plain

HOSTILE = (
    "a | b `c` <script>alert(1)</script>",
    "[x](javascript:alert(1)) ![y](http://z/t.png)",
    "\n\n# head\n\n- one\n| a | b |\n| --- | --- |\n",
    "</td></tr></table><img src=x onerror=alert(1)>",
    "&lt;script&gt; &#106;avascript: \\| \\` \\\\ ``` ~~s~~ **b** _i_ <http://a.b>",
    "```\n<b>",
)


def parsed(text):
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)


def kinds(text):
    """What the parser takes the page for, without its words."""
    flat = [each for block in parsed(text) for each in (block, *(block.children or ()))]
    return [each.type for each in flat if each.type != "text"]


def words(text):
    """All but what stands for a picture, of which the parser keeps the source."""
    spans = [each for block in parsed(text) for each in block.children or ()]
    return "".join(each.content for each in spans if each.type != "image")


def with_text(text):
    """A board that has the text wherever a file or another's results may have put it."""
    board = make_board()

    def of(finding):
        return finding and replace(finding, values=text, effect=text)

    def line(each):
        given = {"says": text, "paper": text, "note": each.note and text}
        return replace(each, **given, here=of(each.here), beside=of(each.beside))

    def entry(each):
        lines, failed = tuple(map(line, each.lines)), (text,) * len(each.failed)
        about = each.about and text
        return replace(each, title=text, about=about, command=text, lines=lines, failed=failed)

    return replace(board, data=text, beside=text, entries=tuple(map(entry, board.entries)))


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_changes_nothing_but_the_words(text):
    page, usual = (board_markdown(with_text(each), "page/") for each in (text, "plain words"))
    assert kinds(page) == kinds(usual)
    shown = " ".join(text.split())
    assert words(page).count(shown) == words(usual).count("plain words") > 40


@pytest.mark.parametrize("text", HOSTILE[1:2] + HOSTILE[3:5])
def test_the_search_for_other_kinds_can_fail(text):
    row = "| a |\n| --- |\n| {} |"
    assert kinds(row.format(text)) != kinds(row.format("plain words"))
    assert kinds(row.format(plain(text))) == kinds(row.format("plain words"))


@pytest.mark.parametrize("text", ["a", "`", "``a`", "a `` b", "a\nb"])
def test_code_is_one_span_with_its_text(text):
    (block,) = [each for each in parsed(code(text)) if each.children]
    assert [each.type for each in block.children] == ["code_inline"]
    assert block.children[0].content.strip() == " ".join(text.split())


def test_the_folder_of_a_page_may_have_any_name():
    text = board_markdown(make_board(), "my page) (1) <b>/")
    images = [span for each in parsed(text) for span in each.children or () if "src" in span.attrs]
    assert images[0].attrs["src"] == "my%20page%29%20%281%29%20%3Cb%3E/tab-eps.png"
