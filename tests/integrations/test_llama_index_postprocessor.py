"""JuryPostprocessor for LlamaIndex: rerankers, scores in the metadata and the order of the nodes as experts."""

import asyncio
import copy
import pickle
import threading
from typing import Any

import pytest

pytest.importorskip("llama_index.core")

from llama_index.core.postprocessor import MetadataReplacementPostProcessor, SimilarityPostprocessor
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore
from llama_index_samples import Reranker, ids, node, texts

import juryrank
from juryrank.errors import DataWarning, JuryrankError, RetrieverError, RetrieverWarning
from juryrank.integrations.llama_index import JuryPostprocessor

SCORES = {  # of a search by words and of one by vectors, by text; the list is in the order of the vectors
    "tea": {"bm25": 3.0, "dense": 0.9},
    "milk": {"dense": 0.8},
    "rice": {"bm25": 7.5, "dense": 0.7},
    "salt": {"bm25": 3.0, "dense": 0.4},
}
LISTS = {
    "words": {text: each["bm25"] for text, each in SCORES.items() if "bm25" in each},
    "vectors": {text: each["dense"] for text, each in SCORES.items()},
}
FIELDS = {"words": "bm25", "vectors": "dense"}


def retrieved() -> list[NodeWithScore]:
    return [node(text, each["dense"], metadata=dict(each)) for text, each in SCORES.items()]


def by_length(**options: Any) -> Reranker:
    """A reranker that prefers long texts, and of equally long ones the last in the alphabet."""
    return Reranker(score=lambda each: len(each.text) + ord(each.text[0]) / 1000, **options)


async def process(jury: JuryPostprocessor, way: str, nodes: list[NodeWithScore]) -> list[NodeWithScore]:
    if way == "postprocess":
        return jury.postprocess_nodes(nodes, query_str="q")
    return await jury.apostprocess_nodes(nodes, query_str="q")


BOTH = pytest.mark.parametrize("way", ["postprocess", "apostprocess"])


@BOTH
class TestOrder:
    @pytest.mark.parametrize("weights", [None, {"words": 5.0}, {"vectors": 5.0}], ids=str)
    async def test_scores_in_the_metadata_are_fused_as_juryrank_does(self, way, weights) -> None:
        fused = await process(JuryPostprocessor(experts=FIELDS, weights=weights), way, retrieved())
        expected = juryrank.fuse(LISTS, "rrf", **({} if weights is None else {"weights": weights}))
        assert [(each.text, each.score) for each in fused] == list(expected.items())

    async def test_weights_change_the_order(self, way) -> None:
        orders = [
            texts(await process(JuryPostprocessor(experts=FIELDS, weights={name: 5.0}), way, retrieved()))
            for name in FIELDS
        ]
        assert orders == [["rice", "tea", "salt", "milk"], ["tea", "rice", "salt", "milk"]]

    async def test_a_model_that_has_learned_gives_the_order_of_juryrank_and_not_that_of_rrf(self, way) -> None:
        runs = {"words": {}, "vectors": {}}
        labels = {}
        for n in range(30):  # what is good is first by words, and last by vectors
            runs["words"][f"q{n}"] = ["good", "fair", "bad"]
            runs["vectors"][f"q{n}"] = ["bad", "fair", "good"]
            labels[f"q{n}"] = {"good": 2, "fair": 1, "bad": 0}
        model = juryrank.fit(juryrank.from_dicts(runs, labels=labels), "jury")
        here = [node(text, metadata={"bm25": -rank}) for rank, text in enumerate(["d", "c", "b", "a"])]
        here.reverse()  # the vectors have a first, the words d
        experts = {"words": "bm25", "vectors": None}
        fused = await process(JuryPostprocessor(experts=experts, model=model), way, here)
        expected = juryrank.Fuser(model)({"words": ["d", "c", "b", "a"], "vectors": ["a", "b", "c", "d"]})
        assert [(each.text, each.score) for each in fused] == list(expected.items())
        assert texts(fused) == ["d", "c", "b", "a"]
        assert texts(await process(JuryPostprocessor(experts=experts), way, here)) != texts(fused)

    async def test_the_order_in_which_nodes_come_is_an_expert(self, way) -> None:
        jury = JuryPostprocessor(experts={"retriever": None, "words": "bm25"}, params={"k": 1})
        expected = juryrank.fuse({"retriever": list(SCORES), "words": LISTS["words"]}, "rrf", k=1)
        fused = await process(jury, way, retrieved())
        assert [(each.text, each.score) for each in fused] == list(expected.items())

    async def test_rerankers_are_experts(self, way) -> None:
        jury = JuryPostprocessor(experts={"retriever": None, "length": by_length()}, weights={"length": 2.0})
        reranked = ["salt", "rice", "milk", "tea"]
        assert texts(by_length().postprocess_nodes(retrieved())) == reranked
        expected = juryrank.fuse({"retriever": list(SCORES), "length": reranked}, "rrf", weights={"length": 2.0})
        fused = await process(jury, way, retrieved())
        assert [(each.text, each.score) for each in fused] == list(expected.items())

    async def test_postprocessors_of_llama_index_are_experts(self, way) -> None:
        cut = SimilarityPostprocessor(similarity_cutoff=0.75)
        fused = await process(JuryPostprocessor(experts={"sure": cut, "words": "bm25"}), way, retrieved())
        assert {each.text: each.metadata["juryrank"]["ranks"] for each in fused} == {
            "tea": {"sure": 1, "words": 2}, "milk": {"sure": 2}, "rice": {"words": 1}, "salt": {"words": 2},
        }  # fmt: skip

    async def test_nodes_that_no_reranker_keeps_are_not_in_the_result(self, way) -> None:
        fused = await process(JuryPostprocessor(experts={"length": by_length(top_n=2)}), way, retrieved())
        assert texts(fused) == ["salt", "rice"]

    async def test_a_method_that_uses_scores_takes_those_of_fields_lists_and_rerankers(self, way) -> None:
        flat = Reranker(score=lambda each: 2.0 if each.text == "milk" else 1.0)
        jury = JuryPostprocessor(
            experts={"list": None, "words": "bm25", "flat": flat}, method="combsum", params={"norm": "none"}
        )
        fused = {each.text: each.score for each in await process(jury, way, retrieved())}
        sums = {text: each["dense"] + each.get("bm25", 0.0) + 1.0 + (text == "milk") for text, each in SCORES.items()}
        assert fused == pytest.approx(sums, rel=1e-12)


