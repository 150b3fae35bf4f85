"""Entries for the tests of databases: the demo texts and random lists, and what juryrank makes of them."""

import csv
import json
import warnings
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

import juryrank
from juryrank.errors import DataWarning

DEMO = Path(juryrank.__file__).parent / "demo"
SCHEMA = ["query", "item", "expert", "rank"]
Entry = tuple[str, str, str, int]

HOSTILE = [
    "it's", "''", "a'); DROP TABLE entries; --", "\\", "\\'", "a\\n", "%", "%s", "%(a)s", "100%%", ":a", "::", "?",
    "$1", "$$", '"', "/*", "--", ";", "{x}", "a\nb", "a\r\tb", "\u2028", "naïve 检索 🎯", "x" * 300, "10", "9", "007",
    " ", "", "E", "e", "é", "NULL",
]  # fmt: skip

# Every expert has one item, all of them first: in the order of their names, numbers first.
TIED_ORDER = ["0", "9", "10", "100", "007", "1" * 19, "A", "Z", "a", "a10", "a9", "é", "😀"]
TIED = [("q", item, f"e{n}", 1) for n, item in enumerate(reversed(TIED_ORDER))]


class Text(NamedTuple):
    """A text or query of the demo, with counts of trigrams as its vector."""

    name: str
    title: str
    text: str
    vector: list[int]


def embed(text: str) -> list[int]:
    parts = [zlib.crc32(text[n : n + 3].lower().encode()) % 256 for n in range(len(text) - 2)]
    return np.bincount(parts, minlength=256).tolist()


def demo_texts() -> list[Text]:
    with (DEMO / "corpus.csv").open(newline="", encoding="utf-8") as file:
        return [Text(row["item"], row["title"], row["text"], embed(row["text"])) for row in csv.DictReader(file)]


def demo_queries() -> list[Text]:
    queries = json.loads((DEMO / "queries.json").read_text(encoding="utf-8"))
    return [Text(name, "", text, embed(text)) for name, text in queries.items()]


def learn(entries: Iterable[Entry], method: str = "jury"):
    """A model of the demo's labels for every other of its queries, so that the others are new to it."""
    train = [entry for entry in entries if int(entry[0].removeprefix("q")) % 2]
    labels = pl.read_csv(DEMO / "cooking.csv").filter(pl.col("query").is_in([query for query, *_ in train]))
    frame = pl.DataFrame(train, schema=SCHEMA, orient="row")
    return juryrank.fit(frame, method, labels=labels.select("query", "item", "label").unique())


def by_query(entries: Iterable[Entry]) -> dict[str, dict[str, list[str]]]:
    """By query and expert, items in the order of their ranks."""
    out: dict[str, dict[str, list[str]]] = {}
    for query, item, expert, _ in sorted(entries, key=lambda entry: (entry[0], entry[2], entry[3])):
        out.setdefault(query, {}).setdefault(expert, []).append(item)
    return out


def fused(model, entries: Iterable[Entry]) -> list[tuple[str, str, float]]:
    """Query, item and score of all items: queries by name, items in juryrank's order."""
    fuser = juryrank.Fuser(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # some experts are unknown to the model
        return [
            (query, item, score) for query, lists in by_query(entries).items() for item, score in fuser(lists).items()
        ]


def random_entries(seed: int, experts: list[str], *, queries: int = 6, items: list[str] | None = None) -> list[Entry]:
    """Lists of different lengths, whose items are numbers and other names."""
    rng = np.random.default_rng(seed)
    names = items or [*(str(n) for n in range(20)), "007", "a9", "a10", "A", "b'c", "é", "%", "x\\"]
    return [
        (f"q{query}", names[n], expert, rank)
        for query in range(queries)
        for expert in experts
        for rank, n in enumerate(rng.permutation(len(names))[: rng.integers(1, len(names))], 1)
    ]


def random_model(entries: Iterable[Entry], method: str = "jury", **params):
    """A method fitted to random labels."""
    frame = pl.DataFrame(list(entries), schema=SCHEMA, orient="row")
    pairs = sorted({(query, item) for query, item, *_ in frame.iter_rows()})
    rng = np.random.default_rng(7)
    labels = {}
    for query, item in pairs:
        labels.setdefault(query, {})[item] = float(rng.integers(0, 3))
    return juryrank.fit(frame, method, labels=labels, **params)


def million_entries() -> pl.DataFrame:
    """3,334 queries × three lists of 100 of 200 items."""
    rng = np.random.default_rng(0)
    n = 3334 * 3
    items = np.argsort(rng.random((n, 200)), axis=1)[:, :100]
    return pl.DataFrame(
        {
            "query": np.repeat(np.arange(3334), 300),
            "item": items.ravel(),
            "expert": np.repeat(np.tile(np.arange(3), 3334), 100),
            "rank": np.tile(np.arange(1, 101), n),
        }
    ).with_columns(
        query=pl.format("q{}", "query"), item=pl.format("document-{}", "item"), expert=pl.format("e{}", "expert")
    )


def assert_predicted(found: list[tuple[str, str, float]], model, entries: pl.DataFrame) -> None:
    """The rows are the scores of the whole dataset, to the last bit, in its order."""
    predicted = model.predict(juryrank.read(entries)).to_dict()
    by_query = pl.DataFrame(found, schema=["query", "item", "score"], orient="row").partition_by("query", as_dict=True)
    assert len(by_query) == len(predicted)
    assert all(list(predicted[q].items()) == part.select("item", "score").rows() for (q,), part in by_query.items())
