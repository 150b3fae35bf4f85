"""The script and the query for SQLite give the order and the scores of the library, to the last bit."""

import sqlite3
from itertools import permutations

import numpy as np
import pytest

import juryrank
from juryrank.data import Consensus, Dataset
from juryrank.data.build import from_dicts
from juryrank.errors import DataError
from juryrank.methods import method
from juryrank.tasks.export import PositionTable, export
from juryrank.tasks.export.sqlite import MOST_EXPERTS, to_sqlite

try:
    import apsw
except ImportError:
    apsw = None

HOSTILE = [
    "it's", 'a "b"', "a'); DROP TABLE entries; --", "naïve 检索 🎯", "back\\slash", "{x}", "{total}", "%s", "10", "2",
    "0", "*", "a\nb", "a\rb", "'", "''", '"', "`", "[a]", "--", "/*", "*/", ";", "?1", ":a", "@a", "$a", "NULL", "",
    "\n-- Query\n", "SAVEPOINT juryrank;", "x'00'", "-1", "e\x1b[31m", "\u2028", "Ä", "ä", "x" * 300,
]  # fmt: skip
LIBRARIES = [
    "sqlite3",
    pytest.param("apsw", marks=pytest.mark.skipif(apsw is None, reason="apsw is not installed")),
]


class Database:
    """A database in memory, by the library of Python or by apsw, whose SQLite is newer."""

    def __init__(self, library: str) -> None:
        standard = library == "sqlite3"
        self.connection = sqlite3.connect(":memory:", isolation_level=None) if standard else apsw.Connection(":memory:")
        self.execute = self.connection.execute
        self.script = self.connection.executescript if standard else self.connection.execute

    def load(self, rows: list[tuple]) -> None:
        self.script(
            "DROP TABLE IF EXISTS entries; CREATE TABLE entries (query TEXT, item TEXT, expert TEXT, rank REAL)"
        )
        self.connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?)", rows)

    def ranking(self, query: str) -> dict[str, dict[str, float]]:
        out: dict[str, dict[str, float]] = {}
        for name, item, score in self.execute(query):
            out.setdefault(name, {})[item] = score
        return out


@pytest.fixture(params=LIBRARIES)
def database(request):
    made = Database(request.param)
    yield made
    made.connection.close()


def parts(text: str) -> tuple[str, str]:
    script, _, query = text.rpartition("-- Query\n")
    return script, query


def rows_of(runs: dict[str, dict[str, list[str]]]) -> list[tuple]:
    return [
        (query, item, expert, rank)
        for expert, lists in runs.items()
        for query, items in lists.items()
        for rank, item in enumerate(items, 1)
    ]


def fused(database: Database, text: str, runs: dict) -> dict[str, dict[str, float]]:
    script, query = parts(text)
    database.script(script)
    database.load(rows_of(runs))
    return database.ranking(query)


def assert_identical(found: dict[str, dict[str, float]], consensus: Consensus) -> None:
    """The same queries, items, order and scores, without a tolerance."""
    expected = consensus.to_dict()
    assert found.keys() == expected.keys()
    for query, scores in found.items():
        assert list(scores.items()) == [(i, s) for i, s in expected[query].items() if i in scores]


def random_runs(experts: list[str], seed: int = 3, items: int = 40, depth: int = 25) -> dict[str, dict[str, list[str]]]:
    rng = np.random.default_rng(seed)
    return {e: {f"q'{q}": [str(i) for i in rng.permutation(items)[:depth]] for q in range(6)} for e in experts}


def labelled(runs: dict, seed: int = 4) -> Dataset:
    rng = np.random.default_rng(seed)
    items = {q: sorted({i for lists in runs.values() for i in lists[q]}) for q in next(iter(runs.values()))}
    return from_dicts(runs, labels={q: {i: float(rng.integers(0, 3)) for i in found} for q, found in items.items()})


