"""What the page says about the fusion of LlamaIndex itself, which ignores weights and counts ranks from 0."""

import copy
import time
from collections import defaultdict
from importlib.metadata import version
from typing import Any

import pytest

pytest.importorskip("llama_index.core")

from llama_index.core.llms.mock import MockLLM
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import NodeWithScore
from llama_index_samples import DEMO, Broken, cooking, ids, listing, texts

import juryrank
from juryrank.integrations.llama_index import JuryRetriever


@pytest.fixture(scope="module")
def demo() -> tuple[dict[str, dict[str, list[str]]], dict[str, Any]]:
    return cooking()


def theirs(retrievers: dict[str, Any], weights: list[float] | None = None, mode: str = "reciprocal_rerank") -> Any:
    """LlamaIndex's own fusion of copies, as it writes its scores into the nodes of the retrievers."""
    copies = [copy.deepcopy(each) for each in retrievers.values()]
    return QueryFusionRetriever(
        copies, llm=MockLLM(), mode=mode, num_queries=1, use_async=False, similarity_top_k=1000,
        retriever_weights=weights,
    )  # fmt: skip


def test_this_is_the_version_that_the_page_names() -> None:
    assert version("llama-index-core").split(".")[:2] == ["0", "14"]


@pytest.mark.parametrize("weights", [[0.9, 0.1], [0.1, 0.9]])
def test_weights_change_our_order_and_not_that_of_reciprocal_rerank(weights) -> None:
    retrievers = {"x": listing("tea", "milk"), "y": listing("rice", "salt")}
    unweighted = texts(theirs(retrievers).retrieve("q"))
    assert texts(theirs(retrievers, weights).retrieve("q")) == unweighted == ["tea", "rice", "milk", "salt"]
    ours = JuryRetriever(retrievers, weights=dict(zip(retrievers, weights, strict=True)))
    heavier = ["tea", "milk", "rice", "salt"] if weights[0] > weights[1] else ["rice", "salt", "tea", "milk"]
    assert texts(ours.retrieve("q")) == heavier


def test_learned_weights_change_the_order_of_real_lists_and_not_that_of_reciprocal_rerank(demo) -> None:
    lists, retrievers = demo
    learned = juryrank.fit(DEMO / "cooking.csv", "tuned-rrf").expert_weights()
    weights = {name: each["weight"] for name, each in learned.items()}
    given = [weights[name] for name in retrievers]
    assert max(given) > 1.5 * min(given) >= 0
    changed = 0
    for query, by_expert in lists.items():
        plain = theirs(retrievers).retrieve(query)
        assert ids(theirs(retrievers, given).retrieve(query)) == ids(plain)
        weighted = JuryRetriever(retrievers, weights=weights, k=None).retrieve(query)
        points: dict[str, float] = defaultdict(float)
        for name, items in by_expert.items():
            for rank, item in enumerate(items, 1):
                points[item] += weights[name] / (60 + rank)
        assert {each.node_id: each.score for each in weighted} == pytest.approx(points, rel=1e-12)
        changed += ids(weighted)[:5] != ids(JuryRetriever(retrievers, k=5).retrieve(query))
    assert changed > 12


def test_its_ranks_start_at_0_and_the_dialect_gives_its_scores(demo) -> None:
    lists, retrievers = demo
    dialect = JuryRetriever(retrievers, params={"dialect": "llamaindex"}, key=lambda each: each.hash, k=None)
    for query, by_expert in lists.items():
        found = theirs(retrievers).retrieve(query)
        ours = dialect.retrieve(query)
        assert ids(ours) == ids(found)
        assert [each.score for each in ours] == pytest.approx([each.score for each in found], rel=1e-12)
        points: dict[str, float] = defaultdict(float)
        for items in by_expert.values():
            for rank, item in enumerate(items):
                points[item] += 1 / (60 + rank)
        assert {each.node_id: each.score for each in found} == pytest.approx(points, rel=1e-12)


@pytest.mark.parametrize("weights", [[0.2, 0.5, 0.3], [0.7, 0.1, 0.2]])
def test_relative_score_is_a_weighted_combsum(demo, weights) -> None:
    lists, retrievers = demo
    names = ["bm25", "dense", "title"]
    chosen = {name: retrievers[name] for name in names}
    combsum = JuryRetriever(
        chosen, method="combsum", params={"norm": "min-max"}, weights=dict(zip(names, weights, strict=True)), k=None
    )
    for query in lists:
        found = theirs(chosen, weights, mode="relative_score").retrieve(query)
        expected = {each.node_id: each.score for each in found}
        assert {each.node_id: each.score for each in combsum.retrieve(query)} == pytest.approx(expected, rel=1e-9)


def test_it_writes_its_scores_into_the_nodes_of_the_retrievers() -> None:
    retriever = listing("tea", "milk")
    QueryFusionRetriever([retriever], llm=MockLLM(), mode="reciprocal_rerank", num_queries=1).retrieve("q")
    assert [each.score for each in retriever.results["q"]] == [1 / 60, 1 / 61]


def test_a_retriever_that_fails_is_not_named() -> None:
    with pytest.raises(ConnectionError, match=r"^connection refused$"):
        theirs({"x": listing("tea"), "down": Broken()}).retrieve("q")


async def test_retrievers_without_asynchronous_code_run_one_after_the_other() -> None:
    running, most = 0, 0

    class Counting(BaseRetriever):
        def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:
            nonlocal running, most
            running, most = running + 1, max(most, running + 1)
            time.sleep(0.1)
            running -= 1
            return []

    retrievers = {"x": Counting(), "y": Counting()}
    await theirs(retrievers).aretrieve("q")
    assert most == 1
    await JuryRetriever(retrievers).aretrieve("q")
    assert most == 2
