"""Report: a result that is shown as tables, in the terminal, a notebook, or any of the formats."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from juryrank.errors import UnknownNameError
from juryrank.report.escapes import csv_text, escape_formula
from juryrank.report.layout import Line, table_lines
from juryrank.report.markup import latex_table, markdown_table
from juryrank.report.page import html_page, html_table, notebook_html
from juryrank.report.table import Table

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.text import Text

TEXT_WIDTH = 200  # columns of text written to a file
STYLES = {"title": "italic", "head": "bold", "note": "dim italic"}  # by kind of line, in the terminal


class Report(ABC):
    """A result that can be shown as tables and written in any format."""

    @abstractmethod
    def tables(self, percent: bool | None = None) -> list[Table]:
        """The tables for human readers; ``percent`` shows means times 100, the default with the letor convention."""

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

    def lines(self, width: int, percent: bool | None = None) -> Iterator[Line]:
        """The lines of all tables, separated by blank lines; those of the terminal, without colours."""
        for n, table in enumerate(self.tables(percent)):
            if n:
                yield "gap", ""
            yield from table_lines(table, width)

    def __str__(self) -> str:
        return self.render("markdown").rstrip("\n")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        from rich.text import Text

        for kind, line in self.lines(options.max_width):
            yield Text(line, STYLES.get(kind, ""), no_wrap=True, overflow="ignore")

    def _repr_html_(self) -> str:
        return notebook_html(self.tables())


def _text(report: Report, percent: bool | None) -> str:
    """The text of the terminal, without colours."""
    return "".join(f"{line}\n" for _, line in report.lines(TEXT_WIDTH, percent))


def _markdown(report: Report, percent: bool | None) -> str:
    return "\n".join(markdown_table(table) for table in report.tables(percent))


def _latex(report: Report, percent: bool | None) -> str:
    return "\n".join(latex_table(table) for table in report.tables(percent))


def _html(report: Report, percent: bool | None) -> str:
    return html_page("juryrank", "\n".join(html_table(table) for table in report.tables(percent)))


def _csv(report: Report, percent: bool | None) -> str:
    rows = report.rows()
    return csv_text(
        [list(rows[0]) if rows else [], *([escape_formula(value) for value in row.values()] for row in rows)]
    )


def _json(report: Report, percent: bool | None) -> str:
    return json.dumps(nan_to_none(report.to_dict()), indent=2, ensure_ascii=False) + "\n"


def nan_to_none(value: Any) -> Any:
    """The same value without NaN, which JSON does not have."""
    if isinstance(value, dict):
        return {key: nan_to_none(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [nan_to_none(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


FORMATS: dict[str, Callable[[Report, bool | None], str]] = {
    "csv": _csv,
    "html": _html,
    "json": _json,
    "latex": _latex,
    "markdown": _markdown,
    "text": _text,
}