@pytest.mark.parametrize("name", ["jury", "ridge", "rrf"])
def test_order_and_scores_are_identical_and_jury_is_not_rrf(database, name):
    runs = random_runs(["bm25", "dense", "title", "10", "9"])
    data = labelled(runs)
    model = method(name).fit(data)
    found = fused(database, export(model, "sqlite", data=data), runs)
    assert_identical(found, model.predict(data))
    plain = method("rrf").fit(data).predict(data).to_dict()
    assert (name == "rrf") == all(list(found[q]) == list(plain[q]) for q in plain)


def test_sums_that_differ_in_the_last_digit_are_added_in_the_order_of_the_experts(database):
    """SUM would give the same score for the ranks 1, 2, 7 in any order, or one that depends on the order of rows."""
    experts = ["a", "b", "c"]
    placed = list(permutations((1, 2, 7, 11), 3))
    rows = [("q", f"i{n}", e, r) for n, ranks in enumerate(placed) for e, r in zip(experts, ranks, strict=True)]
    model = method("rrf").fit(from_dicts({e: {"q": ["x"]} for e in experts}))
    script, query = parts(export(model, "sqlite", data=from_dicts({e: {"q": ["x"]} for e in experts})))
    database.script(script)
    wanted = {f"i{n}": 1 / (60 + a) + 1 / (60 + b) + 1 / (60 + c) for n, (a, b, c) in enumerate(placed)}
    assert len(set(wanted.values())) > 4  # four sets of ranks, whose sums depend on the order
    for shuffled in (rows, rows[::-1]):
        database.load(shuffled)
        assert database.ranking(query)["q"] == wanted


def test_ties_are_ordered_by_name_with_nine_before_ten(database):
    items = ["10", "9", "100", "007", "b", "a", "B", "é", "0", "00", "12345678901234567890", "1.5", "-3", " 4", "٣"]
    runs = {item: {"q": [item]} for item in items}
    data = from_dicts(runs)
    model = method("rrf").fit(data)
    found = fused(database, export(model, "sqlite", depth=3), runs)
    assert list(found["q"]) == list(model.predict(data).to_dict()["q"])
    assert list(found["q"])[:4] == ["0", "9", "10", "100"]


@pytest.mark.parametrize("name", ["jury", "ridge"])
def test_hostile_names_of_experts_neither_break_nor_inject(database, name):
    runs = random_runs(HOSTILE, depth=9)
    data = labelled(runs)
    model = method(name).fit(data)
    assert_identical(fused(database, export(model, "sqlite", depth=20), runs), model.predict(data))
    stored = [row[0] for row in database.execute("SELECT expert FROM juryrank_experts")]
    assert sorted(stored) == sorted(HOSTILE)
    tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
    assert tables == {"entries", "juryrank_experts", "juryrank_points"}


def test_a_name_that_sql_cannot_have_is_an_error():
    model = method("jury").fit(labelled(random_runs(["a", "\0"])))
    with pytest.raises(DataError, match=r"'\\x00' has a character that SQL cannot represent; export to json"):
        export(model, "sqlite")


def test_the_script_can_run_again_inside_a_transaction_and_replaces_the_model(database):
    runs = random_runs(["a", "b", "c"])
    data = labelled(runs)
    jury, rrf = (method(name).fit(data) for name in ("jury", "rrf"))
    first = export(jury, "sqlite", depth=100)
    assert_identical(fused(database, first, runs), jury.predict(data))
    assert_identical(fused(database, first, runs), jury.predict(data))
    database.execute("BEGIN")
    database.execute("INSERT INTO entries VALUES ('q''0', 'new', 'a', 1)")
    script, query = parts(export(rrf, "sqlite", depth=30, data=data))
    if isinstance(database.connection, sqlite3.Connection):
        for statement in script.split(";\n")[:-1]:  # executescript would commit
            database.execute(statement)
    else:
        database.script(script)
    assert database.ranking(query)["q'0"]["new"] == 1 / 61
    database.execute("ROLLBACK")
    assert_identical(database.ranking(parts(first)[1]), jury.predict(data))


