"""Tables and reports of the studies in every format."""

import csv
import io
import json
from dataclasses import dataclass
from typing import Any

import pytest

from juryrank.errors import UnknownNameError
from studies.tables import FORMATS, Report, Table, html_table, markdown_table

TABLE = Table("Times", ["task", "ours"], [["a|b", "1.5"], ["<c> & d_e", "20"]], note="50 % are better.")


@dataclass(frozen=True)
class Small(Report):
    """A report of one table."""

    def tables(self) -> list[Table]:
        return [TABLE]

    def rows(self) -> list[dict[str, Any]]:
        return [{"task": "a|b", "ours": 1.5}, {"task": "<c> & d_e", "ours": float("nan")}]

    def to_dict(self) -> dict[str, Any]:
        return {"rows": self.rows()}


def test_markdown_has_a_row_per_row_and_escapes_bars():
    lines = markdown_table(TABLE).splitlines()
    assert lines[0] == "**Times**"
    assert lines[4:6] == [r"| a\|b      |  1.5 |", "| <c> & d_e |   20 |"]
    assert lines[-1] == "50 % are better."


def test_html_escapes_names_and_marks_numbers():
    text = html_table(TABLE, lambda cell: "good" if cell == "20" else "")
    assert "&lt;c&gt; &amp; d_e" in text
    assert '<td class="n good">20</td>' in text
    assert "<c>" not in text


def test_latex_escapes_signs():
    text = Small().render("latex")
    assert r"<c> \& d\_e & 20 \\" in text
    assert r"50 \% are better." in text


def test_json_has_null_for_nan_and_csv_has_a_row_per_result():
    assert json.loads(Small().render("json"))["rows"][1] == {"task": "<c> & d_e", "ours": None}
    rows = list(csv.DictReader(io.StringIO(Small().render("csv"))))
    assert [row["task"] for row in rows] == ["a|b", "<c> & d_e"]


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_every_cell_is_shown(form):
    text = Small().render(form)
    assert all(cell in text for cell in ("task", "ours", "1.5", "20"))


def test_an_unknown_format_is_an_error_with_the_known_ones():
    with pytest.raises(UnknownNameError, match="known: csv, html, json, latex, markdown, text"):
        Small().render("yaml")
    assert sorted(FORMATS) == ["csv", "html", "json", "latex", "markdown", "text"]
