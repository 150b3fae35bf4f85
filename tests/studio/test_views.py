"""Queries, lists and comparisons over HTTP, against the library."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import juryrank as jr
from studio.studios import DEMO, RunningStudio, judge_cooking, running_studio

DATA = pl.read_csv(DEMO / "cooking.csv")
QUERIES = sorted(DATA["query"].unique())


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStudio]:
    with running_studio(tmp_path_factory.mktemp("studio")) as found:
        judge_cooking(found, 70)
        yield found


def lists_of(query: str) -> dict[str, list[str]]:
    rows = DATA.filter(query=query).sort("expert", "rank")
    return {expert: rows.filter(expert=expert)["item"].to_list() for expert in rows["expert"].unique()}


@pytest.mark.parametrize("method", ["rrf", "borda"])
@pytest.mark.parametrize("query", ["q01", "q13"])
def test_a_consensus_is_that_of_the_library(studio: RunningStudio, query: str, method: str) -> None:
    found = studio.ask("/query", id=query, method=method)
    one = jr.read(DATA.filter(query=query).drop("label"))
    expected = jr.method(method).fit(one).predict(one).to_dict()[query]
    shown = {item["id"]: item["score"] for item in found["consensus"]}
    assert shown == pytest.approx(expected)
    assert [item["rank"] for item in found["consensus"]] == list(range(1, len(expected) + 1))
    assert sorted(shown.values(), reverse=True) == list(shown.values())
    lists = lists_of(query)
    for item in found["consensus"]:
        assert item["ranks"] == {e: items.index(item["id"]) + 1 for e, items in lists.items() if item["id"] in items}
    assert {expert["name"]: [item["id"] for item in expert["items"]] for expert in found["experts"]} == lists


@pytest.mark.parametrize("method", ["rrf", "jury"])
def test_contributions_add_up_to_the_score(studio: RunningStudio, method: str) -> None:
    for item in studio.ask("/query", id="q05", method=method)["consensus"]:
        assert sum(item["contributions"].values()) == pytest.approx(item["score"])


def test_the_model_is_that_of_the_judgements(studio: RunningStudio, tmp_path: Path) -> None:
    (tmp_path / "labels.qrels").write_bytes(studio.request("/export/qrels").body)
    model = jr.fit(DATA.drop("label"), "jury", labels=tmp_path / "labels.qrels")
    for query in QUERIES[:3]:
        found = studio.ask("/query", id=query, method="model")
        assert {item["id"]: item["score"] for item in found["consensus"]} == pytest.approx(
            jr.fuse(lists_of(query), model=model), rel=1e-9
        )
        assert found["method"] == "jury"


def test_kemeny_disagrees_least(studio: RunningStudio) -> None:
    lists = lists_of("q04")

    def disagreements(order: list[str]) -> int:
        place = {item: n for n, item in enumerate(order)}
        count = 0
        for items in lists.values():
            ranked = {item: n for n, item in enumerate(items)}
            for a in order:
                for b in order:
                    if place[a] < place[b] and ranked.get(b, len(items)) < ranked.get(a, len(items)):
                        count += 1
        return count

    orders = {
        method: [item["id"] for item in studio.ask("/query", id="q04", method=method)["consensus"]]
        for method in ("kemeny", "rrf", "borda")
    }
    counts = {method: disagreements(order) for method, order in orders.items()}
    assert counts["kemeny"] == min(counts.values())


def test_a_window_has_the_ranks_of_the_whole(studio: RunningStudio) -> None:
    whole = studio.ask("/query", id="q01")
    part = studio.ask("/query", id="q01", offset=3, limit=4)
    assert part["consensus"] == whole["consensus"][3:7]
    assert part["total"] == whole["total"] == len(whole["consensus"])
    for mine, all_of_it in zip(part["experts"], whole["experts"], strict=True):
        assert mine["items"] == all_of_it["items"][3:7]
        assert mine["length"] == len(all_of_it["items"])


def test_long_queries_are_ordered_by_kemeny_at_the_top_only(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lists = {expert: {"q": [f"d{n}" for n in rng.permutation(200)]} for expert in "abc"}
    jr.write(jr.from_dicts(lists), tmp_path / "lists.csv")
    with running_studio(tmp_path, "lists.csv") as studio:
        found = studio.ask("/query", id="q", method="kemeny", limit=300)
        rrf = studio.ask("/query", id="q", method="rrf", limit=300)
    ours, theirs = ([item["id"] for item in each["consensus"]] for each in (found, rrf))
    assert "first 60" in found["note"]
    assert sorted(ours) == sorted(theirs)
    assert set(ours[:60]) == set(theirs[:60])
    assert ours[60:] == theirs[60:]
    top = {e: {"q": [item for item in items["q"] if item in set(ours[:60])]} for e, items in lists.items()}
    one = jr.from_dicts(top)
    assert ours[:60] == jr.method("kemeny", ties="broken").fit(one).predict(one).top(60)["q"]


def test_queries_are_paged_searched_and_sorted(studio: RunningStudio) -> None:
    assert [row["id"] for row in studio.ask("/queries", limit=5, offset=3)["queries"]] == QUERIES[3:8]
    assert studio.ask("/queries", limit=1)["total"] == len(QUERIES)
    bread = studio.ask("/queries", search="BREAD rise")
    assert [row["id"] for row in bread["queries"]] == ["q01"]
    assert studio.ask("/queries", search="no such words")["total"] == 0
    for sort in ("disagreement", "judged"):
        values = [row[sort] for row in studio.ask("/queries", sort=sort)["queries"]]
        assert values == sorted(values, reverse=True)
        assert max(values) > min(values)
    counted = {row["id"]: row["judged"] for row in studio.ask("/queries")["queries"]}
    assert sum(counted.values()) == 70


@pytest.mark.parametrize(
    ("path", "query", "status", "word"),
    [
        ("/query", {"id": "nope"}, 404, "nope"),
        ("/query", {}, 404, "query"),
        ("/query", {"id": "q01", "method": "nope"}, 422, "rrf"),
        ("/query", {"id": "q01", "limit": -1}, 422, "limit"),
        ("/query", {"id": "q01", "limit": 5000}, 422, "limit"),
        ("/queries", {"offset": "x"}, 422, "offset"),
        ("/queries", {"sort": "x"}, 422, "sort"),
        ("/compare", {"metric": "x"}, 422, "nDCG@10"),
        ("/deploy/file", {"target": "x"}, 404, "elasticsearch"),
        ("/nothing", {}, 404, "Not Found"),
    ],
)
def test_what_cannot_be_answered_is_a_problem(
    studio: RunningStudio, path: str, query: dict[str, object], status: int, word: str
) -> None:
    reply = studio.request(path, **query)
    assert (reply.status, reply.headers["content-type"]) == (status, "application/problem+json")
    assert word in reply.json()["detail"]


def test_the_comparison_is_that_of_the_library(studio: RunningStudio, tmp_path: Path) -> None:
    found = studio.when_ready("/compare")
    assert found["baseline"] == "rrf"
    (tmp_path / "labels.qrels").write_bytes(studio.request("/export/qrels").body)
    data = jr.read(DATA.drop("label"), labels=tmp_path / "labels.qrels")
    data = data[[q for q, query in enumerate(data.queries) if not np.isnan(data[query].slot_labels).all()]]
    jury = jr.method("jury").fit(data)
    data = data[[q for q, query in enumerate(data.queries) if np.nanmax(data[query].slot_labels) > 0]]
    expected = jr.compare({"rrf": jr.method("rrf")}, data, "nDCG@10", folds=5, experts=True, unjudged="ignore")
    rows = {row["name"]: row for row in found["rows"]}
    assert rows["jury"]["mean"] == pytest.approx(jury.verdict().means["learned"])
    for label in ("rrf", "expert:bm25", "expert:title"):
        row = rows[label.removeprefix("expert:")]
        assert row["mean"] == pytest.approx(expected.values[expected.names.index(label), 0].mean())
        assert row["low"] < row["mean"] < row["high"]
        assert row["kind"] == ("expert" if ":" in label else "method")
    assert rows["rrf"]["difference"] is None
    assert rows["bm25"]["difference"] == pytest.approx(rows["bm25"]["mean"] - rows["rrf"]["mean"])
    assert "unjudged items were removed" in found["note"]


def test_the_queries_of_a_difference_make_it(studio: RunningStudio) -> None:
    rows = {row["name"]: row for row in studio.when_ready("/compare")["rows"]}
    queries = studio.when_ready("/compare/queries", one="bm25", other="rrf")["queries"]
    apart = [query["difference"] for query in queries]
    assert [abs(x) for x in apart] == sorted(map(abs, apart), reverse=True)
    assert all(query["difference"] == pytest.approx(query["one"] - query["other"]) for query in queries)
    assert np.mean(apart) == pytest.approx(rows["bm25"]["difference"])
    wins, losses = sum(x > 1e-12 for x in apart), sum(x < -1e-12 for x in apart)
    assert (wins, losses) == (rows["bm25"]["wins"], rows["bm25"]["losses"])
    assert studio.request("/compare/queries", one="bm25", other="nope").status == 404


def test_the_overview_describes_the_lists(studio: RunningStudio) -> None:
    found = studio.when_ready("/overview")
    by_name = {expert["name"]: expert for expert in found["experts"]}
    for name, expert in by_name.items():
        rows = DATA.filter(expert=name)
        assert expert["lists"] == rows["query"].n_unique()
        assert expert["coverage"] == pytest.approx(rows["query"].n_unique() / len(QUERIES))
        assert expert["mean_length"] == pytest.approx(rows.height / rows["query"].n_unique())
        points = [point["points"] for point in expert["curve"]]
        assert points[0] == max(points)
    matrix = np.array(found["redundancy"]["matrix"], float)
    np.testing.assert_allclose(matrix, matrix.T)
    explained = jr.explain(jr.method("rrf").fit(jr.read(DATA)), jr.read(DATA)).redundancy
    np.testing.assert_allclose(matrix, explained.share)
    own = matrix[list(by_name).index("bm25")]
    assert by_name["bm25"]["agreement"] == pytest.approx(np.nanmean(np.delete(own, list(by_name).index("bm25"))))
    assert found["verdict"]["choice"] in ("learned", "rrf", "expert")
    assert sum(studio.grade("ann", studio.next("ann"), 0)["refit"]["trust"].values()) == pytest.approx(1)
