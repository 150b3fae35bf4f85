"""Tables as Markdown."""

from juryrank.report.escapes import escape_markdown
from juryrank.report.table import Table


def markdown_table(table: Table) -> str:
    """A table with its title and note."""
    rows = [[escape_markdown(cell) for cell in row] for row in (table.columns, *table.rows)]
    width = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        names = [cell.ljust(w) for cell, w in zip(row, width, strict=True)][: table.n_names]
        numbers = [cell.rjust(w) for cell, w in zip(row, width, strict=True)][table.n_names :]
        lines.append(f"| {' | '.join(names + numbers)} |")
    rule = ["-" * (w + 2) if n < table.n_names else "-" * (w + 1) + ":" for n, w in enumerate(width)]
    lines.insert(1, f"|{'|'.join(rule)}|")
    title = [f"**{escape_markdown(table.title)}**", ""] if table.title else []
    note = ["", escape_markdown(table.note)] if table.note else []
    return "\n".join([*title, *lines, *note]) + "\n"
