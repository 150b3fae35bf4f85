"""Reports in every format."""

import csv
import html.parser
import io
import json

import pytest

from conftest import random_dataset
from juryrank.compare import compare
from juryrank.data.build import from_dicts
from juryrank.errors import UnknownNameError
from juryrank.evaluate import evaluate
from juryrank.methods import RRF
from juryrank.report import FORMATS, chance, number, to_rich

NASTY = "a|b_<i>&50%\\"


@pytest.fixture(scope="module")
def comparison():
    return compare({"rrf": RRF(), NASTY: RRF(k=1)}, random_dataset(1, n_queries=20), ["nDCG@5", "P(rel=2)@3"])


@pytest.fixture(scope="module")
def letor():
    return evaluate({"one": {"q": ["a", "b"]}, "two": {"q": ["b", "a"]}}, {"q": {"a": 1}}, ["AP"], convention="letor")


def test_letor_prints_times_100_with_two_decimals(letor):
    assert "| one  | 100.00 |\n| two  |  50.00 |" in letor.render("markdown")
    assert "| two  | 0.5000 |" in letor.render("markdown", percent=False)


def test_markdown_cells_are_escaped_and_aligned(comparison):
    lines = comparison.render("markdown").splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len({len(line) for line in table[:4]}) == 1
    assert any(r"a\|b_<i>&50%" in line for line in table)


def test_latex_is_escaped_and_complete(comparison):
    text = comparison.render("latex")
    assert r"a|b\_\textless{}i\textgreater{}\&50\%\textbackslash{}" in text
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 2
    assert text.isascii()


def test_html_is_escaped_self_contained_and_balanced(comparison):
    text = comparison.render("html")
    assert "a|b_&lt;i&gt;&amp;50%\\" in text
    assert "http" not in text
    open_tags = []

    class Reader(html.parser.HTMLParser):
        def handle_starttag(self, tag, attrs):
            if tag != "meta":
                open_tags.append(tag)

        def handle_endtag(self, tag):
            assert open_tags.pop() == tag

    Reader().feed(text)
    assert open_tags == []


def test_csv_has_unrounded_numbers(comparison):
    rows = list(csv.DictReader(io.StringIO(comparison.render("csv"))))
    assert [(row["method"], row["metric"]) for row in rows] == [
        (name, metric) for name in ("rrf", NASTY) for metric in ("nDCG@5", "P(rel=2)@3")
    ]
    assert float(rows[2]["mean"]) == comparison.mean(NASTY, "nDCG@5")
    assert float(rows[2]["p_random_holm"]) == comparison.versus[NASTY, "nDCG@5"].p_random_holm
    assert rows[0]["p_t"] == ""


def test_json_holds_the_rows_and_no_nan():
    with pytest.warns(match="is not defined for 1 of 1"):
        found = evaluate({"q": ["a", "b"]}, {"q": {"a": 1, "b": 1}}, "tau")
    assert json.loads(found.render("json"))["means"] == {"run": {"KendallTau": None}}
    assert "–" in str(found)


def test_the_terminal_shows_every_number_in_80_columns(comparison):
    from rich.console import Console

    console = Console(width=80, record=True, file=io.StringIO())
    console.print(comparison)
    shown = console.export_text()
    for table in comparison.tables():
        for row in table.rows:
            assert all(cell in shown for cell in row if not cell.startswith("a|b"))
    assert len(to_rich(comparison).renderables) == 2


def test_significant_differences_are_marked():
    run = {f"q{q}": ["a", "b", "c"] for q in range(12)}
    data = from_dicts({"e": run}, labels={query: {"a": 1} for query in run})
    found = compare({"rrf": RRF(), "same": RRF(), "inverse": Inverse()}, data, "RR")
    assert found.versus["inverse", "RR"].p_random == pytest.approx(2 / 2**12)
    assert [row[1] for row in found.tables()[0].rows] == ["1.0000", "1.0000", "0.3333 ▼"]


class Inverse(RRF):
    """The worst first."""

    def _scores(self, rankings, out):
        super()._scores(rankings, out)
        out *= -1


def test_an_unknown_format_is_an_error(comparison):
    with pytest.raises(UnknownNameError, match="no format 'htm'; did you mean 'html'"):
        comparison.render("htm")


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_every_format_names_every_metric_and_ends_with_a_line(comparison, form):
    text = comparison.render(form)
    assert "nDCG@5" in text
    assert text.endswith("\n")


def test_numbers_and_chances_as_text():
    assert [number(0.12345), number(0.12345, True), number(0.1, False, "+"), number(float("nan"))] == [
        "0.1235", "12.35", "+0.1000", "–",
    ]  # fmt: skip
    assert [chance(0.00001), chance(0.04), chance(None)] == ["<0.0001", "0.0400", "–"]
