"""Tables as HTML: in a self-contained page, or in a notebook."""

import html
from collections.abc import Callable, Iterable
from dataclasses import replace

from juryrank.report.table import Cells, Table

STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse;margin:1rem 0 .3rem}th,td{padding:.25rem .7rem;border-bottom:1px solid #ddd}"
    "th{border-bottom:2px solid #888}.n{text-align:right;font-variant-numeric:tabular-nums}.w{overflow-x:auto}"
    "th,td{text-align:left;white-space:nowrap}small{color:#666}"
)
NOTEBOOK_STYLE = (
    ".juryrank th,.juryrank td{text-align:left;white-space:nowrap}"
    ".juryrank th.n,.juryrank td.n{text-align:right;font-variant-numeric:tabular-nums}.juryrank .w{overflow-x:auto}"
)
NOTEBOOK_ROWS = 40  # of a table in a notebook


def html_page(title: str, body: str, style: str = "") -> str:
    """A self-contained page; ``style`` is added to the default style."""
    head = f'<meta charset="utf-8"><title>{html.escape(title)}</title><style>{STYLE}{style}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'


def html_table(table: Table, kind_of: Callable[[str], str] = lambda cell: "") -> str:
    """A table with its title and note; ``kind_of`` gives the CSS class of a cell by its text."""

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


def notebook_html(tables: Iterable[Table]) -> str:
    """Tables as HTML for a notebook; of a long table, the first rows and the number of the others."""
    body = "\n".join(html_table(_first_rows(table)) for table in tables).replace("h2>", "h4>")
    return f'<div class="juryrank"><style>{NOTEBOOK_STYLE}</style>\n{body}\n</div>'


def _first_rows(table: Table) -> Table:
    more = len(table.rows) - NOTEBOOK_ROWS
    if more <= 0:
        return table
    note = " ".join(filter(None, [f"{more} more rows are not shown.", table.note]))
    return replace(table, rows=table.rows[:NOTEBOOK_ROWS], note=note)
