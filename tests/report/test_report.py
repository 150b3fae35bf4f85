"""Reports in every format."""

import csv
import html.parser
import io
import json
import re

import pytest

from conftest import random_dataset
from juryrank.data.build import from_dicts
from juryrank.errors import UnknownNameError
from juryrank.evaluation.compare import compare
from juryrank.evaluation.evaluate import evaluate
from juryrank.methods import RRF
from juryrank.report import FORMATS, Table, notebook_html, number, p_value
from juryrank.report.markup import latex_table
from juryrank.tasks.election import election
from juryrank.tasks.leaderboard import leaderboard

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
    assert any(r"a\|b\_&lt;i>&50%" in line for line in table)


def test_latex_is_escaped_and_complete(comparison):
    text = comparison.render("latex")
    assert r"a|b\_\textless{}i\textgreater{}\&50\%\textbackslash{}" in text
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 2
    assert text.isascii()


def test_latex_shows_the_best_of_each_column_in_bold():
    rows = [["a", "0.5000", "0.1000 ▲", "9.0"], ["b", "0.7000", "0.1000", "8.0"], ["c", "–", "-0.2000", "7.0"]]
    text = latex_table(Table("", ["name", "x", "y", "time"], rows, best=[1, 2]))
    assert [line for line in text.splitlines() if line.startswith(("a ", "b ", "c "))] == [
        r"a & 0.5000 & \textbf{0.1000} $\bigtriangleup$ & 9.0 \\",
        r"b & \textbf{0.7000} & \textbf{0.1000} & 8.0 \\",
        r"c & -- & $-$0.2000 & 7.0 \\",
    ]


def test_latex_shows_nothing_in_bold_where_all_are_equal():
    assert "textbf" not in latex_table(Table("", ["name", "x"], [["a", "0.5"], ["b", "0.5"]], best=[1]))
    assert "textbf" not in latex_table(Table("", ["name", "x"], [["a", "0.5"]], best=[1]))


def test_metrics_of_evaluations_and_comparisons_have_a_best_and_times_do_not(letor, comparison):
    assert r"one & \textbf{100.00} \\" in letor.render("latex")
    means = comparison.tables()[0]
    assert [means.columns[n] for n in means.best] == ["nDCG@5", "P(rel=2)@3"]


def test_a_row_of_latex_does_not_begin_as_an_option_of_the_command_before_it():
    table = Table("", ["[x]", "n"], [["*", "1"], ["[b]", "2"], ["c", "3"]])
    rows = [line for line in latex_table(table).splitlines() if line.endswith(r"\\")]
    assert rows == [r"{}[x] & n \\", r"{}* & 1 \\", r"{}[b] & 2 \\", r"c & 3 \\"]


def test_latex_of_ranges_and_squares_needs_no_other_package():
    table = Table("", ["name", "x"], [["a", "1–2"], ["b", "-0.5 … -0.1"], ["c", "■□\u00a0"], ["d", "± 2 × 3"]])
    text = latex_table(table)
    assert "a & 1--2 " in text
    assert r"b & $-$0.5 \ldots{} $-$0.1 " in text
    assert r"c & $\bullet$$\circ$~ " in text
    assert r"d & $\pm$ 2 $\times$ 3 " in text
    commands = set(re.findall(r"\\([a-z]+)", text))
    core = {"begin", "end", "centering", "caption", "usepackage", "ldots", "bullet", "circ", "pm", "times"}
    assert commands - core == {"toprule", "midrule", "bottomrule"}  # these are booktabs


def open_tags(text):
    """Tags that are left open; an assertion fails where one is closed that is not open."""
    found = []

    class Reader(html.parser.HTMLParser):
        def handle_starttag(self, tag, attrs):
            if tag != "meta":
                found.append(tag)

        def handle_endtag(self, tag):
            assert found.pop() == tag

    Reader().feed(text)
    return found


def test_html_is_escaped_self_contained_and_balanced(comparison):
    text = comparison.render("html")
    assert "a|b_&lt;i&gt;&amp;50%\\" in text
    assert "http" not in text
    assert open_tags(text) == []


def test_a_notebook_shows_reports_and_data_escaped_and_without_scripts(comparison):
    runs = {"<script>e</script>": {"q<b>": {"<i>": 2.0, "d": 1.0}}, "f": {"q<b>": {"d": 1.0}}}
    data = from_dicts(runs, labels={"q<b>": {"<i>": 1}})
    consensus = RRF().fit(data).predict(data)
    shown = {
        "dataset": data, "consensus": consensus, "comparison": comparison,
        "evaluation": evaluate({"<script>": consensus, "b": consensus}, data, "AP"),
        "leaderboard": leaderboard(data, bootstrap=5), "election": election(data),
    }  # fmt: skip
    for name, thing in shown.items():
        text = thing._repr_html_()
        assert open_tags(text) == [], name
        assert "&lt;" in text
        assert "<script" not in text
        assert "<i>" not in text
    assert f"{consensus.scores.max():.6g}" in consensus._repr_html_()
    assert '<td class="n">2</td>' in data._repr_html_()


def test_a_long_table_in_a_notebook_shows_its_first_rows_and_says_how_many_follow():
    rows = [[f"item{n}", "1"] for n in range(100)]
    text = notebook_html([Table("", ["item", "n"], rows, note="All.")])
    shown = [n for n in range(100) if f">item{n}<" in text]
    assert shown == list(range(len(shown)))
    assert f"{100 - len(shown)} more rows are not shown. All." in text
    assert 10 < len(shown) < 100


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
    assert [p_value(0.00001), p_value(0.04), p_value(None)] == ["<0.0001", "0.0400", "–"]
