"""Names in reports are shown as they are and obeyed by nobody: terminals, Markdown, spreadsheets, web pages, LaTeX."""

import csv
import html
import io
import re
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

import juryrank
from juryrank.data.build import from_dicts
from juryrank.evaluation.evaluate import Evaluation
from juryrank.report import FORMATS, Table, escape_controls, html_table, markdown_table
from juryrank.report.escapes import escape_formula

NAMES = [
    "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "a\rb", "a\nb", "a\tb", "\x9b31m", "\u202eabc", "a\u2028b", "\x00",
    "<script>alert(1)</script>", "<b>bold</b>", "<!-- x -->", "&lt;", "&amp;", "a&b", "`code`",
    "a|b", "a\\|b", "\\", "*a*", "**a**", "_a_", "my_run_1", "__a__",
    "~~a~~", "[x](http://example.org)", "![x](y.png)", "<http://example.org>", "a\\*b", "=1+1", "+x", "-x", "@SUM(A1)",
    "=cmd|' /C calc'!A0",
    "'", '"', "# a", "- a", "1. a", "> a", "$x_1$", "%", "{a}", "^", "~", "<0.0001", "5 < 6", "[", "]", "*", "[a]",
    "é", "日本語",
]  # fmt: skip
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")  # all but the end of a line


class Texts(HTMLParser):
    """The tags of a page, and the texts of its cells."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.cells: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.tags[-1] in ("td", "th"):
            self.cells[-1] += data.rstrip("\n")


@pytest.mark.parametrize("name", NAMES)
def test_markdown_shows_a_name_as_it_is(name: str) -> None:
    text = markdown_table(Table("", ["name", "n"], [[name, "1"]]))
    page = Texts(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text))
    assert set(page.tags) == {"table", "thead", "tbody", "tr", "th", "td"}
    assert page.cells == ["name", "n", escape_controls(name).strip(), "1"]


@pytest.mark.parametrize("name", NAMES)
def test_titles_and_notes_have_no_markup_of_names(name: str) -> None:
    text = markdown_table(Table(f"Against {name} x", ["n"], [["1"]], note=f"Of {name} alone."))
    page = Texts(MarkdownIt("commonmark").enable("table").render(text))
    assert set(page.tags) == {"p", "strong", "table", "thead", "tbody", "tr", "th", "td"}


@pytest.mark.parametrize("name", NAMES)
def test_a_page_shows_a_name_as_it_is(name: str) -> None:
    page = Texts(html_table(Table("", ["name", "n"], [[name, "1"]])))
    assert set(page.tags) == {"div", "table", "tr", "th", "td"}
    assert page.cells == ["name", "n", escape_controls(name), "1"]


def evaluated() -> Evaluation:
    """A report on consensus of these names, all of them perfect."""
    return juryrank.evaluate({name: {"q": ["a", "b"]} for name in NAMES}, {"q": {"a": 1, "b": 0}}, ["nDCG@10"])


@pytest.mark.parametrize("form", [form for form in FORMATS if form not in ("csv", "json")])
def test_no_report_holds_what_a_terminal_obeys(form: str) -> None:
    text = evaluated().render(form)
    assert OBEYED.findall(text) == []
    assert "<script>" not in text or form == "text"


def test_a_spreadsheet_finds_no_formula_in_a_report() -> None:
    rows = list(csv.reader(io.StringIO(evaluated().render("csv"), newline="")))
    names = [row[rows[0].index("name")] for row in rows[1:]]
    assert names == [f"'{name}" if name[0] in "=+-@\t\r" else name for name in NAMES]
    assert [row[rows[0].index("mean")] for row in rows[1:]] == ["1.0"] * len(NAMES)


def test_numbers_are_no_formulas() -> None:
    for value in (-0.5, "-0.5", "+1", "-1e-05", 7, None, "", True):
        assert escape_formula(value) == value


def test_a_notebook_shows_names_as_they_are() -> None:
    data = from_dicts({name: {"q": ["a", "b"]} for name in NAMES})
    page = data._repr_html_()
    assert OBEYED.findall(page) == []
    assert "<script>" not in page
    assert html.escape("<script>alert(1)</script>") in page
