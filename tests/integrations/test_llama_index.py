"""JuryRetriever for LlamaIndex gives the order of juryrank; its nodes say why."""

import asyncio
import copy
import pickle
import threading
from typing import Any

import pytest

pytest.importorskip("llama_index.core")

from llama_index.core.callbacks import CallbackManager, CBEventType, LlamaDebugHandler
from llama_index.core.schema import ImageNode, IndexNode, MetadataMode, NodeWithScore, TextNode
from llama_index_samples import DEMO, Waiting, WaitingInThreads, cooking, ids, listing, node, texts
from pydantic import PrivateAttr

import juryrank
from juryrank.integrations.llama_index import JuryRetriever


@pytest.fixture(scope="module")
def demo() -> tuple[dict[str, dict[str, list[str]]], dict[str, Any]]:
    return cooking()


@pytest.fixture(scope="module")
def model() -> Any:
    return juryrank.fit(DEMO / "cooking.csv", "jury")


class Noted(NodeWithScore):
    note: str = ""


class Secretive(TextNode):
    _secret: str = PrivateAttr("none")

    def keep(self, secret: str) -> None:
        self._secret = secret


def _with_detail(given: TextNode, metadata_key: str | None, rank: int) -> TextNode:
    """What a node at this rank of the only list, x, becomes."""
    if metadata_key is None:
        return given
    points = 1 / (60 + rank)
    detail = {"score": points, "ranks": {"x": rank}, "contributions": {"x": points}}
    fields = ("excluded_llm_metadata_keys", "excluded_embed_metadata_keys")
    hidden = {field: [*getattr(given, field), metadata_key] for field in fields}
    return given.model_copy(update={"metadata": {**given.metadata, metadata_key: detail}, **hidden})


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

    def test_weights_change_the_order(self) -> None:
        retrievers = {"x": listing("tea", "milk"), "y": listing("rice", "salt")}
        for heavier, first in (("x", "tea"), ("y", "rice")):
            assert texts(JuryRetriever(retrievers, method="rrf", weights={heavier: 2.0}, k=1).retrieve("q")) == [first]

    def test_a_retriever_with_an_unknown_name_is_reported_as_in_a_fuser(self, demo, model) -> None:
        lists, retrievers = demo
        renamed = JuryRetriever({"bm25": retrievers["bm25"], "vectors": retrievers["dense"]}, model=model)
        with pytest.warns(juryrank.DataWarning, match="experts that the model has not learned from: vectors; known"):
            renamed.retrieve(next(iter(lists)))


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

    @pytest.mark.parametrize("metadata_key", ["juryrank", None])
    def test_each_is_a_copy_as_pydantic_makes_it(self, metadata_key) -> None:
        given = [Noted(node=TextNode(text="tea", id_="tea"), note="hot"), node("milk", 0.5, metadata={"page": 4})]
        given += [
            NodeWithScore(node=Secretive(text="rice", id_="rice")),
            node("oil", excluded_embed_metadata_keys=["x"]),
        ]
        given[2].node.keep("a secret")
        before = [each.model_copy(deep=True) for each in given]
        fused = JuryRetriever({"x": listing(*given)}, metadata_key=metadata_key).retrieve("q")
        for rank, (each, own) in enumerate(zip(fused, given, strict=True), 1):
            expected = own.model_copy(
                update={"score": 1 / (60 + rank), "node": _with_detail(own.node, metadata_key, rank)}
            )
            assert (type(each), type(each.node)) == (type(own), type(own.node))
            assert each == expected
            for one, other in ((each, expected), (each.node, expected.node)):
                assert (vars(one), one.model_fields_set) == (vars(other), other.model_fields_set)
                assert (one.model_extra, one.__pydantic_private__) == (other.model_extra, other.__pydantic_private__)
            assert pickle.loads(pickle.dumps(each)) == pickle.loads(pickle.dumps(expected))
            each.score = None
            if metadata_key is not None:  # else the node is that of the retriever
                each.node.embedding = [1.0]
        assert given == before
        assert [each.node.model_fields_set for each in given] == [each.node.model_fields_set for each in before]

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
        (fused,) = JuryRetriever({"x": listing(tea)}).fuse_nodes({"x": [tea, tea]})
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
