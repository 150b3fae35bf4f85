"""The winner of a comparison, from the cells of a column: names of items, words, results such as 1-0, or numbers.

What a number or a letter means depends on the others in its column: 1 and 2 are the sides, 1, 0.5 and 0 what the left
item scored. A column that can mean two things is refused.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from juryrank.io.rows import first_true
from juryrank.io.tables.columns import Fail, normalise
from juryrank.polars import pl

KINDS = (
    "item",
    "model",
    "system",
    "option",
    "response",
    "answer",
    "assistant",
    "player",
    "team",
    "output",
    "candidate",
)
SIDES = (
    ("left", "right"), ("a", "b"), ("first", "second"), ("home", "away"), ("hometeam", "awayteam"), ("white", "black"),
    *((f"{kind}{one}", f"{kind}{two}") for kind in KINDS for one, two in ("ab", "12")),
)  # fmt: skip
TIES = (
    "tie", "tied", "draw", "drawn", "both", "bothgood", "bothbad", "tiebothbad", "neither", "equal", "same", "even",
    "t", "d", "x", "=",
)  # fmt: skip
WORDS = {**{left: 1 for left, _ in SIDES}, **{right: -1 for _, right in SIDES}, **dict.fromkeys(TIES, 0)}
OF_LEFT = ("score", "result", "outcome", "won", "leftscore", "win")  # headers under which 1 is a win of the left item
RESULT = re.compile(r"(\d+(?:\.\d+)?)\s*[-–:]\s*(\d+(?:\.\d+)?)")
TRUTH = {"true": "1", "false": "0"}


class Column(NamedTuple):
    """The column of winners, and the columns beside it."""

    header: str
    left: str
    right: str
    of_left: bool  # it holds the score of the left item, by its header or by the user's choice


def verdicts(rows: pl.DataFrame, column: Column, fail: Fail) -> pl.Series:
    """1 when left wins, -1 when right wins, 0 for a tie, null where it is unknown; names take precedence over words."""
    named = rows.select(
        pl.when(pl.col("winner") == pl.col("left")).then(1).when(pl.col("winner") == pl.col("right")).then(-1)
    ).to_series()
    usable = (rows["left"] != rows["right"]).fill_null(False)
    texts = rows["winner"].unique().drop_nulls().to_list()
    unnamed = set(rows["winner"].filter(named.is_null() & usable).unique().drop_nulls().to_list())
    words = {text: word for text in texts if (word := _word(text, column, unnamed)) is not None}
    codes = {text: number for text in texts if text not in words and (number := _number(text)) is not None}
    if used := {codes[text] for text in unnamed if text in codes}:
        decided = bool((named.is_not_null() & usable).any()) or any(words.get(text) for text in unnamed)
        meaning = _scheme(used, column.of_left or normalise(column.header) in OF_LEFT, sides=not column.of_left)
        if meaning is None and not decided:
            row = int(rows["winner"].is_in([text for text in unnamed if text in codes]).arg_max() or 0)
            raise fail(int(rows["row"][row]), _ambiguous(used, column))
        words |= {text: meaning[number] for text, number in codes.items() if meaning and number in meaning}
    read = rows["winner"].replace_strict(words, default=None, return_dtype=pl.Int32)
    _check_names(rows, named, read, {text: words[text] for text in unnamed if text in words}, fail)
    return named.fill_null(read) if named.is_not_null().any() else read


def _check_names(rows: pl.DataFrame, named: pl.Series, read: pl.Series, used: Mapping[str, int], fail: Fail) -> None:
    """An error where the name of an item is also a word that other rows use for another side, or for a tie."""
    tied, sided = [text for text, word in used.items() if word == 0], any(used.values())
    of_used = rows["winner"].is_in(tied) | (read != 0) & sided
    if (row := first_true(named.is_not_null() & read.is_not_null() & (named != read) & of_used)) is not None:
        raise fail(
            int(rows["row"][row]),
            f"a winner that can be read in one way ({rows['winner'][row]!r} is an item and, in other rows, a word for "
            "a side or a tie; name all winners, or rename the item)",
        )


def _word(text: str, column: Column, unnamed: Collection[str]) -> int | None:
    """The meaning of a text on its own; letters with two meanings are decided by the others in the column."""
    word = normalise(text).replace("(", "").replace(")", "")
    letters = {normalise(other) for other in unnamed}
    if word in ("h", "a") and ("h" in letters or normalise(column.left).startswith("home")):
        return 1 if word == "h" else -1
    if word in ("w", "l") and "w" in letters and "r" not in letters:
        return 1 if word == "w" else -1
    if word in ("l", "r") and "r" in letters and "w" not in letters:
        return 1 if word == "l" else -1
    if word in (normalise(column.left), normalise(column.right)):
        return 1 if word == normalise(column.left) else -1
    if word in WORDS:
        return WORDS[word]
    if text.strip() in ("1/2-1/2", "½-½"):
        return 0
    if result := RESULT.fullmatch(text.strip()):
        left, right = map(float, result.groups())
        return (left > right) - (left < right)
    return None


def _number(text: str) -> float | None:
    try:
        return float(TRUTH.get(text.strip().lower(), text.replace(",", ".")))
    except ValueError:
        return None


def _scheme(used: Collection[float], of_left: bool, sides: bool) -> dict[float, int] | None:
    """What the numbers of a column mean, or None if they are unknown or ambiguous."""
    numbers = set(used)
    if numbers <= {0, 0.5, 1} and (of_left or 0.5 in numbers):
        return {1: 1, 0.5: 0, 0: -1}
    if numbers <= {-1, 0, 1} and -1 in numbers:
        return {1: 1, 0: 0, -1: -1}
    return {1: 1, 2: -1} if sides and numbers <= {1, 2} and 2 in numbers else None


def _ambiguous(used: Collection[float], column: Column) -> str:
    shown = ", ".join(f"{number:g}" for number in sorted(used)[:6]) + (" …" if len(used) > 6 else "")
    advice = "use names, left, right and tie, 1 and 2 for the sides, or the score of the left item: 1, 0.5 and 0"
    if set(used) <= {0, 1} and not column.of_left:
        advice = f"if 1 means that the left item won, use columns={{'score': {column.header!r}}}; otherwise {advice}"
    return f"winners in column {column.header!r} that can be read in one way (not {shown}): {advice}"
