"""FTS5 and sqlite-vec, fused by the exported query in one statement, on the texts of the demo."""

import csv
import json
import zlib
from importlib.resources import files

import numpy as np
import pytest

import juryrank

sqlite_vec = pytest.importorskip("sqlite_vec", reason="sqlite-vec is not installed: the SQLite page is NOT tested")
apsw = pytest.importorskip("apsw", reason="apsw is not installed, and Python's sqlite3 may not load sqlite-vec")

DEMO = files("juryrank") / "demo"
QUERIES = json.loads((DEMO / "queries.json").read_text())
DEPTH = 40
BM25 = "SELECT rowid FROM texts WHERE texts MATCH :words ORDER BY bm25(texts), rowid LIMIT 40"
TITLE = "SELECT rowid FROM titles WHERE titles MATCH :words ORDER BY bm25(titles), rowid LIMIT 40"
NEAREST = """SELECT rowid FROM (
    SELECT rowid, distance FROM vectors WHERE vector MATCH :vector ORDER BY distance LIMIT 40
) ORDER BY distance, rowid"""
ANGLE = "SELECT n FROM plain ORDER BY vec_distance_cosine(vector, :vector), n LIMIT 40"
SEARCHES = {"bm25": BM25, "title": TITLE, "nearest": NEAREST, "angle": ANGLE}
RANKED = {
    "bm25": "SELECT rowid AS item, bm25(texts) AS badness FROM texts WHERE texts MATCH :words",
    "title": "SELECT rowid AS item, bm25(titles) AS badness FROM titles WHERE titles MATCH :words",
    "nearest": "SELECT rowid AS item, distance AS badness FROM vectors WHERE vector MATCH :vector ORDER BY 2 LIMIT 40",
    "angle": "SELECT n AS item, vec_distance_cosine(vector, :vector) AS badness FROM plain",
}
ENTRIES = "WITH entries(query, item, expert, rank) AS (\n" + "\nUNION ALL\n".join(
    f"SELECT :query, * FROM (SELECT item, '{expert}', ROW_NUMBER() OVER (ORDER BY badness, item) AS rank FROM ({sql}))"
    f" WHERE rank <= {DEPTH}"
    for expert, sql in RANKED.items()
) + "\n)\n"  # fmt: skip


def letters(text: str, size: int) -> bytes:
    """Counts of three letters, in place of an embedding."""
    parts = [zlib.crc32(text[n : n + 3].lower().encode()) % size for n in range(len(text) - 2)]
    return sqlite_vec.serialize_float32(np.bincount(parts, minlength=size).tolist())


def values(text: str) -> dict[str, object]:
    words = " OR ".join('"' + word.replace('"', '""') + '"' for word in text.split())
    return {"query": "q", "words": words, "vector": letters(text, 256)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("sqlite")


@pytest.fixture(scope="module")
def database(folder):
    made = apsw.Connection(str(folder / "texts.db"))
    made.enable_load_extension(True)
    sqlite_vec.load(made)
    made.execute("PRAGMA journal_mode = wal").fetchall()
    made.execute("""
        CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = 'porter');
        CREATE VIRTUAL TABLE titles USING fts5(title);
        CREATE VIRTUAL TABLE vectors USING vec0(vector FLOAT[256]);
        CREATE TABLE plain (n INTEGER PRIMARY KEY, vector BLOB)
    """)
    for n, row in enumerate(csv.DictReader((DEMO / "corpus.csv").read_text().splitlines()), 1):
        vector = letters(row["text"], 256)
        made.execute("INSERT INTO texts(rowid, text) VALUES (?, ?)", (n, row["text"]))
        made.execute("INSERT INTO titles(rowid, title) VALUES (?, ?)", (n, row["title"]))
        made.execute("INSERT INTO vectors(rowid, vector) VALUES (?, ?)", (n, vector))
        made.execute("INSERT INTO plain VALUES (?, ?)", (n, vector))
    yield made
    made.close()


def searched(database, text: str) -> dict[str, list[int]]:
    """The list of each search alone, in a statement of its own."""
    given = values(text)
    return {expert: [row[0] for row in database.execute(sql, given)] for expert, sql in SEARCHES.items()}


@pytest.fixture(scope="module")
def lists(database):
    return {query: searched(database, text) for query, text in QUERIES.items()}


@pytest.fixture(scope="module")
def models(lists):
    rows = csv.DictReader((DEMO / "corpus.csv").read_text().splitlines())
    numbers = {row["item"]: str(n) for n, row in enumerate(rows, 1)}
    labels: dict[str, dict[str, float]] = {}
    for row in csv.DictReader((DEMO / "cooking.csv").read_text().splitlines()):
        if row["label"] != "":
            labels.setdefault(row["query"], {})[numbers[row["item"]]] = float(row["label"])
    runs = {e: {q: [str(item) for item in found[e]] for q, found in lists.items()} for e in SEARCHES}
    data = juryrank.from_dicts(runs, labels=labels)
    return {name: juryrank.method(name).fit(data) for name in ("jury", "rrf")}


def parts(model) -> tuple[str, str]:
    named = {expert: {"q": ["1"]} for expert in SEARCHES}  # rrf knows no experts
    script, _, query = juryrank.export(model, "sqlite", data=named, depth=DEPTH).rpartition("-- Query\n")
    return script, query


def fused(database, query: str, text: str) -> list[tuple[int, float]]:
    return [(item, score) for _, item, score in database.execute(ENTRIES + query, values(text))]


@pytest.mark.parametrize("name", ["jury", "rrf"])
def test_one_statement_retrieves_and_fuses_in_the_order_and_with_the_scores_of_juryrank(database, lists, models, name):
    script, query = parts(models[name])
    database.execute(script)
    fuser = juryrank.Fuser(models[name])
    for number, text in QUERIES.items():
        assert len(lists[number]["nearest"]) == len(lists[number]["angle"]) == DEPTH
        assert fused(database, query, text) == list(fuser(lists[number]).items())


def test_jury_and_rrf_give_different_orders(database, lists, models):
    first = {}
    for name, model in models.items():
        script, query = parts(model)
        database.execute(script)
        first[name] = {q: [item for item, _ in fused(database, query, text)[:10]] for q, text in QUERIES.items()}
    assert sum(first["jury"][query] != first["rrf"][query] for query in QUERIES) > len(QUERIES) / 2


def test_another_connection_has_the_old_model_until_the_new_one_is_complete(folder, database, models):
    text = next(iter(QUERIES.values()))
    script, query = parts(models["jury"])
    database.execute(script)
    reader = apsw.Connection(str(folder / "texts.db"), flags=apsw.SQLITE_OPEN_READONLY)
    reader.enable_load_extension(True)
    sqlite_vec.load(reader)
    old = fused(reader, query, text)
    assert old == fused(database, query, text)
    new_script, new_query = parts(models["rrf"])
    *statements, release = new_script.split(";\n")[:-1]
    for statement in statements:
        database.execute(statement)
        assert fused(reader, query, text) == old
    database.execute(release)
    new = fused(reader, new_query, text)
    assert new == fused(database, new_query, text)
    assert [item for item, _ in new] != [item for item, _ in old]
    reader.close()
