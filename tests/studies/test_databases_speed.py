"""The benchmark of databases: other scores are noticed, and a database that is missing is no failure."""

import pytest

import juryrank
from studies.speed.clock import Effort
from studies.speed.databases import Database, random_entries, sqlite, time_statement


@pytest.fixture(scope="module")
def model():
    entries = random_entries(4)
    labels = entries.select("query", "item").unique(maintain_order=True).with_row_index("label")
    return juryrank.fit(entries, labels=labels.with_columns(label=labels["label"] % 3))


def test_sqlite_gives_the_scores_of_juryrank(model) -> None:
    entries = random_entries(2)
    with sqlite(entries) as database:
        row = time_statement("two queries", database, model, entries, Effort.QUICK)
    assert row.agrees
    assert row.theirs is not None
    assert row.theirs.seconds > 0


def test_other_scores_are_noticed(model) -> None:
    entries = random_entries(2)
    with sqlite(entries) as database:
        found = database.run(juryrank.export(model, "sqlite"))
    others = [(query, item, score + 1e-12) for query, item, score in found]
    row = time_statement("x", Database(lambda sql: others, lambda: 0.0, "sqlite"), model, entries, Effort.QUICK)
    assert row.agrees is False
