"""Names that could mean something to a format come back exactly, or are refused before anything is written."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from juryrank.data import Dataset
from juryrank.data.build import from_dicts
from juryrank.errors import DataError, DataWarning
from juryrank.io import read, write

from .sameness import features_of, labels_of, lists_of

NAMES = [
    # empty, blanks, line ends and control characters
    "", " ", "  ", "\t", "a b", " a", "a ", "a\tb", "\ta", "a\t", "\n", "a\nb", "\r", "a\rb", "\r\n", "a\r\nb", "a\r",
    "a\n", "\na", "\0", "a\0b", "a\0", "\x0b", "a\x0cb", "a\x1bb", "\x1b[31mred\x1b[0m", "a\x07", "\x08", "a\x1cb",
    "a\x1db", "a\x1eb", "a\x1fb", "a\x7fb", "a\x85b", "a\x9bb", "a\xa0b", "a\u1680b", "a\u2003b", "a\u2028b",
    "a\u2029b", "a\u202fb", "a\u3000b", "a\u200bb", "\u202ecba", "\ufeffa", "a\ufeff", "e\u0301", "\u00e9",
    "\U0001f600",
    "日本語", "א", "\ufffd", "\ufffe", "\U0010ffff",
    # what formats use as marks
    '"', '"a', 'a"', '"a"', '""', "a,b", ",", ";", "a;b", "'", "`", "\\", "\\n", "\\0", "a\\", "#", "#a", "a#b",
    "# a", ":", "a:b",
    "1:2", "qid:1", "docid", "=", "docid = x", "{", "}", "{a", "a}", "{1,2}", "[", "]", "|", "||", "::", "a::b", "/",
    "../../etc/passwd",
    "..", ".", "~", "*", "?", "%", "%2F", "%00", "&", "<", ">", "<script>alert(1)</script>", "$a_b$", "$(id)", "-",
    "--help", "-1",
    # what formats use as words and numbers
    "Q0", "0", "1", "01", "1.0", "1e5", "-0", "+1", "nan", "NaN", "inf", "NULL", "null", "None", "NA", "N/A", "true",
    "False",
    "query", "item", "expert", "rank", "score", "label", "weight", "left", "right", "winner", "loser", "tie", "draw",
    "both",
    "a_duplicated_0", "=1+1", "'=1+1", "''@x", "@x", "+x", "2020-01-01", "1_000", "\u0661", "x" * 255, "x" * 300,
    "é" * 200, "CON", "NUL", "a.run", "a.",
]  # fmt: skip
ROLES = ("query", "item", "expert")
PLAIN = {"experts": False, "scores": False, "gaps": False}
Facts = Callable[[Dataset], object]


def whole(data: Dataset) -> object:
    return data.queries, lists_of(data), labels_of(data)


def ranks(data: Dataset) -> object:
    return data.queries, lists_of(data, scores=False), labels_of(data)


def by_feature(data: Dataset) -> object:
    rows = features_of(data)
    return {slot: dict(zip(data.feature_names, values, strict=True)) for slot, values in rows.items()}


WRITERS: list[tuple[str, str | None, tuple[str, ...], Facts]] = [
    ("a.csv", None, ROLES, whole),
    ("a.tsv", None, ROLES, whole),
    ("a.ndjson", None, ROLES, whole),
    ("a.parquet", None, ROLES, whole),
    ("runs", None, ROLES, lists_of),
    ("a.qrels", None, ("query", "item"), labels_of),
    ("a.letor", None, ROLES, ranks),
    ("a.svm", "letor-features", ("query", "item", "feature"), by_feature),
    ("a.toi", None, ("item",), lambda data: lists_of(data, **PLAIN)),
    ("a.csv", "ratings", ("item", "expert"), lists_of),
    ("a.csv", "comparisons", ROLES, lambda data: lists_of(data, scores=False, gaps=False)),
]


def data_with(name: str, roles: tuple[str, ...], *, one_query: bool, features: bool) -> Dataset:
    """Two experts who disagree about two items, scores, labels and perhaps features, with the name in some places."""
    query, item, expert = (name if each in roles else each[0] for each in ROLES)
    query = "all" if one_query else query
    runs = {expert: {query: {item: 2.5, "z": 1.0}}, "f": {query: {"z": 3.0, item: 0.5}}}
    data = from_dicts(runs, labels={query: {item: 2.0, "z": 0.0}})
    if not features:
        return data
    names = (name if "feature" in roles else "length", "year")
    return replace(data, features=np.array([[0.5, 2.0], [1.5, 3.0]]), feature_names=names)


@pytest.mark.parametrize(("file", "format", "roles", "facts"), WRITERS, ids=lambda value: str(value)[:20])
def test_a_hostile_name_comes_back_or_is_refused(
    tmp_path: Path,
    file: str,
    format: str | None,  # noqa: A002
    roles: tuple[str, ...],
    facts: Facts,
) -> None:
    def comes_back(name: str, places: tuple[str, ...]) -> bool:
        """False when it is refused; an error when it is written and lost."""
        folder = tmp_path / f"{NAMES.index(name)}{'-'.join(places)}"
        folder.mkdir()
        data = data_with(
            name, places, one_query=file == "a.toi" or format == "ratings", features=format == "letor-features"
        )
        try:
            write(data, folder / file, format)
        except DataError:
            assert list(folder.iterdir()) == []
            return False
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            assert facts(read(folder / file, format=format)) == facts(data), (name, places)
        return True

    carried = [name for name in NAMES if comes_back(name, roles)]
    refused = [name for name in NAMES if name not in carried]
    alone = [name for name in refused for role in roles if len(roles) > 1 and comes_back(name, (role,))]
    assert len(carried) + len(set(alone)) > 0.7 * len(NAMES)
    assert "" not in carried + alone
    assert {"日本語", "../../etc/passwd", "$a_b$", "NULL", "x" * 300} <= {*carried, *alone}
