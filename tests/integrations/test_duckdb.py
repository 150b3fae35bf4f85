"""DuckDB: the exported query in statements that search, over tables and over files."""

import polars as pl
import pytest

pytest.importorskip("duckdb")

import duckdb
from sql_lists import (
    HOSTILE,
    SCHEMA,
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

# By words in common and by vector: the lists of all rows of `questions`.
SEARCHES = """
    WITH words AS (SELECT item, UNNEST(LIST_DISTINCT(REGEXP_EXTRACT_ALL(LOWER(text), '[a-z]+'))) AS word FROM texts),
    rare AS (SELECT word, LN((SELECT COUNT(*) FROM texts) / COUNT(*)) AS value FROM words GROUP BY word),
    asked AS (SELECT query, UNNEST(LIST_DISTINCT(REGEXP_EXTRACT_ALL(LOWER(text), '[a-z]+'))) AS word FROM questions),
    by_words AS (
        SELECT query, item, SUM(value ORDER BY word) AS score
        FROM asked JOIN words USING (word) JOIN rare USING (word) GROUP BY query, item
    ),
    by_vector AS (
        SELECT query, item, ARRAY_COSINE_DISTANCE(texts.vector, questions.vector) AS distance FROM questions, texts
    )
    SELECT query, item, 'words' AS expert, ROW_NUMBER() OVER (PARTITION BY query ORDER BY score DESC, item) AS rank
    FROM by_words QUALIFY rank <= 30
    UNION ALL
    SELECT query, item, 'vector' AS expert, ROW_NUMBER() OVER (PARTITION BY query ORDER BY distance, item) AS rank
    FROM by_vector QUALIFY rank <= 30
"""


@pytest.fixture
def database():
    with duckdb.connect() as connection:
        yield connection


@pytest.fixture
def demo(database):
    database.execute("CREATE TABLE texts (item TEXT, title TEXT, text TEXT, vector FLOAT[256])")
    database.execute("CREATE TABLE questions (query TEXT, text TEXT, vector FLOAT[256])")
    database.executemany("INSERT INTO texts VALUES (?, ?, ?, ?)", [list(text) for text in demo_texts()])
    rows = [[query.name, query.text, query.vector] for query in demo_queries()]
    database.executemany("INSERT INTO questions VALUES (?, ?, ?)", rows)
    return database


def load(database, entries):
    frame = entries if isinstance(entries, pl.DataFrame) else pl.DataFrame(entries, schema=SCHEMA, orient="row")
    database.register("given", frame.to_arrow())
    database.execute("CREATE TABLE entries AS SELECT * FROM given")


def test_one_statement_searches_by_words_and_vector_and_fuses_as_juryrank_does(demo):
    entries = demo.execute(SEARCHES).fetchall()
    assert {expert for _, _, expert, _ in entries} == {"words", "vector"}
    orders = []
    for model in (learn(entries), learn(entries, "rrf")):
        statement = (
            "WITH questions(query, text, vector) AS (VALUES (?, ?, CAST(? AS FLOAT[256]))), "
            f"entries AS ({SEARCHES}), fused AS ({juryrank.export(model, 'sql')}) SELECT * FROM fused"
        )
        found = [row for q in demo_queries() for row in demo.execute(statement, [q.name, q.text, q.vector]).fetchall()]
        assert found == fused(model, entries)  # scores to the last bit
        orders.append([item for _, item, _ in found])
    assert orders[0] != orders[1]


def test_files_of_entries_are_fused_where_they_are(database, tmp_path):
    entries = random_entries(8, ["a", "b", "c"])
    model = random_model(entries)
    pl.DataFrame(entries, schema=SCHEMA, orient="row").write_parquet(tmp_path / "entries.parquet")
    runs = [f"{query} Q0 {item} {rank} {1 / rank} {expert}\n" for query, item, expert, rank in entries]
    (tmp_path / "all.run").write_text("".join(runs), encoding="utf-8")
    sql = juryrank.export(model, "sql")
    database.execute(f"CREATE VIEW entries AS FROM '{tmp_path}/entries.parquet'")
    assert database.execute(sql).fetchall() == fused(model, entries)
    columns = "{'query': 'TEXT', 'q0': 'TEXT', 'item': 'TEXT', 'rank': 'INTEGER', 'score': 'DOUBLE', 'expert': 'TEXT'}"
    options = f"delim = ' ', quote = '', escape = '', header = false, columns = {columns}"
    database.execute(f"CREATE OR REPLACE VIEW entries AS FROM READ_CSV('{tmp_path}/all.run', {options})")
    assert database.execute(sql).fetchall() == fused(model, entries)


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("method", ["jury", "ridge", "rrf"])
def test_scores_and_order_are_those_of_juryrank_also_with_experts_that_the_model_does_not_know(
    database, method, threads
):
    database.execute(f"SET threads = {threads}")
    model = random_model(random_entries(1, ["b", "10", "9", "d"]), method)
    entries = random_entries(2, ["b", "10", "9", "d", "a", "c", "11", "é"], queries=30)
    load(database, entries)
    assert database.execute(juryrank.export(model, "sql", depth=40)).fetchall() == fused(model, entries)


def test_equal_scores_are_in_the_order_of_names_with_numbers_first(database):
    load(database, TIED)
    found = database.execute(juryrank.export(random_model(TIED, "rrf"), "sql")).fetchall()
    assert [item for _, item, _ in found] == TIED_ORDER
    assert len({score for _, _, score in found}) == 1


def test_hostile_names_are_names_with_parameters_and_without(database):
    entries = random_entries(4, HOSTILE)
    model = random_model(entries)
    load(database, entries)
    sql = juryrank.export(model, "sql", depth=30)
    expected = fused(model, entries)
    assert database.execute(sql).fetchall() == expected
    found = database.execute(f"WITH fused AS ({sql}) SELECT * FROM fused WHERE query = ?", ["q3"]).fetchall()
    assert found == [row for row in expected if row[0] == "q3"]


@pytest.mark.parametrize("rank", [0, -1, None])
def test_a_rank_below_1_is_an_error_that_names_it(database, rank):
    entries = random_entries(5, ["a", "b"])
    load(database, [*entries, ("q0", "new", "a", rank)])
    found = "NULL" if rank is None else rank
    with pytest.raises(duckdb.ConversionException, match=f"a rank must be 1 or more, found {found}"):
        database.execute(juryrank.export(random_model(entries), "sql"))


def test_a_million_entries_have_the_scores_of_juryrank(database):
    entries = million_entries()
    model = random_model(entries.head(3000).iter_rows())
    load(database, entries)
    found = database.execute(juryrank.export(model, "sql")).fetchall()
    assert_predicted(found, model, entries)
