"""JuryReranker in real LanceDB tables (lancedb 0.40): hybrid, vector and full-text search, from sync and async code."""

from __future__ import annotations

import asyncio
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import juryrank
from juryrank.errors import DataError, DataWarning, ParameterError

lancedb = pytest.importorskip("lancedb")
pa = pytest.importorskip("pyarrow")

from lancedb.index import FTS  # noqa: E402
from lancedb.rerankers import RRFReranker  # noqa: E402

from juryrank.integrations.lancedb import JuryReranker  # noqa: E402

WORDS = ["tea", "milk", "rice", "soup", "salt", "corn", "leek", "plum"]
N_DOCUMENTS, DEPTH = 120, 40
FLOAT32 = 1e-6  # relative precision of the column _relevance_score


class Searches:
    """A table whose rows are about one word: vectors point towards the word, texts mention it among others."""

    def __init__(self, folder: Path) -> None:
        rng = np.random.default_rng(5)
        self.directions = rng.normal(size=(len(WORDS), 8))
        self.topics = rng.integers(0, len(WORDS), N_DOCUMENTS)
        vectors = self.directions[self.topics] + 0.8 * rng.normal(size=(N_DOCUMENTS, 8))
        texts = [" ".join(rng.choice(WORDS, rng.integers(3, 9))) for _ in range(N_DOCUMENTS)]
        rows = [
            {"id": f"d{n}", "text": text, "vector": vector}
            for n, (text, vector) in enumerate(zip(texts, vectors.astype(np.float32), strict=True))
        ]
        self.folder = folder
        self.table = lancedb.connect(folder).create_table("documents", rows)
        self.table.create_index("text", config=FTS())

    def vector(self, word: int) -> Any:
        return self.table.search(self.directions[word])

    def fts(self, word: int) -> Any:
        return self.table.search(WORDS[word], query_type="fts")

    def hybrid(self, word: int) -> Any:
        return self.table.search(query_type="hybrid").vector(self.directions[word]).text(WORDS[word])

    def lists(self, word: int, depth: int = DEPTH) -> dict[str, list[str]]:
        """The ids of two separate searches, best first."""
        found = {"vector": self.vector(word), "fts": self.fts(word)}
        return {expert: [row["id"] for row in search.limit(depth).to_list()] for expert, search in found.items()}

    def by_row(self, word: int, depth: int = DEPTH) -> dict[str, list[int]]:
        """The row ids of two separate searches, best first."""
        found = {"vector": self.vector(word), "fts": self.fts(word)}
        return {
            expert: search.with_row_id(True).limit(depth).to_arrow()["_rowid"].to_pylist()
            for expert, search in found.items()
        }


@pytest.fixture(scope="module")
def searches(tmp_path_factory: pytest.TempPathFactory) -> Searches:
    return Searches(tmp_path_factory.mktemp("lancedb"))


@pytest.fixture(scope="module")
def model(searches: Searches) -> Any:
    """A jury that has learned how good both searches are."""
    runs: dict[str, dict[str, list[str]]] = {"vector": {}, "fts": {}}
    labels = {}
    for word, name in enumerate(WORDS):
        for expert, listed in searches.lists(word).items():
            runs[expert][name] = listed
        labels[name] = {f"d{n}": float(topic == word) for n, topic in enumerate(searches.topics)}
    return juryrank.fit(runs, "jury", labels=labels)


def ranked(rows: list[dict[str, Any]]) -> dict[Any, float]:
    """The result of a search with row ids as a ranking."""
    return {row["_rowid"]: row["_relevance_score"] for row in rows}


def assert_same(rows: list[dict[str, Any]], expected: dict[int, float], n: int) -> None:
    got = ranked(rows)
    assert list(got) == list(expected)[:n]
    assert list(got.values()) == pytest.approx(list(expected.values())[:n], rel=FLOAT32)