@BOTH
class TestNodes:
    async def test_a_node_says_where_its_score_comes_from(self, way) -> None:
        first = (await process(JuryPostprocessor(experts=FIELDS, k=1), way, retrieved()))[0]
        assert first.text == "tea"
        assert first.metadata["juryrank"] == {
            "score": first.score,
            "ranks": {"words": 2, "vectors": 1},
            "contributions": {"words": pytest.approx(1 / 62), "vectors": pytest.approx(1 / 61)},
        }
        for mode in (MetadataMode.LLM, MetadataMode.EMBED):
            assert first.get_content(mode) == retrieved()[0].get_content(mode)

    async def test_equal_scores_share_a_rank(self, way) -> None:
        fused = await process(JuryPostprocessor(experts={"words": "bm25", "list": None}), way, retrieved())
        ranks = {each.text: each.metadata["juryrank"]["ranks"].get("words") for each in fused}
        assert ranks == {"rice": 1, "tea": 2, "salt": 2, "milk": None}

    async def test_the_nodes_that_it_gets_are_not_changed(self, way) -> None:
        given = retrieved()
        jury = JuryPostprocessor(experts={"list": None, "one": by_length(), "two": by_length(top_n=1)})
        fused = await process(jury, way, given)
        fused[0].metadata["page"] = 5
        assert given == retrieved()
        assert "retrieval_score" not in fused[0].metadata  # of the copies of a reranker

    async def test_a_node_that_comes_twice_counts_once(self, way) -> None:
        tea, *others = retrieved()
        fused = await process(JuryPostprocessor(experts={"list": None}), way, [tea, tea, *others, tea])
        assert [each.metadata["juryrank"]["ranks"]["list"] for each in fused] == [1, 2, 3, 4]

    async def test_no_nodes_give_no_nodes(self, way) -> None:
        assert await process(JuryPostprocessor(experts={**FIELDS, "length": by_length()}), way, []) == []
        assert await process(JuryPostprocessor(experts=FIELDS), way, []) == []

    async def test_nodes_without_any_score_are_counted(self, way) -> None:
        jury = JuryPostprocessor(experts={"words": "bm25"})
        with pytest.warns(DataWarning, match="1 of 4 nodes have no score of any expert and are left out"):
            assert ids(await process(jury, way, retrieved())) == ["rice", "salt", "tea"]

    async def test_a_field_that_no_node_has_is_reported(self, way) -> None:
        jury = JuryPostprocessor(experts={"words": "bm52", "list": None})
        with pytest.warns(DataWarning, match=r"'words': no node has the metadata field 'bm52'; fields: bm25, dense"):
            assert len(await process(jury, way, retrieved())) == 4

    @pytest.mark.parametrize("wrong", ["0.5", True, float("nan"), float("inf"), [1.0]], ids=repr)
    async def test_a_score_that_is_no_number_is_an_error(self, way, wrong) -> None:
        given = [node("tea", metadata={"bm25": 1}), node("milk", metadata={"bm25": wrong})]
        with pytest.raises(JuryrankError, match=r"'words': metadata\['bm25'\] of node 'milk' must be a number, got"):
            await process(JuryPostprocessor(experts={"words": "bm25"}), way, given)

    async def test_a_score_of_none_is_missing(self, way) -> None:
        given = [node("tea", metadata={"bm25": None}), node("milk", metadata={"bm25": 1})]
        fused = await process(JuryPostprocessor(experts={"words": "bm25", "list": None}), way, given)
        assert texts(fused) == ["milk", "tea"]

    async def test_a_postprocessor_may_change_texts_but_not_ids(self, way) -> None:
        replace = MetadataReplacementPostProcessor(target_metadata_key="window")
        given = [node("tea", metadata={"window": "milk, tea, rice"})]
        fused = await process(JuryPostprocessor(experts={"window": replace}), way, given)
        assert texts(fused) == ["tea"]

        class Other(BaseNodePostprocessor):
            def _postprocess_nodes(self, nodes: Any, query_bundle: Any = None) -> Any:
                return [node("rice")]

        with pytest.raises(JuryrankError, match="'other' returned a node that it did not get: 'rice'"):
            await process(JuryPostprocessor(experts={"other": Other()}), way, given)

    async def test_something_else_than_nodes_is_an_error(self, way) -> None:
        with pytest.raises(JuryrankError, match="'nodes' must be a list of NodeWithScore, got TextNode at rank 1"):
            await process(JuryPostprocessor(experts={"list": None}), way, [node("tea").node])


