"""Exported models run elsewhere, without juryrank, and give the order of the library."""

import csv
import io
import json
import subprocess
import sys
import warnings
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose

import juryrank
from juryrank.data import Consensus, Dataset
from juryrank.data.build import from_dicts
from juryrank.errors import DataError, DataWarning, UnknownNameError
from juryrank.methods import method
from juryrank.tasks.export import export, position_table

AWKWARD = ["it's", 'a "b"', "a'); DROP TABLE entries; --", "naïve 检索 🎯", "back\\slash", "{x}", "%s", "10", "2", "0"]

HOSTILE = [
    *AWKWARD, "*", "a\nb", "a\rb", "a\tb", "'", "''", '"', '"""', "'''", "\\", "\\'", "a\\n", "--", "/*", "*/", "$$",
    ";", "e\x1b[31m", "{}", "{0}", "%", "NULL", "others", "\u2028", "\u202e", "x" * 300,
]  # fmt: skip


def entries_of(data: Dataset) -> pl.DataFrame:
    r = data.rankings
    by_list = np.repeat(np.arange(r.n_lists), r.list_size)
    columns = {
        "query": np.array(r.queries, object)[r.list_query[by_list]],
        "item": r.items[r.slot_item[r.entry_slot]],
        "expert": np.array(r.experts, object)[r.list_expert[by_list]],
    }
    text = {name: pl.Series(values, dtype=pl.String) for name, values in columns.items()}
    return pl.DataFrame({**text, "rank": r.entry_rank})


def in_duckdb(sql: str, entries: pl.DataFrame) -> dict[str, dict[str, float]]:
    with duckdb.connect() as connection:
        connection.register("entries", entries.to_arrow())
        out: dict[str, dict[str, float]] = {}
        for query, item, score in connection.execute(sql).fetchall():
            out.setdefault(query, {})[item] = score
        return out


