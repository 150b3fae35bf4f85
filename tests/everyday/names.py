"""Names as users have them: ids of items, queries and experts of many kinds."""

from __future__ import annotations

import random
from typing import Any

N = 12

TEXTS: dict[str, list[str]] = {
    "plain": [f"d{n}" for n in range(N)],
    "digits": [str(n) for n in range(5, 5 + N)],
    "leading zeros": ["1", "01", "001", "2", "02", "10", "010", "7", "07", "007", "0", "00"],
    "like floats": [f"{n}.0" for n in range(N)],
    "unicode": ["žluť", "日本", "naïve", "🍵", "Ω", "ελ", "а", "a", "ß", "é", "e\u0301", "\u202eabc"],
    "long": [f"{'x' * 3000}{n}" for n in range(N)],
    "odd words": ["NA", "nan", "null", "None", "true", "NULL", "inf", "1e5", "-", "Q0", "#1", "N/A"],
    "signs": ["a:b", "a/b", "a-b", "a_b", "=1+1", "@x", "a|b", "a'b", "[x]", "{y}", "%41", "a\\b"],
    "case": ["A", "a", "AA", "aa", "Aa", "aA", "B", "b", "C", "c", "D", "d"],
}
QUOTED: dict[str, list[str]] = {  # for formats that can quote
    "blanks": [f"green tea {n}" for n in range(N)],
    "separators": ["a,b", "a;b", 'a"b', '"a"', "a, b", ";", ",", "x\ty", 'say "hi", ok', "a,,b", "q;1", "''"],
}
EXPERTS = ["bm25", "dense", "splade", "colbert"]
QUERIES: dict[str, list[str]] = {
    "q": ["q1", "q2", "q3", "q10"],
    "numbers": ["1", "2", "10", "301"],
    "zeros": ["01", "1", "001", "10"],
    "text": ["tea", "čaj", "MQ-1", "a.b"],
}


def some_items(rng: random.Random, *, quoted: bool = False) -> tuple[str, list[str]]:
    """A kind of names, and its names."""
    kinds = {**TEXTS, **(QUOTED if quoted else {})}
    kind = rng.choice(list(kinds))
    return kind, kinds[kind]


def some_queries(rng: random.Random) -> list[str]:
    """One to four names of queries."""
    return rng.sample(rng.choice(list(QUERIES.values())), rng.randint(1, 4))


def some_ids(rng: random.Random) -> tuple[str, list[Any]]:
    """Ids as Python has them: text, or whole numbers."""
    if rng.random() < 0.3:
        return "ints", list(range(-2, N - 2)) if rng.random() < 0.3 else list(range(3, 3 + N))
    return some_items(rng, quoted=True)
