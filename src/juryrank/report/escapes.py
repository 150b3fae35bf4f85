"""Escaping of names for a terminal, Markdown or a spreadsheet, which would otherwise interpret them.

Data files have names as they are. Reports escape them, and so do files that people fill in or look at, such as
judgements, where reading takes the apostrophe before a formula away again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# Control characters, and marks that change the direction of text.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
NUMBER = re.compile(r"(?i)[-+]?[\d.,]+(e[-+]?\d+)?\s*%?")
QUOTED = re.compile('[",\r\n]')
FORMULA = re.compile(r"'*[=+\-@\t\r]")  # how a formula begins in a spreadsheet; after apostrophes, it was one
MARKUP = re.compile(
    r"[\\`|*\[\]~]"  # code, columns, emphasis, links, strikethrough
    r"|(?<![^\W_])_|_(?![^\W_])"  # emphasis; not inside a word
    r"|<(?=[A-Za-z/!?])|&(?=#?\w+;)"  # HTML
)
ENTITIES = {"<": "&lt;", "&": "&amp;"}


def escape_controls(text: str) -> str:
    r"""Text with control characters as escapes.

    >>> print(escape_controls("\x1b[31mred\x1b[0m, one\ntwo"))
    \x1b[31mred\x1b[0m, one\ntwo
    """
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def escape_markdown(text: str) -> str:
    r"""Text without Markdown markup.

    >>> print(escape_markdown("my_run <0.0001 | *a* <b>x</b> [y](z)"))
    my_run <0.0001 \| \*a\* &lt;b>x&lt;/b> \[y\](z)
    """
    return MARKUP.sub(lambda found: ENTITIES.get(found[0], f"\\{found[0]}"), text)


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    r"""Rows as CSV; unlike in the module csv of Python 3.11, a cell with a carriage return is quoted.

    >>> csv_text([["a", 0.5, None], ["b,c", "d\re", 1]])
    'a,0.5,\n"b,c","d\re",1\n'
    """

    def cell(value: object) -> str:
        text = "" if value is None else str(value)
        return '"' + text.replace('"', '""') + '"' if QUOTED.search(text) else text

    return "".join(",".join(map(cell, row)) + "\n" for row in rows)


def escape_formula(value: object) -> object:
    """A cell that no spreadsheet interprets as a formula: text that begins like one gets an apostrophe.

    >>> escape_formula("=1+1"), escape_formula("-0.5"), escape_formula(-0.5), escape_formula("bm25")
    ("'=1+1", '-0.5', -0.5, 'bm25')
    """
    formula = isinstance(value, str) and FORMULA.match(value) and not NUMBER.fullmatch(value)
    return f"'{value}" if formula else value


def unescape_formula(text: str) -> str:
    """The text of a cell that was written by ``escape_formula``.

    >>> unescape_formula("'=1+1"), unescape_formula("-0.5"), unescape_formula("'tis")
    ('=1+1', '-0.5', "'tis")
    """
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text