@pytest.mark.parametrize("word", range(len(WORDS)))
def test_a_hybrid_search_gives_the_order_and_the_scores_of_the_model(searches: Searches, model: Any, word: int) -> None:
    rows = searches.hybrid(word).rerank(JuryReranker(model)).with_row_id(True).limit(DEPTH).to_list()
    assert_same(rows, juryrank.Fuser(model)(searches.by_row(word)), DEPTH)


def test_a_learned_model_changes_the_order_of_rrf(searches: Searches, model: Any) -> None:
    lists = searches.by_row(0)
    learned, plain = list(juryrank.Fuser(model)(lists)), list(juryrank.fuse(lists))
    assert learned[:10] != plain[:10]
    for reranker, expected in ((JuryReranker(model), learned), (JuryReranker(method="rrf"), plain)):
        rows = searches.hybrid(0).rerank(reranker).with_row_id(True).limit(DEPTH).to_list()
        assert [row["_rowid"] for row in rows] == expected[:DEPTH]


def test_weights_change_the_order(searches: Searches) -> None:
    lists = searches.by_row(1)
    for weights in ({"vector": 5.0}, {"fts": 5.0}):
        rows = searches.hybrid(1).rerank(JuryReranker(weights=weights, k=10)).with_row_id(True).limit(DEPTH).to_list()
        assert_same(rows, juryrank.fuse(lists, "rrf", weights=weights, k=10), DEPTH)
    assert list(juryrank.fuse(lists, weights={"vector": 5.0})) != list(juryrank.fuse(lists, weights={"fts": 5.0}))


def test_rrf_gives_the_scores_of_the_reranker_of_lancedb(searches: Searches) -> None:
    ours = searches.hybrid(2).rerank(JuryReranker()).with_row_id(True).limit(DEPTH).to_list()
    theirs = searches.hybrid(2).rerank(RRFReranker()).with_row_id(True).limit(DEPTH).to_list()
    assert [row["_relevance_score"] for row in ours] == [row["_relevance_score"] for row in theirs]
    first = {row["_rowid"]: {name: row[name] for name in ("id", "text", "vector")} for row in theirs}
    shared = [row for row in ours if row["_rowid"] in first]
    assert len(shared) > DEPTH / 2
    assert all({name: row[name] for name in ("id", "text", "vector")} == first[row["_rowid"]] for row in shared)


async def test_the_async_api_gives_the_same(searches: Searches, model: Any) -> None:
    table = await (await lancedb.connect_async(searches.folder)).open_table("documents")
    query = table.query().nearest_to(searches.directions[3]).nearest_to_text(WORDS[3]).rerank(JuryReranker(model))
    rows = await query.with_row_id().limit(DEPTH).to_list()
    assert_same(rows, juryrank.Fuser(model)(searches.by_row(3)), DEPTH)
    many = [table.query().nearest_to(v).nearest_to_text("tea").rerank(JuryReranker(model)) for v in searches.directions]
    assert [len(rows) for rows in await asyncio.gather(*(query.limit(5).to_list() for query in many))] == [5] * 8


def test_a_saved_model_works_by_its_path(searches: Searches, model: Any, tmp_path: Path) -> None:
    juryrank.save(model, tmp_path / "model.json")
    for path in (tmp_path / "model.json", str(tmp_path / "model.json")):
        rows = searches.hybrid(4).rerank(JuryReranker(path)).with_row_id(True).limit(10).to_list()
        assert_same(rows, juryrank.Fuser(model)(searches.by_row(4, 10)), 10)


def test_experts_have_the_names_of_the_model(searches: Searches) -> None:
    reranker = JuryReranker(weights={"dense": 3.0}, experts=("dense", "bm25"))
    lists = dict(zip(("dense", "bm25"), searches.by_row(5).values(), strict=True))
    rows = searches.hybrid(5).rerank(reranker).with_row_id(True).limit(DEPTH).to_list()
    assert_same(rows, juryrank.fuse(lists, weights={"dense": 3.0}), DEPTH)


