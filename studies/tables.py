"""Tables as text, Markdown, LaTeX and HTML; reports that consist of tables, also as CSV and JSON."""

from __future__ import annotations

import csv
import html
import io
import json
import math
import os
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import rich.table
from rich.console import Console
from rich.text import Text

from juryrank.errors import UnknownNameError
from studies.console import show

ALIGNED = 40  # characters of a cell in Markdown; lines with longer ones are not readable as a table anyway
WIDTH = 200  # columns of text that does not go to a terminal
STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;padding:0 1rem;color:#222}small{color:#666}"
    "table{border-collapse:collapse;margin:1rem 0 .3rem}th,td{text-align:left;border-bottom:1px solid #ddd}"
    "th{border-bottom:2px solid #888}.n{text-align:right;font-variant-numeric:tabular-nums}.w{overflow-x:auto}"
)
LATEX = str.maketrans({"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--",
                       "×": r"$\times$", "±": r"$\pm$", **{sign: f"\\{sign}" for sign in "&%$#_{}"}})  # fmt: skip

Classes = Callable[[str], str]  # of a cell in HTML, by its text


@dataclass(frozen=True)
class Table:
    """Cells of text; the first ``n_names`` columns are aligned to the left, the others to the right."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    n_names: int = 1
    note: str = ""


def p_text(p: float | None) -> str:
    """A p-value as text.

    >>> p_text(0.03), p_text(1e-6), p_text(None)
    ('0.0300', '<0.0001', '–')
    """
    if p is None or math.isnan(p):
        return "–"
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def markdown_table(table: Table) -> str:
    """A table with its title and note; cells are padded as far as ``ALIGNED`` characters."""
    rows = [[cell.replace("|", r"\|").replace("\n", " ") for cell in row] for row in (table.columns, *table.rows)]
    width = [min(ALIGNED, max(map(len, column))) for column in zip(*rows, strict=True)]
    aligned = [[cell.ljust(w) if n < table.n_names else cell.rjust(w)
                for n, (cell, w) in enumerate(zip(row, width, strict=True))] for row in rows]  # fmt: skip
    lines = [f"| {' | '.join(row)} |" for row in aligned]
    rule = ["-" * (w + 2) if n < table.n_names else "-" * (w + 1) + ":" for n, w in enumerate(width)]
    lines.insert(1, f"|{'|'.join(rule)}|")
    title = [f"**{table.title}**", ""] if table.title else []
    return "\n".join([*title, *lines, *(["", table.note] if table.note else [])]) + "\n"


def html_table(table: Table, classes: Classes = lambda cell: "") -> str:
    """A table with its title and note."""

    def row(cells: Sequence[str], tag: str) -> str:
        out = []
        for n, cell in enumerate(cells):
            kinds = " ".join(filter(None, ["n" if n >= table.n_names else "", classes(cell) if tag == "td" else ""]))
            attribute = f' class="{kinds}"' if kinds else ""
            out.append(f"<{tag}{attribute}>{html.escape(cell)}</{tag}>")
        return f"<tr>{''.join(out)}</tr>"

    body = "\n".join(row(cells, "td") for cells in table.rows)
    title = f"<h4>{html.escape(table.title)}</h4>\n" if table.title else ""
    note = f"\n<small>{html.escape(table.note)}</small>" if table.note else ""
    return f'{title}<div class="w"><table>\n{row(table.columns, "th")}\n{body}\n</table></div>{note}'


def html_page(title: str, body: str, style: str = "") -> str:
    """A page that needs no other file."""
    head = f'<meta charset="utf-8"><title>{html.escape(title)}</title><style>{STYLE}{style}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'


def latex_table(table: Table) -> str:
    """A table for the LaTeX package booktabs."""
    head, *body = [" & ".join(cell.translate(LATEX) for cell in row) + r" \\" for row in (table.columns, *table.rows)]
    shape = "l" * table.n_names + "r" * (len(table.columns) - table.n_names)
    caption = " ".join(filter(None, [table.title and f"{table.title}.", table.note])).translate(LATEX)
    lines = [r"\begin{table}", rf"\begin{{tabular}}{{{shape}}}", r"\toprule", head, r"\midrule", *body]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", rf"\caption{{{caption}}}", r"\end{table}"]) + "\n"


def terminal_table(table: Table) -> rich.table.Table:
    """A table as rich draws it."""
    out = rich.table.Table(title=Text(table.title) if table.title else None, caption=Text(table.note), box=None)
    for n, column in enumerate(table.columns):
        out.add_column(Text(column), justify="left" if n < table.n_names else "right", overflow="fold")
    for row in table.rows:
        out.add_row(*map(Text, row))
    return out


def without_nan(value: Any) -> Any:
    """The same value with None for NaN and infinities, which JSON does not have."""
    if isinstance(value, dict):
        return {key: without_nan(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


class Report(ABC):
    """Results that are shown as tables and written in any of ``FORMATS``."""

    @abstractmethod
    def tables(self) -> list[Table]:
        """Tables for a reader, with rounded numbers."""

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """One row per result, with unrounded numbers."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values."""

    def render(self, form: str) -> str:
        """The report as text in one of ``FORMATS``."""
        if form not in FORMATS:
            raise UnknownNameError.of("format", form, FORMATS)
        return FORMATS[form](self)

    def __str__(self) -> str:
        return self.render("markdown").rstrip("\n")


def print_report(report: Report, form: str | None) -> None:
    """Print a report to stdout: as tables of the width of the terminal, or in a format."""
    if form in (None, "text") and sys.stdout.isatty():
        Console(highlight=False).print(*map(terminal_table, report.tables()), sep="\n")
        return
    show(report.render(form or "text").removesuffix("\n"))


def _text(report: Report) -> str:
    columns = os.environ.get("COLUMNS", "")
    width = int(columns) if columns.isdecimal() and int(columns) else WIDTH
    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(*map(terminal_table, report.tables()), sep="\n")
    return re.sub(r" +\n", "\n", out.getvalue())


def _csv(report: Report) -> str:
    rows, out = report.rows(), io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


FORMATS: dict[str, Callable[[Report], str]] = {
    "csv": _csv,
    "html": lambda report: html_page("juryrank", "\n".join(map(html_table, report.tables()))),
    "json": lambda report: json.dumps(without_nan(report.to_dict()), indent=2, ensure_ascii=False) + "\n",
    "latex": lambda report: "\n".join(map(latex_table, report.tables())),
    "markdown": lambda report: "\n".join(map(markdown_table, report.tables())),
    "text": _text,
}
