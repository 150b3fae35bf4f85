"""Messages of the library for the command line: names of options instead of Python arguments."""

from __future__ import annotations

import ast
import re
from typing import Any

OPTIONS = {
    "columns": "--columns", "label_columns": "--label-columns", "values": "--values", "labels": "--labels",
    "features": "--features", "format": "--from", "weights": "--weights", "tag": "--tag", "top": "--top",
    "grades": "--grades", "experts": "--experts", "order": "--order",
}  # fmt: skip
WRITING = re.compile(r"write\(…, format='?([^')]+)'?\)")
NAMES = re.compile(r"\b(columns|label_columns)=(\{[^{}]*\})")
IGNORE = re.compile(r"\bignore=(\[[^\[\]]*\])")
VALUE = re.compile(rf"(?<![\w-])({'|'.join(OPTIONS)})='([^']*)'")
QUOTED = re.compile(r"(?<![\w-])([a-z_]+)='([\w.-]*)'")  # parameters of methods, as --param takes them
BARE = re.compile(rf"(?<![\w-])({'|'.join(OPTIONS)})=(…)?(?=[\s,;:.)]|$)")


def on_command_line(text: str) -> str:
    """The same message, with names of options.

    >>> on_command_line("say columns={'expert': 'model'} and values='rank', or give labels=")
    'say --columns expert=model and --values rank, or give --labels'
    >>> on_command_line("columns={'expert': ['a', 'b'], 'item': None, 'score': 3}")
    '--columns expert=a,expert=b,item=,score=3'
    >>> on_command_line("use missing='ignore'")
    'use missing=ignore'
    >>> on_command_line("use ignore=['NA', 'not sure'] or merge_spellings=True")
    "use --ignore NA --ignore 'not sure' or --merge-spellings"
    """
    text = WRITING.sub(r"convert --to \1", text)
    text = NAMES.sub(_columns, text)
    text = IGNORE.sub(lambda found: " ".join(f"--ignore {_word(name)}" for name in ast.literal_eval(found[1])), text)
    text = text.replace("merge_spellings=True", "--merge-spellings")
    text = text.replace("order=[lowest, …, highest]", "--order LOWEST,…,HIGHEST")
    text = text.replace("grades={label: number}", "--grades LABEL=NUMBER,…")
    text = VALUE.sub(lambda found: f"{OPTIONS[found[1]]} {_word(found[2])}", text)
    text = QUOTED.sub(r"\1=\2", text)
    return BARE.sub(lambda found: " ".join(filter(None, [OPTIONS[found[1]], found[2]])), text)


def _columns(found: re.Match[str]) -> str:
    try:
        named: dict[str, Any] = ast.literal_eval(found[2])
    except (SyntaxError, ValueError):
        return found[0]
    lists = {word: header if isinstance(header, list) else [header or ""] for word, header in named.items()}
    pairs = ",".join(f"{word}={header}" for word, headers in lists.items() for header in headers)
    return f"{OPTIONS[found[1]]} {_word(pairs)}"


def _word(text: str) -> str:
    """The text quoted for a shell."""
    return f"'{text}'" if re.search(r"[\s;&|<>()$`\\\"*?]", text) else text