def test_experts_that_the_model_does_not_know_are_reported(searches: Searches, model: Any) -> None:
    with pytest.warns(DataWarning, match="has not learned from: body, title; known: fts, vector"):
        searches.hybrid(0).rerank(JuryReranker(model, experts=["title", "body"])).limit(3).to_list()


@pytest.mark.parametrize("experts", ["vector", ("vector",), ("a", "a"), ("a", "b", "c"), (1, 2)])
def test_wrong_names_of_experts_are_refused(searches: Searches, experts: Any) -> None:
    with pytest.raises(ParameterError, match="experts must"):
        JuryReranker(experts=experts).rerank_hybrid("tea", found([1], "_distance"), found([1], "_score"))


def found(ids: list[int], column: str, scores: list[float] | None = None) -> Any:
    """The result of a search as LanceDB gives it to a reranker."""
    values = [float(n) for n in range(len(ids))] if scores is None else scores
    return pa.table(
        {
            "id": [f"d{n}" for n in ids],
            column: pa.array(values, pa.float32()),
            "_rowid": pa.array(ids, pa.uint64()),
        }
    )


def test_all_rows_are_returned_and_top_limits_them() -> None:
    tables = found([7, 2, 9], "_distance"), found([2, 4], "_score")
    fused = juryrank.fuse({"vector": [7, 2, 9], "fts": [2, 4]})
    every = JuryReranker().rerank_hybrid("q", *tables)
    assert every.column_names == ["id", "_rowid", "_relevance_score"]
    assert every["_relevance_score"].type == pa.float32()
    assert every["_rowid"].to_pylist() == list(fused)
    assert every["id"].to_pylist() == [f"d{n}" for n in fused]
    assert JuryReranker(top=2).rerank_hybrid("q", *tables).equals(every.slice(0, 2))


def test_the_best_of_long_lists_are_found_with_top(searches: Searches, model: Any) -> None:
    """LanceDB's limit is also the length of the lists: top is independent of it."""
    rows = searches.hybrid(6).rerank(JuryReranker(model, top=5)).with_row_id(True).limit(DEPTH).to_list()
    assert_same(rows, juryrank.Fuser(model)(searches.by_row(6), top=5), 5)
    assert len(rows) == 5


def test_both_scores_of_a_row_are_kept_with_all() -> None:
    tables = found([7, 2, 9], "_distance", [0.1, 0.2, 0.3]), found([2, 4], "_score", [8.0, 5.0])
    rows = JuryReranker(return_score="all").rerank_hybrid("q", *tables).to_pylist()
    kept = {row["_rowid"]: (row["_distance"], row["_score"]) for row in rows}
    assert kept == {
        7: (pytest.approx(0.1), None),
        2: (pytest.approx(0.2), 8.0),
        9: (pytest.approx(0.3), None),
        4: (None, 5.0),
    }


def test_the_table_restores_its_own_distances_and_scores(searches: Searches, model: Any) -> None:
    rows = searches.hybrid(0).rerank(JuryReranker(model, return_score="all")).limit(DEPTH).to_list()
    distances = {row["id"]: row["_distance"] for row in searches.vector(0).limit(DEPTH).to_list()}
    scores = {row["id"]: row["_score"] for row in searches.fts(0).limit(DEPTH).to_list()}
    assert {row["id"]: row["_distance"] for row in rows} == {row["id"]: distances.get(row["id"]) for row in rows}
    assert {row["id"]: row["_score"] for row in rows} == {row["id"]: scores.get(row["id"]) for row in rows}
    assert any(row["_distance"] is not None and row["_score"] is not None for row in rows)