def in_python(text: str, lists: dict[str, dict[str, list[str]]], folder: Path) -> dict[str, dict[str, float]]:
    """The answer by query of a fresh Python that has neither site packages nor juryrank."""
    (folder / "exported.py").write_text(text, encoding="utf-8")
    (folder / "lists.json").write_text(json.dumps(lists))
    code = (
        "import json, sys; folder = sys.argv[1]; space = {};"
        "exec(compile(open(folder + '/exported.py', encoding='utf-8').read(), 'exported.py', 'exec'), space);"
        "lists = json.load(open(folder + '/lists.json'));"
        "print(json.dumps({query: space['fuse'](given) for query, given in lists.items()}));"
        "assert not [m for m in sys.modules if m.startswith(('juryrank', 'numpy'))]"
    )
    command = [sys.executable, "-I", "-S", "-c", code, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def lists_of(data: Dataset) -> dict[str, dict[str, list[str]]]:
    """By query and expert, items in the order of their ranks."""
    out: dict[str, dict[str, list[str]]] = {query: {} for query in data.queries}
    for row in entries_of(data).iter_rows(named=True):
        out[row["query"]].setdefault(row["expert"], []).append(row["item"])
    return out


def assert_same_order(found: dict[str, dict[str, float]], consensus: Consensus) -> None:
    """The ranked items of every query in the library's order, with its scores."""
    expected = consensus.to_dict()
    assert set(found) == set(expected)
    for query, scores in found.items():
        wanted = {item: score for item, score in expected[query].items() if item in scores}
        assert list(scores) == list(wanted)
        assert list(scores.values()) == pytest.approx(list(wanted.values()), rel=1e-12, abs=1e-15)


@pytest.fixture(scope="module")
def covid(shared_data: Path) -> Dataset:
    folder = shared_data / "trec-covid-round1"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # two runs contradict themselves
        return juryrank.read(folder / "runs", labels=folder / "qrels.txt")


def untied(data: Dataset) -> Dataset:
    """The same orders with ranks 1, 2, 3, … as an exported function takes them."""
    runs: dict[str, dict[str, list[str]]] = {}
    for query, lists in lists_of(data).items():
        for expert, items in lists.items():
            runs.setdefault(expert, {})[query] = items
    return from_dicts(runs)


def test_the_python_function_ranks_trec_covid_as_the_library_does(covid, tmp_path):
    some = covid[:3]
    plain = untied(some)
    for name in ("jury", "rrf"):
        model = method(name).fit(covid)
        found = in_python(export(model, "python", data=covid), lists_of(some), tmp_path)
        assert_same_order(found, model.predict(plain))


@pytest.mark.parametrize("name", ["jury", "ridge", "rrf"])
def test_the_sql_query_ranks_a_fold_of_letor_as_the_library_does(shared_data, name):
    data = juryrank.read(shared_data / "MQ2008-agg")
    fold = data.folds[0]
    model = method(name).fit(data[list(fold.train)])
    test = data[list(fold.test)]
    assert_same_order(in_duckdb(export(model, "sql", data=data), entries_of(test)), model.predict(test))


def test_the_sql_query_ranks_trec_covid_as_the_library_does(covid):
    model = method("jury").fit(covid)
    some = covid[:5]
    assert_same_order(in_duckdb(export(model, "sql"), entries_of(some)), model.predict(some))


def awkward(experts: list[str] = AWKWARD) -> Dataset:
    rng = np.random.default_rng(3)
    items = [f"item '{n}' \\ \"{n}\"" for n in range(12)]
    queries = [f"q'{n}" for n in range(4)]
    runs = {e: {q: [items[i] for i in rng.permutation(12)[:7]] for q in queries} for e in experts}
    labels = {q: {item: float(rng.integers(0, 3)) for item in items} for q in queries}
    return from_dicts(runs, labels=labels)


@pytest.mark.parametrize("name", ["jury", "ridge"])
def test_awkward_names_neither_break_nor_inject(name, tmp_path):
    data = awkward(HOSTILE)
    model = method(name).fit(data)
    assert_same_order(in_duckdb(export(model, "sql", depth=20), entries_of(data)), model.predict(data))
    found = in_python(export(model, "python", depth=20), lists_of(data), tmp_path)
    assert_same_order(found, model.predict(data))
    content = json.loads(export(model, "json", depth=20))
    assert set(content["points"]) == set(HOSTILE)


@pytest.mark.parametrize("name", ["jury", "ridge", "lambdarank", "rrf"])
def test_an_expert_named_as_all_others_keeps_its_own_points(name):
    data = awkward(["*", "good", "\0"])
    model = method(name, **({"weights": {"*": 3.0}} if name == "rrf" else {})).fit(data)
    table = position_table(model, data.experts, depth=20)
    assert_allclose(table.scores(data.rankings), model.predict(data).scores, rtol=1e-12, atol=1e-15)
    content = json.loads(export(model, "json", depth=20))
    assert content["points"]["*"] != content["other"]
    with pytest.raises(DataError, match="stands for all others in CSV; export to json"):
        export(model, "csv", depth=20)


def test_a_table_is_as_deep_as_it_is_asked_to_be(tmp_path):
    model = method("rrf").fit(awkward())
    content = json.loads(export(model, "json", depth=5000))
    assert content["depth"] == len(content["other"]) == 5000
    assert content["exact"] == "for whole ranks up to 5000"
    assert content["other"] == [1 / (60 + rank) for rank in range(1, 5001)]
    long = from_dicts({"x": {"q": [f"i{n}" for n in range(4000)]}})
    assert_same_order(in_duckdb(export(model, "sql", depth=5000), entries_of(long)), model.predict(long))
    with pytest.raises(DataError, match="over 10,000,000 points: reduce depth"):
        export(model, "json", depth=10_000_001)


def test_sizes_of_a_table_are_refused_where_there_is_none():
    data = awkward()
    with pytest.raises(DataError, match="depth and items are sizes of a table, and qdrant takes only weights"):
        export(method("rrf").fit(data), "qdrant", data=data, depth=50)


@pytest.mark.filterwarnings("ignore:.*has not learned from")
def test_experts_unknown_to_the_model_are_heard(tmp_path):
    data = awkward()
    model = method("jury").fit(data)
    runs = {"stranger": {"q": ["a", "b", "c"]}, "it's": {"q": ["c", "d"]}, "other": {"q": ["d", "a"]}}
    new = from_dicts(runs)
    assert_same_order(in_duckdb(export(model, "sql", depth=9), entries_of(new)), model.predict(new))
    found = in_python(export(model, "python", depth=9), lists_of(new), tmp_path)
    assert_same_order(found, model.predict(new))


def test_a_model_without_experts_exports_too(tmp_path):
    new = from_dicts({"x": {"q": ["a", "b", "c"]}, "y": {"q": ["c", "b"]}})
    model = method("rrf").fit(new)
    assert_same_order(in_duckdb(export(model, "sql", depth=9), entries_of(new)), model.predict(new))
    assert_same_order(in_python(export(model, "python", depth=9), lists_of(new), tmp_path), model.predict(new))


@pytest.mark.parametrize("name", ["a\0b", "a\ud800"])
def test_a_name_that_no_database_holds_is_an_error(name):
    model = method("rrf", weights={name: 2.0}).fit(awkward())
    with pytest.raises(DataError, match="a character that SQL cannot represent; export to json"):
        export(model, "sql")


def test_json_and_csv_hold_the_same_numbers_bit_for_bit():
    model = method("jury").fit(awkward())
    content = json.loads(export(model, "json", depth=5))
    assert (content["format"], content["version"], content["depth"]) == ("juryrank-position-table", 1, 5)
    assert content["exact"] == "for whole ranks up to 5"
    ranks = np.arange(1.0, 6)
    for name in AWKWARD:
        assert content["points"][name] == model.formula().of(name, ranks).tolist()
    u, v, m, w = model.stranger_
    logarithm = np.log(1 + 100 / ranks)
    assert content["other"] == pytest.approx(u * 60 / (60 + ranks) + v * 10 / (10 + ranks) + m + w * logarithm)
    rows = list(csv.DictReader(io.StringIO(export(model, "csv", depth=5))))
    by_expert: dict[str, list[float]] = {}
    for row in rows:
        by_expert.setdefault(row["expert"], []).append(float(row["points"]))
    assert by_expert == {**content["points"], "*": content["other"]}


def test_an_expert_named_as_all_others_is_refused_in_csv():
    model = method("rrf", weights={"*": 2.0}).fit(awkward())
    with pytest.raises(DataError, match="stands for all others"):
        export(model, "csv", data=from_dicts({"*": {"q": ["a"]}}))


def test_an_unknown_target_is_named():
    with pytest.raises(UnknownNameError, match=r"no export 'sql2'; did you mean 'sql'\?"):
        export(method("rrf").fit(awkward()), "sql2")


def test_tied_integers_stand_in_their_own_order_as_in_fuse():
    space = {}
    exec(export(method("rrf").fit(from_dicts({"x": {"q": ["a"]}})), "python", depth=3), space)
    for lists in ({"x": [10], "y": [9], "z": [100]}, {"x": ["10"], "y": ["9"], "z": ["b"]}):
        assert list(space["fuse"](lists)) == list(juryrank.fuse(lists))
