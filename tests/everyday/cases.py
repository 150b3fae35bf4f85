"""A case: what a user does, and how it must end; and the check that it does."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any

from juryrank.errors import JuryrankError, JuryrankWarning

Answer = Mapping[Any, Mapping[Any, Fraction]]  # query -> item -> exact score

# What the program may say of what was dropped or repaired, by what it was.
WORDS = {
    "dropped": r"\d+ entries without a (score|rank) are dropped",
    "again": r"\d+ entries .*(repeat|again|twice|more than once)|ids repeat",
    "unknown weights": r"weights for experts that are not in the data",
    "types": r"ids are given in several types",
    "ranks": r"ranks and scores disagree on \d+ neighbouring entries",
    "same tag": r"files share the expert",
    "unused": r"columns? (is|are) not used",
    "wide": r"read as one column per expert",
    "labels": r"items have several labels",
    "queries": r"only \d+ of the \d+ queries with labels are in",
    "items": r"in \d+ of the \d+ queries with labels no ranked item is judged",
    "unlabelled": r"\d+ of \d+ queries have no labels",
    "nothing ranked": r"ranks nothing in \d+ of \d+ queries",
    "rows": r"\d+ (rows|comparisons|of \d+ (rows|comparisons))",
    "no lists": r"no lists|nobody ranks",
}
INTERNAL = re.compile(
    r"Traceback|object has no attribute|NoneType'|unsupported operand|<class|<function|polars|numpy|"
    r"KeyError|TypeError|ValueError|ComputeError|SchemaError|InvalidOperation|dtype|not subscriptable|invalid literal|"
    r"list index|unexpected keyword"
)


@dataclass
class Expected:
    """The end of a case: an answer with warnings, or a refusal; with ``either``, both are fine."""

    answer: Answer | None = None
    told: set[str] = field(default_factory=set)  # keys of WORDS: what must be said, and nothing else
    maybe: set[str] = field(default_factory=set)  # what may be said, too
    refused: tuple[str, ...] = ()  # texts, one of which a refusal must have
    either: bool = False
    ordered: bool = True  # whether the answer is an order, and not just values
    tie: Callable[[Any], Any] = str  # the order of items with equal scores
    may_lack: set[Any] = field(default_factory=set)  # queries without items, which need not be in the answer


@dataclass
class Case:
    """Something a user does."""

    kind: str
    seed: int
    text: str  # what is special about it
    act: Callable[[], Mapping[Any, Mapping[Any, float]]]
    expected: Expected
    command: list[str] = field(default_factory=list)  # the same on the command line, where it can be done there


def outcome(case: Case) -> str:
    """answered, warned or refused; an AssertionError where a case does not end as it must."""
    where = f"{case.kind} {case.seed}: {case.text}"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = case.act()
        except JuryrankError as error:
            check_refusal(str(error), case.expected, where)
            return "refused"
    said = [str(w.message) for w in caught if issubclass(w.category, JuryrankWarning)]
    strange = [w for w in caught if not issubclass(w.category, JuryrankWarning)]
    assert not strange, f"{where}: a warning that is not of juryrank: {strange[0].category} {strange[0].message}"
    assert case.expected.answer is not None, f"{where}: answered with {str(found)[:300]}, though it must be refused"
    check_warnings(said, case.expected, where)
    check_answer(found, case.expected, where)
    return "warned" if said else "answered"


def check_refusal(message: str, expected: Expected, where: str) -> None:
    """One clear line that names what is wrong, where that was to be refused."""
    assert expected.answer is None or expected.either, f"{where}: refused with {message!r}, though there is an answer"
    assert message.strip(), f"{where}: an error without a message"
    assert "\n" not in message.strip(), f"{where}: not one line: {message!r}"
    assert len(message) < 2000, f"{where}: a message without an end: {message[:200]!r}"
    assert not INTERNAL.search(message), f"{where}: the words of Python's inside: {message!r}"
    named = not expected.refused or any(text in message for text in expected.refused)
    assert named, f"{where}: none of {expected.refused} is named in {message!r}"


def check_warnings(said: list[str], expected: Expected, where: str) -> None:
    """Everything that was dropped or repaired is said, and nothing else is."""
    for kind in expected.told:
        assert any(re.search(WORDS[kind], text) for text in said), f"{where}: nothing is said of {kind!r}, only {said}"
    allowed = [WORDS[kind] for kind in expected.told | expected.maybe]
    for text in said:
        assert any(re.search(pattern, text) for pattern in allowed), f"{where}: a warning without a reason: {text!r}"
        assert not INTERNAL.search(text), f"{where}: the words of Python's inside: {text!r}"


def check_answer(found: Mapping[Any, Mapping[Any, float]], expected: Expected, where: str) -> None:
    """Equal items, scores within 1e-12, order by score; equal scores by name."""
    assert expected.answer is not None
    wanted = {query: s for query, s in expected.answer.items() if query in found or query not in expected.may_lack}
    assert set(found) == set(wanted), f"{where}: queries {sorted(map(str, found))}, not {sorted(map(str, wanted))}"
    for query, exact in wanted.items():
        scores = found[query]
        assert set(scores) == set(exact), f"{where}: items {list(scores)}, not {list(exact)} in {query!r}"
        kinds = {type(item) for item in exact}
        assert {type(item) for item in scores} <= kinds, f"{where}: ids came back as {list(scores)}"
        for item, score in scores.items():
            close = abs(Fraction(score) - exact[item]) <= Fraction(1, 10**12) * max(1, abs(exact[item]))
            assert close, f"{where}: {item!r} of {query!r} has {score}, not {float(exact[item])}"
        order = list(scores) if expected.ordered else []
        for first, second in pairwise(order):
            if scores[first] == scores[second]:
                right = expected.tie(first) < expected.tie(second)
            else:
                right = scores[first] > scores[second] and exact[first] >= exact[second]
            assert right, f"{where}: {first!r} stands before {second!r} in {query!r}: {dict(scores)}"