class Down(BaseNodePostprocessor):
    """Fails."""

    def _postprocess_nodes(self, nodes: Any, query_bundle: Any = None) -> Any:
        raise ConnectionError("connection refused")


class Waiting(BaseNodePostprocessor):
    """Answers once all have been asked."""

    together: Any

    def _postprocess_nodes(self, nodes: Any, query_bundle: Any = None) -> Any:
        assert query_bundle.query_str == "q"
        self.together.wait(timeout=10)
        return nodes


class Slow(BaseNodePostprocessor):
    """Does not answer before it is released."""

    released: Any

    def _postprocess_nodes(self, nodes: Any, query_bundle: Any = None) -> Any:
        self.released.wait(timeout=30)
        return nodes


@BOTH
class TestFailures:
    async def test_rerankers_run_at_the_same_time(self, way) -> None:
        together = threading.Barrier(2)
        jury = JuryPostprocessor(experts={name: Waiting(together=together) for name in "xy"})
        assert texts(await process(jury, way, retrieved())) == list(SCORES)

    async def test_a_reranker_that_fails_is_an_error_that_names_it(self, way) -> None:
        with pytest.raises(RetrieverError, match=r"'down'.*connection refused"):
            await process(JuryPostprocessor(experts={"list": None, "down": Down()}), way, retrieved())

    async def test_without_a_reranker_that_fails_the_other_experts_decide(self, way) -> None:
        jury = JuryPostprocessor(experts={"list": None, "down": Down()}, weights={"down": 9.0}, on_error="skip")
        with pytest.warns(RetrieverWarning, match=r"'down'.*connection refused") as said:
            fused = await process(jury, way, retrieved())
        assert len(said) == 1
        assert texts(fused) == list(SCORES)
        assert {str(each.metadata["juryrank"]["failed"]) for each in fused} == {
            "{'down': 'ConnectionError: connection refused'}"
        }

    async def test_if_all_experts_are_rerankers_that_fail_it_is_an_error(self, way) -> None:
        with pytest.raises(RetrieverError, match="connection refused"):
            await process(JuryPostprocessor(experts={"down": Down()}, on_error="skip"), way, retrieved())

    @pytest.mark.parametrize("on_error", ["raise", "skip"])
    async def test_a_reranker_that_takes_too_long_has_failed(self, way, on_error) -> None:
        released = threading.Event()
        experts = {"list": None, "slow": Slow(released=released)}
        jury = JuryPostprocessor(experts=experts, on_error=on_error, timeout=0.2)
        try:
            if on_error == "raise":
                with pytest.raises(RetrieverError, match=r"'slow'.*0\.2 s"):
                    await process(jury, way, retrieved())
            else:
                with pytest.warns(RetrieverWarning, match=r"'slow'"):
                    assert texts(await process(jury, way, retrieved())) == list(SCORES)
        finally:
            released.set()  # a task of asyncio waits for its thread at the end
            await asyncio.sleep(0)


