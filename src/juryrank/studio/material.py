"""What a studio shows: the lists, and the texts of items and queries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import as_file, files

from juryrank.data import Dataset
from juryrank.io import read
from juryrank.tasks.judge.texts import Texts, read_texts

DEMO = files("juryrank") / "demo"
DEMO_TITLE = "Cooking (embedded data)"


@dataclass(frozen=True, eq=False)
class Material:
    """Lists, perhaps labels, and perhaps texts."""

    title: str
    data: Dataset
    items: Texts | None = None
    queries: Texts | None = None

    @cached_property
    def position(self) -> dict[str, int]:
        """The position of each query."""
        return {name: q for q, name in enumerate(self.data.queries)}

    def query_text(self, query: str) -> str | None:
        """The text of a query."""
        return None if self.queries is None else self.queries.get(query)

    def item_text(self, item: str) -> tuple[str | None, str | None]:
        """Title and text of an item; the first of several lines is the title."""
        whole = None if self.items is None else self.items.get(item)
        title, line_feed, rest = (whole or "").partition("\n")
        return (title, rest) if line_feed else (None, whole)


def read_demo() -> Material:
    """The embedded cooking data, without its labels, so that judging starts from nothing."""
    with (
        as_file(DEMO / "cooking.csv") as lists,
        as_file(DEMO / "corpus.csv") as corpus,
        as_file(DEMO / "queries.json") as queries,
    ):
        data = replace(read(lists), labels=None)
        items = read_texts(corpus, data.rankings.items.tolist())
        return Material(DEMO_TITLE, data, items, read_texts(queries, list(data.queries), "query"))
