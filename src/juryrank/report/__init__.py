"""Results as tables: for the terminal, notebooks, Markdown, LaTeX, HTML, CSV and JSON."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from juryrank.errors import UnknownNameError
from juryrank.report.escapes import csv_text, markdown, spreadsheet, visible
from juryrank.report.latex import latex_table
from juryrank.report.layout import Line, table_lines
from juryrank.report.page import html_page, html_table, notebook_html
from juryrank.report.table import Table

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.text import Text

__all__ = [
    "FORMATS",
    "Report",
    "Table",
    "chance",
    "csv_text",
    "html_page",
    "html_table",
    "markdown_table",
    "notebook_html",
    "number",
    "plain",
    "visible",
]

TEXT_WIDTH = 200  # columns of text that goes to a file
STYLES = {"title": "italic", "head": "bold", "note": "dim italic"}  # of kinds of lines on the terminal


class Report(ABC):
    """Something that can be shown as tables and written in any format."""

    @abstractmethod
    def tables(self, percent: bool | None = None) -> list[Table]:
        """What a person reads; ``percent`` prints means times 100, by default under the letor convention."""

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """One row per name and metric, with unrounded numbers."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values."""

    def render(self, form: str = "markdown", *, percent: bool | None = None) -> str:
        """The report as text in one of ``FORMATS``."""
        if form not in FORMATS:
            raise UnknownNameError.of("format", form, FORMATS)
        return FORMATS[form](self, percent)

    def __str__(self) -> str:
        return self.render("markdown").rstrip("\n")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        from rich.text import Text

        for kind, line in _lines(self, None, options.max_width):
            yield Text(line, STYLES.get(kind, ""), no_wrap=True, overflow="ignore")

    def _repr_html_(self) -> str:
        return notebook_html(self.tables())


def number(value: float | None, percent: bool = False, sign: str = "") -> str:
    """A mean or a difference as text: 4 decimals, or times 100 with 2."""
    if value is None or math.isnan(value):
        return "–"
    return f"{100 * value:{sign}.2f}" if percent else f"{value:{sign}.4f}"


def chance(p: float | None) -> str:
    """A p-value as text."""
    if p is None or math.isnan(p):
        return "–"
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def _lines(report: Report, percent: bool | None, width: int) -> Iterator[Line]:
    """The lines of all tables, with a blank one in between."""
    for n, table in enumerate(report.tables(percent)):
        if n:
            yield "gap", ""
        yield from table_lines(table, width)


def _text(report: Report, percent: bool | None) -> str:
    """What the terminal shows, without colours."""
    return "".join(f"{line}\n" for _, line in _lines(report, percent, TEXT_WIDTH))


def _markdown(report: Report, percent: bool | None) -> str:
    return "\n".join(markdown_table(table) for table in report.tables(percent))


def markdown_table(table: Table) -> str:
    """A table with its title and note."""
    rows = [[markdown(cell) for cell in row] for row in (table.columns, *table.rows)]
    width = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        names = [cell.ljust(w) for cell, w in zip(row, width, strict=True)][: table.n_names]
        numbers = [cell.rjust(w) for cell, w in zip(row, width, strict=True)][table.n_names :]
        lines.append(f"| {' | '.join(names + numbers)} |")
    rule = ["-" * (w + 2) if n < table.n_names else "-" * (w + 1) + ":" for n, w in enumerate(width)]
    lines.insert(1, f"|{'|'.join(rule)}|")
    title = [f"**{markdown(table.title)}**", ""] if table.title else []
    note = ["", markdown(table.note)] if table.note else []
    return "\n".join([*title, *lines, *note]) + "\n"


def _latex(report: Report, percent: bool | None) -> str:
    return "\n".join(latex_table(table) for table in report.tables(percent))


def _html(report: Report, percent: bool | None) -> str:
    return html_page("juryrank", "\n".join(html_table(table) for table in report.tables(percent)))


def _csv(report: Report, percent: bool | None) -> str:
    rows = report.rows()
    return csv_text([list(rows[0]) if rows else [], *([spreadsheet(value) for value in row.values()] for row in rows)])


def _json(report: Report, percent: bool | None) -> str:
    return json.dumps(plain(report.to_dict()), indent=2, ensure_ascii=False) + "\n"


def plain(value: Any) -> Any:
    """The same value without NaN, which JSON does not have."""
    if isinstance(value, dict):
        return {key: plain(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


FORMATS: dict[str, Callable[[Report, bool | None], str]] = {
    "csv": _csv,
    "html": _html,
    "json": _json,
    "latex": _latex,
    "markdown": _markdown,
    "text": _text,
}