def test_the_query_of_one_model_is_right_with_the_points_of_another(database):
    """Only the last digit may differ: depth and experts are in the tables, and the query only orders the sum."""
    few, many = random_runs(["a", "b"]), random_runs(["a", "b", "c", "d", "e"], seed=5)
    small, large = method("jury").fit(labelled(few)), method("jury").fit(labelled(many))
    query = parts(export(small, "sqlite", depth=7))[1]
    database.script(parts(export(large, "sqlite", depth=80))[0])
    database.load(rows_of(many))
    expected = large.predict(from_dicts(many)).to_dict()
    for name, scores in database.ranking(query).items():
        assert scores == pytest.approx(expected[name], rel=1e-14)


def test_deeper_ranks_count_as_the_last_and_other_experts_as_the_mean_one(database):
    data = labelled(random_runs(["a", "b"]))
    model = method("jury").fit(data)
    script, query = parts(export(model, "sqlite", depth=5))
    database.script(script)
    database.load([("q", "x", "a", 5), ("q", "y", "a", 5000), ("q", "z", "unknown", 1), ("q", "w", "A", 1)])
    scores = database.ranking(query)["q"]
    assert scores["x"] == scores["y"] == juryrank.fuse({"a": ["1", "2", "3", "4", "x"]}, model=model)["x"]
    with pytest.warns(juryrank.errors.DataWarning, match="has not learned from"):
        other = juryrank.fuse({"unknown": ["z"]}, model=model)
    assert scores["z"] == scores["w"] == other["z"]


def test_a_model_without_experts_needs_none(database):
    runs = {"x": {"q": ["a", "b", "c"]}, "y": {"q": ["c", "b"]}}
    model = method("rrf").fit(from_dicts(runs))
    assert_identical(fused(database, export(model, "sqlite", depth=9), runs), model.predict(from_dicts(runs)))


def test_every_number_is_stored_to_the_last_bit(database):
    rng = np.random.default_rng(0)
    random = rng.integers(-(2**62), 2**62, 20_000).view(np.float64)
    usual = rng.uniform(-1, 1, 20_000) * 10.0 ** rng.integers(-12, 5, 20_000)
    values = np.concatenate([
        usual, random[(np.abs(random) < 2.0**62) & (np.abs(random) > 1e-290)],
        [0.0, 1.0, -1.0, 0.1, 1 / 3, 2.0**-1022, 5e-324, 2.0**61, 1e300, np.pi],
    ])  # fmt: skip
    table = PositionTable("jury", ("a",), values[None, :], values, "for a test")
    database.script(parts(to_sqlite(table))[0])
    stored = [row[0] for row in database.execute("SELECT points FROM juryrank_points WHERE place = 0 ORDER BY rank")]
    assert stored == values.tolist()


def test_as_many_experts_as_an_expression_has_levels_and_no_more(database):
    experts = [f"e{n}" for n in range(MOST_EXPERTS)]
    runs = {e: {"q": [f"i{n % 7}", f"i{n % 11 + 7}"]} for n, e in enumerate(experts)}
    data = from_dicts(runs)
    model = method("rrf", weights={e: 1 + n / 7 for n, e in enumerate(experts)}).fit(data)
    assert_identical(fused(database, export(model, "sqlite", depth=3, data=data), runs), model.predict(data))
    more = method("rrf", weights={**model.weights, "more": 1.0}).fit(from_dicts({**runs, "more": {"q": ["i1"]}}))
    with pytest.raises(DataError, match="at most 900 terms, and the model has 901 experts; export to json"):
        export(more, "sqlite", depth=3)


def test_a_query_over_a_with_clause_needs_no_table(database):
    data = labelled(random_runs(["a", "b"]))
    model = method("jury").fit(data)
    script, query = parts(export(model, "sqlite", depth=50))
    database.script(script)
    entries = (
        "WITH entries(query, item, expert, rank) AS (VALUES ('q', 7, 'a', 1), ('q', 10, 'b', 1), ('q', 7, 'b', 2))"
    )
    found = [row[1:] for row in database.execute(f"{entries}\n{query} LIMIT 5")]
    assert found == list(juryrank.fuse({"a": [7], "b": [10, 7]}, model=model).items())
    assert database.execute("SELECT count(*) FROM sqlite_master WHERE name = 'entries'").fetchone() == (0,)