def test_a_method_of_scores_sees_small_distances_as_good(searches: Searches) -> None:
    vector = searches.vector(7).with_row_id(True).limit(DEPTH).to_arrow()
    fts = searches.fts(7).with_row_id(True).limit(DEPTH).to_arrow()
    closeness = {row["_rowid"]: -row["_distance"] for row in vector.to_pylist()}
    scores = {row["_rowid"]: row["_score"] for row in fts.to_pylist()}
    expected = juryrank.fuse({"vector": closeness, "fts": scores}, "combsum", norm="min-max")
    rows = searches.hybrid(7).rerank(JuryReranker(method="combsum", norm="min-max")).with_row_id(True).limit(DEPTH)
    got = ranked(rows.to_list())
    assert [expected[row] for row in got] == pytest.approx(list(expected.values())[:DEPTH], abs=FLOAT32)
    assert list(got.values()) == pytest.approx([expected[row] for row in got], abs=FLOAT32)
    assert next(iter(expected)) in closeness


def test_scores_matter_only_to_methods_that_use_them() -> None:
    far, near = found([1, 2], "_distance", [0.0, 1.0]), found([1, 2], "_distance", [1.0, 0.0])
    fts = found([3], "_score", [1.0])
    by_rank = [JuryReranker().rerank_hybrid("q", table, fts)["_rowid"].to_pylist() for table in (far, near)]
    assert by_rank[0] == by_rank[1] == list(juryrank.fuse({"vector": [1, 2], "fts": [3]}))
    combsum = JuryReranker(method="combsum", norm="min-max")
    by_score = [combsum.rerank_hybrid("q", table, fts)["_rowid"].to_pylist() for table in (far, near)]
    assert by_score[0].index(1) < by_score[0].index(2)
    assert by_score[1].index(2) < by_score[1].index(1)


def test_one_search_without_results_is_an_empty_list(searches: Searches, model: Any) -> None:
    search = searches.table.search(query_type="hybrid").vector(searches.directions[0]).text("nothing")
    rows = search.rerank(JuryReranker(model)).with_row_id(True).limit(10).to_list()
    assert_same(rows, juryrank.Fuser(model)({"vector": searches.by_row(0, 10)["vector"], "fts": []}), 10)
    assert len(rows) == 10


def test_no_results_at_all_are_an_empty_table(searches: Searches, model: Any) -> None:
    search = searches.hybrid(0).where("id = 'none'").rerank(JuryReranker(model)).limit(10)
    assert search.to_list() == []
    empty = found([], "_distance"), found([], "_score")
    for score in ("relevance", "all"):
        result = JuryReranker(model, return_score=score).rerank_hybrid("q", *empty)
        assert result.num_rows == 0
        assert "_relevance_score" in result.column_names
    assert JuryReranker().rerank_hybrid("q", pa.table({}), pa.table({})).num_rows == 0


def test_a_row_that_is_listed_twice_counts_once_and_is_reported() -> None:
    with pytest.warns(DataWarning, match="1 entries repeat an item"):
        result = JuryReranker().rerank_hybrid("q", found([1, 2, 1], "_distance"), found([2], "_score"))
    assert sorted(result["_rowid"].to_pylist()) == [1, 2]
    best = juryrank.fuse({"vector": [1, 2], "fts": [2]})
    assert result["_relevance_score"].to_pylist() == pytest.approx(list(best.values()), rel=FLOAT32)


