"""Tables on the terminal: no number is broken or lost at any width."""

import io
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import juryrank
from juryrank.data.build import from_dicts
from juryrank.evaluation.compare import compare
from juryrank.evaluation.evaluate import evaluate
from juryrank.methods import RRF, method
from juryrank.report import Table
from juryrank.report.layout import cut, cut_distinct, table_lines
from juryrank.tasks.election import election
from juryrank.tasks.explain import explain
from juryrank.tasks.leaderboard import leaderboard

WIDTHS = [40, 60, 80, 120, 200]
METRICS = ["nDCG@10", "AP", "P(rel=2)@3", "RR", "R@5", "nDCG(dcg='exp-log2')@20", "ERR@20"]


def cells_of(lines):
    """All cells of the rows; columns are two blanks apart."""
    return Counter(cell for kind, line in lines if kind == "row" for cell in re.split(r" {2,}", line) if cell)


@pytest.fixture(scope="module")
def reports():
    rng = np.random.default_rng(0)
    items = [f"document-{n:03}" for n in range(12)]
    runs = {f"expert-{k}": {f"q{q}": list(rng.permutation(items)[:9]) for q in range(12)} for k in range(9)}
    labels = {f"q{q}": {item: int(rng.integers(3)) for item in items} for q in range(12)}
    data = from_dicts(runs, labels=labels)
    methods = {"rrf": RRF(), "a-method-with-a-rather-long-name": RRF(k=1), "a-method-with-a-rather-long-tail": RRF(k=2)}
    battles = juryrank.read(Path(juryrank.__file__).parent / "demo/battles.csv")
    return {
        "evaluate": evaluate(data, data, METRICS),
        "compare": compare(methods, data, METRICS),
        "leaderboard": leaderboard(battles, bootstrap=20),
        "election": election(data["q0"], ["irv", "borda"]),
        "explain": explain(method("jury").fit(data), data, "q0", metrics=METRICS[:2]),
    }


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["evaluate", "compare", "leaderboard", "election", "explain"])
def test_every_number_of_a_report_stands_unbroken_at_any_width(reports, name, width):
    for table in reports[name].tables():
        lines = table_lines(table, width)
        assert max(len(line) for _, line in lines) <= width
        numbers = Counter(cell.strip("\u00a0") for row in table.rows for cell in row[table.n_names :])
        shown = cells_of([(kind, line.replace("\u00a0", " ")) for kind, line in lines])
        assert not {cell: n for cell, n in numbers.items() if cell and shown[cell] < n}


@pytest.mark.parametrize("width", WIDTHS)
def test_the_console_shows_what_was_laid_out(reports, width):
    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(reports["compare"])
    tables = reports["compare"].tables()
    laid_out = [line for table in tables for line in ["", *(text for _, text in table_lines(table, width))]]
    assert out.getvalue().splitlines() == laid_out[1:]


def test_a_table_that_does_not_fit_is_continued_below_with_its_names():
    table = Table("T", ["name", "a", "b"], [["x", "0.1234", "0.5678"], ["y", "1", "2"]], note="Two rows.")
    assert "\n".join(line for _, line in table_lines(table, 20)) == (
        "T\nname       a       b\n────────────────────\nx     0.1234  0.5678\ny          1       2\nTwo rows."
    )
    assert "\n".join(line for _, line in table_lines(table, 19)) == (
        "T\nname       a\n────────────\nx     0.1234\ny          1\n\n"
        "name       b\n────────────\nx     0.5678\ny          2\nTwo rows."
    )


def test_columns_of_a_group_stay_together():
    cells = ["0.1111", "0.2222", "0.3333", "0.4444"]
    table = Table("", ["name", "a", "±", "b", "±"], [["x", *cells]], groups=[2, 2])
    rows = [line for kind, line in table_lines(table, 32) if kind == "row"]
    assert [row.split() for row in rows] == [["x", *cells[:2]], ["x", *cells[2:]]]


def test_texts_longer_than_the_line_are_folded_between_words():
    table = Table("", ["name", "time", "remarks"], [["x", "1.5", "the quick brown fox jumps over the lazy dog " * 3]])
    lines = table_lines(table, 40)
    assert max(len(line) for _, line in lines) <= 40
    words = [word for kind, line in lines if kind == "row" for word in line.split()]
    assert Counter(words) == Counter(["x", "x", "1.5", *table.rows[0][2].split()])


def test_wide_letters_take_two_columns_and_control_characters_are_escaped():
    table = Table("", ["name", "n"], [["日本語", "1"], ["a\x1b[1m\n", "2"]])
    rows = [line for kind, line in table_lines(table, 80) if kind == "row"]
    assert rows == ["日本語      1", r"a\x1b[1m\n  2"]


def test_names_are_cut_in_the_middle():
    assert [cut("abcdefghij", width) for width in (10, 9, 5, 2)] == ["abcdefghij", "abcd…ghij", "ab…ij", "a…"]


NAMES = st.lists(st.text("ab日", min_size=1, max_size=30), min_size=1, max_size=12)


@given(NAMES, st.integers(1, 30))
def test_names_that_differ_stay_different_when_they_are_cut(names, width):
    short = cut_distinct(names, [width] * len(names))
    for a, short_a in zip(names, short, strict=True):
        assert [b == a for b in names] == [b == short_a for b in short]
        assert short_a == a or "…" in short_a


@given(
    st.lists(st.text("abcdef-", min_size=1, max_size=40), min_size=1, max_size=6, unique=True),
    st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=12),
    st.sampled_from(WIDTHS),
)
def test_any_table_keeps_its_numbers_and_its_names_apart(names, numbers, width):
    rows = [[name, *(f"{n + value:.4f}" for value in numbers)] for n, name in enumerate(names)]
    table = Table("", ["name", *(f"column {n}" for n in range(len(numbers)))], rows)
    lines = table_lines(table, width)
    shown = cells_of(lines)
    assert all(shown[cell] >= n for cell, n in Counter(cell for row in rows for cell in row[1:]).items())
    blocks = sum(kind == "rule" for kind, _ in lines)
    firsts = Counter(line.split("  ")[0] for kind, line in lines if kind == "row")
    assert list(firsts.values()) == [blocks] * len(names)


def test_groups_that_miss_a_column_are_a_mistake_that_is_found():
    with pytest.raises(ValueError, match="groups of 1 for 2 columns"):
        Table("", ["name", "a", "b"], [], groups=[1])
