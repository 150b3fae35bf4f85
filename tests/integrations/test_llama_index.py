"""JuryRetriever for LlamaIndex gives the order of juryrank; the fusion of LlamaIndex itself ignores weights."""

import asyncio
import copy
import pickle
import threading
import time
from collections import defaultdict
from typing import Any

import pytest

pytest.importorskip("llama_index.core")

import llama_index.core
from llama_index.core.callbacks import CallbackManager, CBEventType, LlamaDebugHandler
from llama_index.core.llms.mock import MockLLM
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import ImageNode, IndexNode, MetadataMode, NodeWithScore, TextNode
from llama_index_samples import DEMO, Broken, Waiting, WaitingInThreads, cooking, ids, listing, node, texts

import juryrank
from juryrank.integrations.llama_index import JuryRetriever


@pytest.fixture(scope="module")
def demo() -> tuple[dict[str, dict[str, list[str]]], dict[str, Any]]:
    return cooking()


@pytest.fixture(scope="module")
def model() -> Any:
    return juryrank.fit(DEMO / "cooking.csv", "jury")


def theirs(retrievers: dict[str, Any], weights: list[float] | None = None, mode: str = "reciprocal_rerank") -> Any:
    """LlamaIndex's own fusion of copies, as it writes its scores into the nodes of the retrievers."""
    copies = [copy.deepcopy(each) for each in retrievers.values()]
    return QueryFusionRetriever(
        copies, llm=MockLLM(), mode=mode, num_queries=1, use_async=False, similarity_top_k=1000,
        retriever_weights=weights,
    )  # fmt: skip


class TestOrder:
    def test_a_learned_model_gives_the_order_and_scores_of_juryrank_and_not_those_of_rrf(self, demo, model) -> None:
        lists, retrievers = demo
        predicted = model.predict(juryrank.read(DEMO / "cooking.csv")).to_dict()
        assert len(predicted) == len(lists) == 24
        jury, rrf = JuryRetriever(retrievers, model=model, k=None), JuryRetriever(retrievers, k=None)
        differ = 0
        for (query, by_expert), of_dataset in zip(lists.items(), predicted.values(), strict=True):
            learned, plain = jury.retrieve(query), rrf.retrieve(query)
            scores = {each.node_id: each.score for each in learned}
            assert list(scores.items()) == list(juryrank.Fuser(model)(by_expert).items())
            assert scores == of_dataset
            assert ids(plain) == list(juryrank.fuse(by_expert, "rrf"))
            differ += ids(plain)[:5] != ids(learned)[:5]
        assert differ > 12

    async def test_the_asynchronous_result_is_the_same(self, demo, model) -> None:
        lists, retrievers = demo
        jury = JuryRetriever(retrievers, model=model)
        for query in list(lists)[:8]:
            found = jury.retrieve(query)
            assert len(found) == 10
            assert await jury.aretrieve(query) == found

    def test_a_saved_model_gives_the_same_as_the_model(self, demo, model, tmp_path) -> None:
        lists, retrievers = demo
        juryrank.save(model, tmp_path / "model.json")
        saved = JuryRetriever(retrievers, model=str(tmp_path / "model.json"))
        also_saved = JuryRetriever(retrievers, model=tmp_path / "model.json")
        given = JuryRetriever(retrievers, model=model)
        for query in list(lists)[:8]:
            assert saved.retrieve(query) == given.retrieve(query) == also_saved.retrieve(query)

    def test_a_retriever_with_an_unknown_name_is_reported_as_in_a_fuser(self, demo, model) -> None:
        lists, retrievers = demo
        renamed = JuryRetriever({"bm25": retrievers["bm25"], "vectors": retrievers["dense"]}, model=model)
        with pytest.warns(juryrank.DataWarning, match="experts that the model has not learned from: vectors; known"):
            renamed.retrieve(next(iter(lists)))


