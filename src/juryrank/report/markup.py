"""Tables as Markdown, and as LaTeX with the package booktabs."""

import re

from juryrank.report.escapes import escape_markdown
from juryrank.report.table import Cells, Table

SIGNS = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "–": "--", "…": r"\ldots{}", "±": r"$\pm$", "×": r"$\times$", "\u00a0": "~",
    "▲": r"$\bigtriangleup$", "▼": r"$\bigtriangledown$", "■": r"$\bullet$", "□": r"$\circ$",
    **{sign: "\\" + sign for sign in "&%$#_{}"},
}  # fmt: skip
MINUS = re.compile(r"(?<![\w.-])-(?=[\d.])")
NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")


def latex_table(table: Table) -> str:
    """A table, with the largest number of each column in ``table.best`` in bold."""
    shape = "l" * table.n_names + "r" * (len(table.columns) - table.n_names)
    best = {column: _best(table, column) for column in table.best}

    def line(row: Cells, bold: bool) -> str:
        cells = [
            _cell(cell, n < table.n_names, bold and n in best and _number(cell) == best[n])
            for n, cell in enumerate(row)
        ]
        # After \\ or \midrule, LaTeX would read a star or a bracket as an option.
        return ("{}" if cells[0].startswith(("*", "[")) else "") + " & ".join(cells) + r" \\"

    head, body = line(table.columns, False), [line(row, True) for row in table.rows]
    caption = " ".join(filter(None, [f"{table.title}." if table.title else "", table.note]))
    lines = [r"% \usepackage{booktabs}", r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{shape}}}"]
    lines += [r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\caption{{{escape(caption)}}}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Text without LaTeX commands."""
    return re.sub("|".join(map(re.escape, SIGNS)), lambda found: SIGNS[found[0]], re.sub(r"[\t\r\n]", " ", text))


def _cell(cell: str, name: bool, bold: bool) -> str:
    if name:
        return escape(cell)
    text = MINUS.sub("$-$", escape(cell))
    if bold:
        number, blank, mark = text.partition(" ")
        return rf"\textbf{{{number}}}{blank}{mark}"
    return text


def _best(table: Table, column: int) -> float | None:
    """The largest number of a column; None if all are equal."""
    numbers = {number for row in table.rows if (number := _number(row[column])) is not None}
    return max(numbers) if len(numbers) > 1 else None


def _number(cell: str) -> float | None:
    """The number at the beginning of a cell; a mark may follow."""
    first = cell.partition(" ")[0]
    return float(first) if NUMBER.fullmatch(first) else None


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