GOOD: dict[str, Any] = {"x": None}
MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "no experts": ({}, r"experts must be \{name: .*none"),
    "a list": ({"experts": ["bm25"]}, r"experts must be \{name: .*list"),
    "a name that is no text": ({"experts": {1: None}}, r"names of experts.*1"),
    "no expert": ({"experts": {"x": 3}}, r"'x'.*postprocessor.*metadata field.*None.*int"),
    "unknown option": ({"experts": GOOD, "weight": {}}, r"no option weight \(did you mean 'weights'"),
    "unknown method": ({"experts": GOOD, "method": "rff"}, "did you mean 'rrf'"),
    "model and method": ({"experts": GOOD, "model": "m.json", "method": "rrf"}, r"model.*method"),
    "unfitted": ({"experts": GOOD, "method": "jury"}, "fit it first"),
    "no such file": ({"experts": GOOD, "model": "nowhere/model.json"}, r"nowhere.model\.json"),
    "unknown parameter": ({"experts": GOOD, "params": {"constant": 60}}, "constant"),
    "params is no dict": ({"experts": GOOD, "params": ["k"]}, r"params must be \{name: value\}"),
    "weights as a list": ({"experts": GOOD, "weights": [0.3]}, r"weights.*names.*\[0\.3\]"),
    "weight of no expert": ({"experts": {"dense": None}, "weights": {"dens": 2.0}}, "no expert.*did you mean 'dense'"),
    "k is 0": ({"experts": GOOD, "k": 0}, r"k must be a whole number >= 1, or None.*0"),
    "on_error": ({"experts": GOOD, "on_error": "ignore"}, r"on_error.*'raise'.*'skip'.*ignore"),
    "timeout": ({"experts": GOOD, "timeout": 0}, r"timeout.*0"),
    "metadata_key": ({"experts": GOOD, "metadata_key": 3}, r"metadata_key.*3"),
    "callback_manager": ({"experts": GOOD, "callback_manager": 3}, r"callback_manager.*CallbackManager.*int"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_when_the_postprocessor_is_made(mistake: str) -> None:
    options, message = MISTAKES[mistake]
    with pytest.raises(JuryrankError, match=message) as caught:
        JuryPostprocessor(**options)
    assert "\n" not in str(caught.value)


class TestComponent:
    def test_an_option_can_be_assigned_and_is_used(self) -> None:
        jury = JuryPostprocessor(experts=FIELDS, weights={"words": 5.0})
        assert texts(jury.postprocess_nodes(retrieved()))[0] == "rice"
        jury.weights = {"vectors": 5.0}
        assert texts(jury.postprocess_nodes(retrieved()))[0] == "tea"
        with pytest.raises(JuryrankError, match="did you mean 'rrf'"):
            jury.method = "rff"
        assert jury.method is None

    def test_a_copy_can_have_other_options(self) -> None:
        jury = JuryPostprocessor(experts=FIELDS, weights={"words": 5.0})
        other = jury.model_copy(update={"weights": {"vectors": 5.0}})
        assert [texts(each.postprocess_nodes(retrieved()))[0] for each in (jury, other)] == ["rice", "tea"]

    @pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
    def test_a_copy_gives_the_same(self, copied) -> None:
        jury = JuryPostprocessor(experts=FIELDS, weights={"words": 5.0}, k=2)
        assert copied(jury).postprocess_nodes(retrieved()) == jury.postprocess_nodes(retrieved())

    def test_it_is_written_to_json_and_read_again(self, tmp_path) -> None:
        rrf = juryrank.method("rrf", weights={"words": 5.0}).fit(juryrank.from_dicts({"words": {"q": ["a"]}}))
        juryrank.save(rrf, tmp_path / "model.json")
        jury = JuryPostprocessor(experts={**FIELDS, "list": None}, model=str(tmp_path / "model.json"), k=2)
        read = JuryPostprocessor.from_json(jury.to_json())
        assert read.postprocess_nodes(retrieved()) == jury.postprocess_nodes(retrieved())
        assert jury.to_dict()["class_name"] == "JuryPostprocessor"
