"""Results as tables: for the terminal, Markdown, LaTeX, HTML, CSV and JSON."""

from __future__ import annotations

import csv
import html
import io
import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from juryrank.errors import UnknownNameError

if TYPE_CHECKING:
    from rich.console import Group

Cells = Sequence[str]

TEXT_WIDTH = 200  # columns of text that goes to a file


@dataclass(frozen=True)
class Table:
    """Text in columns; the first ``n_names`` columns are names, the others numbers."""

    title: str
    columns: Cells
    rows: Sequence[Cells]
    n_names: int = 1
    note: str = ""


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

    def __rich__(self) -> Group:
        return to_rich(self)


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


def to_rich(report: Report, percent: bool | None = None) -> Group:
    """Tables for the terminal."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Group
    from rich.markup import escape
    from rich.table import Table as RichTable

    shown = []
    for table in report.tables(percent):
        drawn = RichTable(title=escape(table.title) or None, caption=escape(table.note) or None, box=SIMPLE_HEAD)
        drawn.pad_edge, drawn.show_edge, drawn.padding = False, False, (0, 1, 0, 0)
        drawn.title_justify = drawn.caption_justify = "left"
        for n, column in enumerate(table.columns):
            if n < table.n_names:
                drawn.add_column(escape(column), overflow="fold", min_width=_widest(table, n))
            else:
                drawn.add_column(escape(column), overflow="fold", justify="right")
        for row in table.rows:
            drawn.add_row(*map(escape, row))
        shown.append(drawn)
    return Group(*shown)


def _widest(table: Table, column: int) -> int:
    return min(20, max(len(row[column]) for row in (table.columns, *table.rows)))


def _markdown(report: Report, percent: bool | None) -> str:
    return "\n".join(markdown_table(table) for table in report.tables(percent))


def markdown_table(table: Table) -> str:
    """A table with its title and note."""
    rows = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in (table.columns, *table.rows)]
    width = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        names = [cell.ljust(w) for cell, w in zip(row, width, strict=True)][: table.n_names]
        numbers = [cell.rjust(w) for cell, w in zip(row, width, strict=True)][table.n_names :]
        lines.append(f"| {' | '.join(names + numbers)} |")
    rule = ["-" * (w + 2) if n < table.n_names else "-" * (w + 1) + ":" for n, w in enumerate(width)]
    lines.insert(1, f"|{'|'.join(rule)}|")
    title = [f"**{table.title}**", ""] if table.title else []
    note = ["", table.note] if table.note else []
    return "\n".join([*title, *lines, *note]) + "\n"


LATEX_SIGNS = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--",
    "▲": r"$\blacktriangle$", "▼": r"$\blacktriangledown$", "<": r"\textless{}", ">": r"\textgreater{}",
    **{sign: "\\" + sign for sign in "&%$#_{}"},
}  # fmt: skip


def _latex_text(text: str) -> str:
    return re.sub("|".join(map(re.escape, LATEX_SIGNS)), lambda found: LATEX_SIGNS[found[0]], text)


def _latex(report: Report, percent: bool | None) -> str:
    return "\n".join(_latex_table(table) for table in report.tables(percent))


def _latex_table(table: Table) -> str:
    """A table for the packages booktabs and amssymb."""
    shape = "l" * table.n_names + "r" * (len(table.columns) - table.n_names)
    head, *body = (" & ".join(map(_latex_text, row)) + r" \\" for row in (table.columns, *table.rows))
    caption = " ".join(filter(None, [f"{table.title}." if table.title else "", table.note]))
    lines = [r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{shape}}}", r"\toprule", head, r"\midrule"]
    lines += [*body, r"\bottomrule", r"\end{tabular}", rf"\caption{{{_latex_text(caption)}}}", r"\end{table}"]
    return "\n".join(lines) + "\n"


STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse;margin:1rem 0 .3rem}th,td{padding:.25rem .7rem;border-bottom:1px solid #ddd}"
    "th{border-bottom:2px solid #888}.n{text-align:right;font-variant-numeric:tabular-nums}.w{overflow-x:auto}"
    "th,td{text-align:left;white-space:nowrap}small{color:#666}"
)


def _html(report: Report, percent: bool | None) -> str:
    return html_page("juryrank", "\n".join(html_table(table) for table in report.tables(percent)))


def html_page(title: str, body: str, style: str = "") -> str:
    """A page that needs no other file; ``style`` is added to the usual one."""
    head = f'<meta charset="utf-8"><title>{html.escape(title)}</title><style>{STYLE}{style}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'


def html_table(table: Table, kind_of: Callable[[str], str] = lambda cell: "") -> str:
    """A table with its title and note; ``kind_of`` names the class of a cell by its text."""

    def line(row: Cells, tag: str) -> str:
        numbers = ["" if n < table.n_names else "n" for n in range(len(row))]
        named = [
            f"{number} {kind_of(cell) if tag == 'td' else ''}".strip()
            for number, cell in zip(numbers, row, strict=True)
        ]
        kinds = [f' class="{name}"' if name else "" for name in named]
        cells = "".join(f"<{tag}{kind}>{html.escape(cell)}</{tag}>" for kind, cell in zip(kinds, row, strict=True))
        return f"<tr>{cells}</tr>"

    body = "\n".join(line(row, "td") for row in table.rows)
    title = f"<h2>{html.escape(table.title)}</h2>\n" if table.title else ""
    note = f"\n<small>{html.escape(table.note)}</small>" if table.note else ""
    return f'{title}<div class="w"><table>\n{line(table.columns, "th")}\n{body}\n</table></div>{note}'


def _text(report: Report, percent: bool | None) -> str:
    """What the terminal shows, without colours."""
    from rich.console import Console

    out = io.StringIO()
    Console(file=out, width=TEXT_WIDTH, highlight=False).print(to_rich(report, percent))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _csv(report: Report, percent: bool | None) -> str:
    rows = report.rows()
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


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