class TestQueryFusionRetriever:
    """What the page says about LlamaIndex's own fusion."""

    def test_this_is_the_version_that_the_page_names(self) -> None:
        assert llama_index.core.__version__.split(".")[:2] == ["0", "14"]

    @pytest.mark.parametrize("weights", [[0.9, 0.1], [0.1, 0.9]])
    def test_weights_change_our_order_and_not_that_of_reciprocal_rerank(self, weights) -> None:
        retrievers = {"x": listing("tea", "milk"), "y": listing("rice", "salt")}
        unweighted = texts(theirs(retrievers).retrieve("q"))
        assert texts(theirs(retrievers, weights).retrieve("q")) == unweighted == ["tea", "rice", "milk", "salt"]
        ours = JuryRetriever(retrievers, weights=dict(zip(retrievers, weights, strict=True)))
        heavier = ["tea", "milk", "rice", "salt"] if weights[0] > weights[1] else ["rice", "salt", "tea", "milk"]
        assert texts(ours.retrieve("q")) == heavier

    def test_learned_weights_change_the_order_of_real_lists_and_not_that_of_reciprocal_rerank(self, demo) -> None:
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

    def test_its_ranks_start_at_0_and_the_dialect_gives_its_scores(self, demo) -> None:
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
    def test_relative_score_is_a_weighted_combsum(self, demo, weights) -> None:
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

    def test_it_writes_its_scores_into_the_nodes_of_the_retrievers(self) -> None:
        retriever = listing("tea", "milk")
        QueryFusionRetriever([retriever], llm=MockLLM(), mode="reciprocal_rerank", num_queries=1).retrieve("q")
        assert [each.score for each in retriever.results["q"]] == [1 / 60, 1 / 61]

    def test_a_retriever_that_fails_is_not_named(self) -> None:
        with pytest.raises(ConnectionError, match=r"^connection refused$"):
            theirs({"x": listing("tea"), "down": Broken()}).retrieve("q")

    async def test_retrievers_without_asynchronous_code_run_one_after_the_other(self) -> None:
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


class TestNodes:
    def test_a_node_says_where_its_score_comes_from(self) -> None:
        retriever = JuryRetriever(
            {"x": listing("tea", "milk"), "y": listing("milk")}, weights={"x": 2.0}, params={"k": 10}
        )
        milk, tea = retriever.retrieve("q")
        assert (milk.text, milk.score) == ("milk", pytest.approx(2 / 12 + 1 / 11))
        assert milk.metadata["juryrank"] == {
            "score": milk.score,
            "ranks": {"x": 2, "y": 1},
            "contributions": {"x": pytest.approx(2 / 12), "y": pytest.approx(1 / 11)},
        }
        assert tea.metadata["juryrank"]["ranks"] == {"x": 1}
        assert tea.metadata["juryrank"]["contributions"] == {"x": pytest.approx(2 / 11)}

    def test_neither_a_model_of_language_nor_an_embedding_gets_to_see_it(self) -> None:
        tea = node("tea", metadata={"page": 3, "secret": 7}, excluded_llm_metadata_keys=["secret"])
        fused = JuryRetriever({"x": listing(tea)}).retrieve("q")[0]
        for mode in (MetadataMode.LLM, MetadataMode.EMBED):
            assert fused.get_content(mode) == tea.get_content(mode)
        assert "contributions" in fused.get_content(MetadataMode.ALL)
        again = JuryRetriever({"x": listing(fused)}).retrieve("q")[0]
        assert again.node.excluded_llm_metadata_keys == ["secret", "juryrank"]

    def test_the_name_of_the_metadata_field_can_be_chosen(self) -> None:
        fused = JuryRetriever({"x": listing("tea")}, metadata_key="fusion").retrieve("q")[0]
        assert fused.metadata.keys() == {"fusion"}
        assert fused.node.excluded_embed_metadata_keys == ["fusion"]

    def test_without_a_metadata_field_the_hash_of_a_node_stays(self) -> None:
        tea = node("tea", metadata={"page": 3})
        retrievers = {"x": listing(tea)}
        plain = JuryRetriever(retrievers, metadata_key=None).retrieve("q")[0]
        assert (plain.node.hash, plain.metadata, plain.score) == (tea.node.hash, {"page": 3}, 1 / 61)
        assert JuryRetriever(retrievers).retrieve("q")[0].node.hash != tea.node.hash

    def test_the_nodes_of_the_retrievers_are_not_changed(self) -> None:
        given = [node("tea", 0.9, metadata={"page": 3}), node("milk", 0.8, metadata={"page": 4})]
        before = [each.model_copy(deep=True) for each in given]
        fused = JuryRetriever({"x": listing(*given), "y": listing(given[1])}, k=1).retrieve("q")[0]
        assert (fused.text, fused.metadata["page"]) == ("milk", 4)
        fused.metadata["page"] = 5
        fused.node.excluded_llm_metadata_keys.append("page")
        assert given == before

    def test_other_kinds_of_nodes_keep_their_class_and_fields(self) -> None:
        image = ImageNode(text="tea", image_url="https://example.org/tea.png")
        (fused,) = JuryRetriever({"x": listing(NodeWithScore(node=image, score=0.5))}).retrieve("q")
        assert (type(fused.node), fused.node.image_url) == (ImageNode, "https://example.org/tea.png")

    def test_an_index_node_leads_to_its_object(self) -> None:
        objects = [IndexNode(text="see", index_id="i", obj=TextNode(text="inside"))]
        plain = IndexNode(text="see", index_id="i")
        retriever = JuryRetriever({"x": listing(NodeWithScore(node=plain, score=0.5))}, objects=objects)
        assert texts(retriever.retrieve("q")) == ["inside"]

    def test_the_contributions_of_a_method_that_is_no_sum_are_none(self) -> None:
        tea = JuryRetriever({"x": listing("tea", "milk"), "y": listing("tea")}, method="copeland").retrieve("q")[0]
        assert tea.text == "tea"
        assert tea.metadata["juryrank"]["contributions"] is None
        assert tea.metadata["juryrank"]["ranks"] == {"x": 1, "y": 1}

    def test_k_limits_the_nodes_and_none_gives_all(self) -> None:
        retrievers = {"x": listing(*(f"text {n}" for n in range(30)))}
        assert len(JuryRetriever(retrievers).retrieve("q")) == 10
        assert len(JuryRetriever(retrievers, k=None).retrieve("q")) == 30
        assert len(JuryRetriever(retrievers, k=40).retrieve("q")) == 30

    def test_no_nodes_give_no_nodes(self) -> None:
        retriever = JuryRetriever({"x": listing("tea"), "y": listing()})
        assert retriever.retrieve("a query without results") == []
        assert texts(retriever.retrieve("q")) == ["tea"]

    def test_fuse_nodes_is_the_step_after_retrieval(self, demo, model) -> None:
        lists, retrievers = demo
        jury = JuryRetriever(retrievers, model=model)
        query = next(iter(lists))
        found = {name: retriever.retrieve(query) for name, retriever in retrievers.items()}
        assert jury.fuse_nodes(found) == jury.retrieve(query)
        assert jury.fuse_nodes(found, k=3) == jury.retrieve(query)[:3]


