"""Places as people write them in ballots: 1st, second, 2nd choice, Rank 3, 4 (last)."""

from __future__ import annotations

import re

WORDS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth",
)  # fmt: skip
BLANK = frozenset(
    {
        "", "-", "--", "–", "—", ".", "n/a", "na", "nan", "null", "none", "blank", "empty", "abstain", "abstention",
        "no choice", "no opinion", "no preference", "no rank", "not ranked", "unranked", "undervote", "skipped",
    }
)  # fmt: skip
OVERVOTES = frozenset({"overvote", "overvoted", "over vote"})
NOUN = r"(?:choices?|preferences?|prefs?|ranks?|rankings?|places?|positions?|votes?|picks?)"
ORDINAL = rf"(?P<word>{'|'.join(WORDS)})|(?P<number>\d{{1,3}})(?:[srnt][tdh])"
AROUND = rf"(?P<before>\d{{1,3}}) {NOUN}|{NOUN} ?(?:number |no |nr )?(?P<after>\d{{1,3}})"
NAMED = re.compile(rf"(?:(?:my|your|the) )?(?:(?:{ORDINAL})(?: {NOUN})?|{AROUND})")
NUMBER = re.compile(r"\d{1,6}(?:\.\d{1,6})?")
ASIDE = re.compile(r"\s*\([^()]*\)$|\s+-\s.*$")  # 1 (best), 5 - least preferred
MARKS = re.compile(r"[\s_#:.-]+")
QUESTION = re.compile(r"(?P<question>.*?)\s*\[(?P<row>.+)\]\s*$", re.DOTALL)


def named_place(text: str) -> int | None:
    """The place that a text names; a number alone names none.

    >>> [named_place(text) for text in ("First", "2nd choice", "rank_3", "Choice 4", "5", "Option 1")]
    [1, 2, 3, 4, None, None]
    """
    found = NAMED.fullmatch(MARKS.sub(" ", text.lower()).strip())
    if found is None:
        return None
    if found["word"]:
        return WORDS.index(found["word"]) + 1
    return int(found["number"] or found["before"] or found["after"]) or None


def written_place(text: str) -> float | None:
    """The place in the cell of a ballot, where a number alone is a place, too.

    >>> [written_place(text) for text in ("1", "2nd", "3 (worst)", "1.5", "#4", "Alice")]
    [1.0, 2.0, 3.0, 1.5, 4.0, None]
    """
    plain = ASIDE.sub("", text.strip())
    number = plain.removeprefix("#").strip()
    if NUMBER.fullmatch(number):
        return float(number)
    place = named_place(plain)
    return None if place is None else float(place)


def is_number(text: str) -> bool:
    """Whether a cell is a number alone."""
    try:
        float(text.strip())
    except ValueError:
        return False
    return True


def is_blank(text: str) -> bool:
    """Whether a cell says that there is no choice.

    >>> is_blank(" N/A "), is_blank("undervote"), is_blank("None of the above")
    (True, True, False)
    """
    return text.strip().lower() in BLANK


def split_question(header: str) -> tuple[str, str] | None:
    """Question and row of a column of a grid, as Google Forms writes them.

    >>> split_question("Rank these [Alice]"), split_question("Alice")
    (('Rank these', 'Alice'), None)
    """
    found = QUESTION.match(header)
    return (found["question"].strip(), found["row"].strip()) if found else None