def test_single_searches_are_scored_by_their_own_list(searches: Searches, model: Any) -> None:
    lists = searches.lists(2, 10)
    for expert, search in {"vector": searches.vector(2), "fts": searches.fts(2)}.items():
        options = {"query_string": "q"} if expert == "vector" else {}
        rows = search.rerank(JuryReranker(model), **options).limit(10).to_list()
        expected = juryrank.Fuser(model)({expert: lists[expert]})
        assert [row["_relevance_score"] for row in rows] == pytest.approx(list(expected.values()), rel=FLOAT32)
        assert sorted(row["id"] for row in rows) == sorted(lists[expert])
        assert "_rowid" not in rows[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": {"dense": 2.0}}, r"weights of no list: .*dense.*; experts= gives the lists other names"),
        ({"weights": {"vectors": 2.0}}, "did you mean 'vector'"),
        ({"weights": {"fts": 2.0}, "experts": ["dense", "bm25"]}, r"weights of no list: .*fts.*bm25"),
    ],
)
def test_a_weight_of_no_list_is_refused(options: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        JuryReranker(**options)


def test_a_weight_of_no_list_of_the_search_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"weights of no list: .*vector2"):
        JuryReranker(weights={"vector2": 2.0}).rerank_vector("q", found([3, 1], "_distance"))
    lists = [found([3, 1], "_distance"), found([1, 2], "_distance")]
    assert JuryReranker(weights={"vector2": 2.0}).rerank_multivector(lists)["_rowid"].to_pylist() == [1, 2, 3]
    with pytest.raises(ParameterError, match=r"weights of no list: .*fts"):
        JuryReranker(weights={"vector": 1.0, "fts": 2.0}).rerank_multivector(lists)


def test_a_weight_of_the_other_search_is_no_mistake_in_a_single_search() -> None:
    reranker = JuryReranker(weights={"vector": 2.0, "fts": 1.0})
    assert reranker.rerank_vector("q", found([3, 1], "_distance"))["_rowid"].to_pylist() == [3, 1]
    assert reranker.rerank_fts("q", found([3, 1], "_score"))["_rowid"].to_pylist() == [3, 1]


def test_several_vector_searches_are_fused_by_the_names_of_their_lists(searches: Searches) -> None:
    builders = [searches.vector(word).with_row_id(True).limit(20) for word in (0, 1, 2)]
    lists = [searches.by_row(word, 20)["vector"] for word in (0, 1, 2)]
    named = dict(zip(("title", "body", "image"), lists, strict=True))
    weighted = JuryReranker(weights={"body": 4.0}, experts=list(named))
    expected = juryrank.fuse(named, weights={"body": 4.0})
    assert_same(weighted.rerank_multivector(builders).to_pylist(), expected, 60)
    assert list(expected) != list(juryrank.fuse(named))
    tables = [builder.to_arrow() for builder in builders]
    plain = JuryReranker().rerank_multivector(tables, "q", deduplicate=True)
    assert (
        plain["_relevance_score"].to_pylist()
        == RRFReranker().rerank_multivector(tables)["_relevance_score"].to_pylist()
    )


def test_rows_without_ids_cannot_be_fused(searches: Searches) -> None:
    tables = [searches.vector(word).limit(5).to_arrow() for word in (0, 1)]
    with pytest.raises(DataError, match=r"_rowid, which is missing: add \.with_row_id\(True\)"):
        JuryReranker().rerank_multivector(tables)
    with pytest.raises(DataError, match="at least one search"):
        JuryReranker().rerank_multivector([])


def test_several_query_vectors_in_one_search_are_refused(searches: Searches) -> None:
    both = [searches.directions[0], searches.directions[1]]
    search = searches.table.search(query_type="hybrid").vector(both).text("tea").rerank(JuryReranker()).limit(3)
    with pytest.raises(DataError, match="query_index"):
        search.to_list()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "model.json", "method": "rrf"}, "not both"),
        ({"return_score": "some"}, "return_score must be 'relevance' or 'all', got 'some'"),
        ({"top": 0}, "top must be a whole number >= 1"),
        ({"method": "rrf", "k": -5}, "k"),
    ],
)
def test_wrong_options_are_refused_when_the_reranker_is_made(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        JuryReranker(**options)


def test_a_reranker_can_be_pickled_and_names_itself(searches: Searches, model: Any) -> None:
    copy = pickle.loads(pickle.dumps(JuryReranker(model)))
    tables = found([7, 2, 9], "_distance"), found([2, 4], "_score")
    assert copy.rerank_hybrid("q", *tables).equals(JuryReranker(model).rerank_hybrid("q", *tables))
    assert "JuryReranker(Fuser(Jury(" in searches.hybrid(0).rerank(JuryReranker(model)).explain_plan()