class TestIdentity:
    def test_nodes_are_the_same_if_their_ids_are(self) -> None:
        x = listing(node("tea", id_="1"), node("milk", id_="2"))
        y = listing(node("tea, as another retriever cuts it", id_="1"))
        assert ids(JuryRetriever({"x": x, "y": y}).retrieve("q")) == ["1", "2"]

    @pytest.mark.parametrize("key", ["url", lambda each: each.metadata["url"]], ids=["field", "function"])
    def test_a_metadata_field_or_a_function_identifies_nodes(self, key) -> None:
        x = listing(node("milk", metadata={"url": "m"}), node("tea", metadata={"url": "t"}))
        y = listing(node("Tea!", metadata={"url": "t"}))
        fused = JuryRetriever({"x": x, "y": y}, key=key).retrieve("q")
        assert [each.metadata["url"] for each in fused] == ["t", "m"]
        assert fused[0].text == "Tea!"  # of the list in which it ranks best

    def test_a_node_without_the_field_is_an_error_that_names_it(self) -> None:
        x = listing(node("tea", metadata={"url": "t"}), node("milk"))
        with pytest.raises(juryrank.JuryrankError, match=r"'x'.*rank 2.*'url'"):
            JuryRetriever({"x": x}, key="url").retrieve("q")

    def test_a_node_twice_in_one_list_counts_once(self) -> None:
        """LlamaIndex removes equal ids from the list of a retriever, and no other equal nodes."""
        repeated = [node(f"tea {n}", metadata={"page": "tea"}) for n in range(3)]
        milk = node("milk", metadata={"page": "milk"})
        retriever = JuryRetriever({"x": listing(*repeated, milk), "y": listing(milk)}, key="page")
        points = {each.metadata["page"]: each.metadata["juryrank"]["contributions"] for each in retriever.retrieve("q")}
        assert points == {
            "milk": {"x": pytest.approx(1 / 62), "y": pytest.approx(1 / 61)},
            "tea": {"x": pytest.approx(1 / 61)},
        }
        tea = node("tea")
        (fused,) = retriever.__class__({"x": listing(tea)}).fuse_nodes({"x": [tea, tea]})
        assert fused.score == 1 / 61

    def test_texts_that_have_another_id_in_each_list_are_reported(self) -> None:
        """As of two indexes that have split the same documents."""
        x = listing(node("tea", id_="1"), node("milk", id_="2"))
        y = listing(node("milk", id_="3"), node("rice", id_="4"))
        with pytest.warns(juryrank.DataWarning, match=r"1 texts .* key=lambda node: node\.hash"):
            assert len(JuryRetriever({"x": x, "y": y}).retrieve("q")) == 4
        assert texts(JuryRetriever({"x": x, "y": y}, key=lambda each: each.hash).retrieve("q"))[0] == "milk"
        assert len(JuryRetriever({"x": x, "y": listing("rice")}).retrieve("q")) == 3  # without a warning


class TestScores:
    def test_a_method_that_uses_scores_takes_those_of_the_nodes(self) -> None:
        retrievers = {
            "x": listing(node("tea", 9.0), node("milk", 8.0), node("rice", 1.0)),
            "y": listing(node("rice", 0.5)),
        }
        fused = JuryRetriever(retrievers, method="combsum", params={"norm": "none"}).retrieve("q")
        assert [(each.text, each.score) for each in fused] == [("tea", 9.0), ("milk", 8.0), ("rice", 1.5)]

    def test_a_jury_with_scores_gives_what_a_fuser_gives(self) -> None:
        runs = {
            "x": {"q1": {"a": 3.0, "b": 2.0, "c": 0.1}, "q2": {"a": 5.0, "b": 4.9, "c": 1.0}},
            "y": {"q1": {"c": 0.9, "a": 0.2}, "q2": {"b": 0.8, "a": 0.7}},
        }
        labels = {"q1": {"a": 1, "b": 0, "c": 0}, "q2": {"a": 0, "b": 1, "c": 0}}
        model = juryrank.fit(juryrank.from_dicts(runs, labels=labels), "jury", scores=True)
        here = {"x": {"a": 1.0, "b": 0.9, "c": 0.8}, "y": {"c": 0.7, "b": 0.1}}
        retrievers = {name: listing(*(node(*each) for each in listed.items())) for name, listed in here.items()}
        fused = JuryRetriever(retrievers, model=model).retrieve("q")
        assert [(each.text, each.score) for each in fused] == list(juryrank.Fuser(model)(here).items())

    def test_a_node_without_a_score_is_an_error_if_the_method_uses_scores(self) -> None:
        retrievers = {"x": listing(node("tea", 9.0)), "y": listing(node("milk"))}
        with pytest.raises(juryrank.JuryrankError, match=r"uses scores.*'milk'"):
            JuryRetriever(retrievers, method="combsum").retrieve("q")
        assert len(JuryRetriever(retrievers).retrieve("q")) == 2


@pytest.mark.parametrize("kind", [Waiting, WaitingInThreads])
class TestConcurrency:
    def waiting(self, kind) -> dict[str, Waiting]:
        together, also_together = threading.Barrier(3), asyncio.Barrier(3)
        lists = {"x": ["tea", "milk"], "y": ["milk"], "z": ["rice"]}
        return {name: kind(listing(*listed).results, together, also_together) for name, listed in lists.items()}

    def test_retrievers_are_asked_at_the_same_time(self, kind) -> None:
        assert texts(JuryRetriever(self.waiting(kind)).retrieve("q")) == ["milk", "rice", "tea"]

    async def test_retrievers_are_asked_at_the_same_time_in_a_coroutine(self, kind) -> None:
        assert texts(await JuryRetriever(self.waiting(kind)).aretrieve("q")) == ["milk", "rice", "tea"]


def test_callbacks_show_the_fusion_and_its_retrievers() -> None:
    handler = LlamaDebugHandler(print_trace_on_end=False)
    manager = CallbackManager([handler])
    children = {"x": listing("tea"), "y": listing("milk")}
    for child in children.values():
        child.callback_manager = manager
    JuryRetriever(children, callback_manager=manager).retrieve("q")
    events = handler.get_event_pairs(CBEventType.RETRIEVE)
    assert sorted(len(end.payload["nodes"]) for _, end in events) == [1, 1, 2]


@pytest.mark.parametrize("key", [None, "id", "title"])
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))])
def test_a_copy_gives_the_same(demo, model, copied, key) -> None:
    lists, retrievers = demo
    retriever = JuryRetriever(retrievers, model=model, key=key)
    for query in list(lists)[:3]:
        assert copied(retriever).retrieve(query) == retriever.retrieve(query)
