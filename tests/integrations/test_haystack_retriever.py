"""JuryRetriever runs real Haystack retrievers at the same time; failing and slow ones follow the declared policy."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("haystack")

from haystack import Document, Pipeline, SuperComponent, component
from haystack.components.embedders import MockTextEmbedder
from haystack.components.retrievers import MultiRetriever, TextEmbeddingRetriever
from haystack.dataclasses import SparseEmbedding
from haystack_samples import QUERIES, embed, fitted, ids, ranked_ids, retrievers

import juryrank
from juryrank.errors import ParameterError, RetrieverError, RetrieverWarning
from juryrank.integrations.haystack import JuryRetriever

QUERY = QUERIES["q02"]


def text_retrievers() -> dict[str, Any]:
    """The three retrievers, all of which take the text of the query."""
    found = retrievers()
    embedder = MockTextEmbedder(embedding_fn=embed)
    return found | {"dense": TextEmbeddingRetriever(retriever=found["dense"], text_embedder=embedder)}


@component
class Stub:
    """A retriever that calls a function of the query."""

    def __init__(self, answer: Callable[[str], list[Document]]) -> None:
        self.answer = answer

    @component.output_types(documents=list[Document])
    def run(self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None) -> dict[str, Any]:
        return {"documents": self.answer(query)}


@component
class AsyncStub:
    """A retriever whose asynchronous run awaits a function."""

    def __init__(self, answer: Callable[[], Any]) -> None:
        self.answer = answer

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        raise AssertionError("run_async is there")

    @component.output_types(documents=list[Document])
    async def run_async(self, query: str) -> dict[str, Any]:
        await self.answer()
        return {"documents": [Document(id=query, content=query)]}


def found(query: str) -> list[Document]:
    return [Document(id="a", content="a"), Document(id="b", content="b")]


def fail(query: str) -> list[Document]:
    raise ConnectionError("the index is gone")


class TestOrder:
    @pytest.mark.parametrize("learned", [True, False], ids=["jury", "rrf"])
    def test_every_query_has_the_order_and_scores_of_juryrank(self, learned: bool) -> None:
        model = fitted() if learned else None
        retriever = JuryRetriever(text_retrievers(), model)
        for query in QUERIES.values():
            result = retriever.run(query)
            expected = juryrank.fuse(ranked_ids(query), model=model, top=10)
            assert [(each.id, each.score) for each in result["documents"]] == list(expected.items())
            assert result["failed"] == {}

    def test_learned_weights_change_the_order_against_rrf(self) -> None:
        learned, rrf = JuryRetriever(text_retrievers(), fitted()), JuryRetriever(text_retrievers())
        assert all(ids(learned.run(text)["documents"]) != ids(rrf.run(text)["documents"]) for text in QUERIES.values())

    async def test_an_asynchronous_run_gives_the_same(self) -> None:
        retriever = JuryRetriever(text_retrievers(), fitted())
        for query in list(QUERIES.values())[:5]:
            assert await retriever.run_async(query) == retriever.run(query)

    def test_it_works_in_a_pipeline(self) -> None:
        pipeline = Pipeline()
        pipeline.add_component("retriever", JuryRetriever(text_retrievers(), fitted(), top_k=3))
        result = pipeline.run({"retriever": {"query": QUERY}})["retriever"]
        assert ids(result["documents"]) == list(juryrank.fuse(ranked_ids(QUERY), model=fitted(), top=3))

    async def test_it_works_in_an_asynchronous_pipeline(self) -> None:
        pipeline = Pipeline()
        pipeline.add_component("retriever", JuryRetriever(text_retrievers(), fitted(), top_k=3))
        result = (await pipeline.run_async({"retriever": {"query": QUERY}}))["retriever"]
        assert ids(result["documents"]) == list(juryrank.fuse(ranked_ids(QUERY), model=fitted(), top=3))

    @pytest.mark.filterwarnings("ignore:'MultiRetriever' is an experimental component")
    def test_haystacks_own_retriever_of_retrievers_has_the_order_of_its_dialect_and_takes_no_weights(self) -> None:
        theirs = MultiRetriever(retrievers=text_retrievers(), top_k=10).run(QUERY)["documents"]
        ours = JuryRetriever(text_retrievers(), method="rrf", dialect="haystack").run(QUERY)["documents"]
        assert ids(ours) == ids(theirs)
        with pytest.raises(TypeError, match="weights"):
            MultiRetriever(retrievers=text_retrievers(), weights=[1.0, 2.0, 3.0])


class TestInputs:
    def test_an_embedding_is_given_to_the_retrievers_that_take_one(self) -> None:
        result = JuryRetriever(retrievers()).run(QUERY, query_embedding=embed(QUERY))["documents"]
        assert ids(result) == list(juryrank.fuse(ranked_ids(QUERY), top=10))

    def test_an_embedding_that_is_not_given_is_an_error_that_says_what_to_do(self) -> None:
        with pytest.raises(ParameterError, match=r"'dense' needs query_embedding: .* TextEmbeddingRetriever"):
            JuryRetriever(retrievers(), on_error="skip").run(QUERY)

    def test_a_retriever_gets_only_the_forms_of_the_query_that_it_takes(self) -> None:
        seen: dict[str, Any] = {}

        @component
        class Hybrid:
            @component.output_types(documents=list[Document])
            def run(self, query: str, query_sparse_embedding: SparseEmbedding) -> dict[str, Any]:
                seen.update(query=query, sparse=query_sparse_embedding)
                return {"documents": found(query)}

        sparse = SparseEmbedding(indices=[1], values=[0.5])
        JuryRetriever({"h": Hybrid()}).run("tea", query_embedding=[1.0], query_sparse_embedding=sparse)
        assert seen == {"query": "tea", "sparse": sparse}

    def test_filters_and_lengths_are_given_to_every_retriever(self) -> None:
        filters = {"field": "meta.title", "operator": "in", "value": ["Keeping bread fresh", "No-knead bread"]}
        texts = {name: each for name, each in text_retrievers().items() if name != "title"}
        kept = JuryRetriever(texts, filters=filters).run(QUERY)["documents"]
        assert kept == JuryRetriever(texts).run(QUERY, filters=filters)["documents"]
        assert {each.meta["title"] for each in kept} == set(filters["value"])
        short = JuryRetriever(text_retrievers(), top_k=None, top_k_per_retriever=2).run(QUERY)["documents"]
        cut = {name: listed[:2] for name, listed in ranked_ids(QUERY).items()}
        assert ids(short) == list(juryrank.fuse(cut))
        longer = JuryRetriever(text_retrievers(), top_k=None, top_k_per_retriever=2).run(QUERY, top_k_per_retriever=3)
        assert len(longer["documents"]) > len(short)

    def test_a_super_component_is_a_retriever(self) -> None:
        pipeline = Pipeline()
        pipeline.add_component("embedder", MockTextEmbedder(embedding_fn=embed))
        pipeline.add_component("retriever", retrievers()["dense"])
        pipeline.connect("embedder.embedding", "retriever.query_embedding")
        mapping = {"query": ["embedder.text"], "top_k": ["retriever.top_k"]}
        whole = SuperComponent(pipeline, input_mapping=mapping, output_mapping={"retriever.documents": "documents"})
        result = JuryRetriever({"dense": whole}, top_k_per_retriever=4).run(QUERY)["documents"]
        assert ids(result) == ranked_ids(QUERY)["dense"][:4]

    def test_the_retrievers_are_warmed_up_and_closed(self) -> None:
        done: list[str] = []

        @component
        class Resource:
            def warm_up(self) -> None:
                done.append("warm")

            async def close_async(self) -> None:
                done.append("closed on the loop")

            def close(self) -> None:
                done.append("closed")

            @component.output_types(documents=list[Document])
            def run(self, query: str) -> dict[str, Any]:
                done.append("run")
                return {"documents": found(query)}

        retriever = JuryRetriever({"r": Resource(), "s": Stub(found)})
        retriever.run("tea")
        asyncio.run(retriever.run_async("tea"))
        retriever.close()
        asyncio.run(retriever.close_async())
        assert done == ["warm", "run", "warm", "run", "closed", "closed on the loop"]


class TestFailures:
    def test_a_retriever_that_fails_is_an_error_by_default(self) -> None:
        with pytest.raises(RetrieverError, match="'gone' failed: ConnectionError: the index is gone") as caught:
            JuryRetriever({"a": Stub(found), "gone": Stub(fail)}).run("tea")
        assert isinstance(caught.value.__cause__, ConnectionError)

    def test_a_retriever_that_fails_can_be_skipped(self) -> None:
        retriever = JuryRetriever({"a": Stub(found), "gone": Stub(fail)}, weights={"gone": 2.0}, on_error="skip")
        with pytest.warns(RetrieverWarning, match="'gone' failed") as said:
            result = retriever.run("tea")
        assert result["failed"] == {"gone": "ConnectionError: the index is gone"}
        assert ids(result["documents"]) == ["a", "b"]
        assert {each.category for each in said} == {RetrieverWarning}

    def test_a_failure_reaches_the_next_component_of_a_pipeline(self) -> None:
        @component
        class Report:
            @component.output_types(text=str)
            def run(self, failed: dict[str, str]) -> dict[str, Any]:
                return {"text": f"without {', '.join(failed)}"}

        pipeline = Pipeline()
        retriever = JuryRetriever({"a": Stub(found), "gone": Stub(fail)}, on_error="skip")
        pipeline.add_component("retriever", retriever)
        pipeline.add_component("report", Report())
        pipeline.connect("retriever.failed", "report.failed")
        with pytest.warns(RetrieverWarning, match="'gone' failed"):
            assert pipeline.run({"retriever": {"query": "tea"}})["report"] == {"text": "without gone"}

    def test_a_retriever_that_is_too_slow_can_be_skipped(self) -> None:
        end = threading.Event()

        def wait(query: str) -> list[Document]:
            end.wait(60)
            return found(query)

        retriever = JuryRetriever({"a": Stub(found), "slow": Stub(wait)}, on_error="skip", timeout=0.2)
        with pytest.warns(RetrieverWarning, match=r"'slow' failed.*no answer within 0.2 s"):
            result = retriever.run("tea")
        end.set()
        assert result["failed"] == {"slow": "TimeoutError: no answer within 0.2 s"}
        assert ids(result["documents"]) == ["a", "b"]

    async def test_a_coroutine_that_is_too_slow_is_cancelled(self) -> None:
        ended: list[str] = []

        async def wait() -> None:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                ended.append("cancelled")
                raise

        retriever = JuryRetriever({"a": Stub(found), "slow": AsyncStub(wait)}, on_error="skip", timeout=0.2)
        with pytest.warns(RetrieverWarning, match="'slow' failed"):
            result = await retriever.run_async("tea")
        await asyncio.sleep(0)
        assert (ids(result["documents"]), ended) == (["a", "b"], ["cancelled"])

    @pytest.mark.parametrize("on_error", ["raise", "skip"])
    def test_if_all_fail_it_is_an_error_in_any_case(self, on_error: Any) -> None:
        with pytest.raises(RetrieverError, match="the index is gone"):
            JuryRetriever({"x": Stub(fail), "y": Stub(fail)}, on_error=on_error).run("tea")

    def test_an_answer_without_documents_is_a_failure(self) -> None:
        @component
        class Nothing:
            def run(self, query: str) -> dict[str, Any]:
                return {}

        with pytest.raises(RetrieverError, match=r"'x' failed: .*'documents'"):
            JuryRetriever({"x": Nothing()}).run("tea")


class TestConcurrency:
    def test_the_retrievers_run_at_the_same_time(self) -> None:
        barrier = threading.Barrier(3, timeout=30)

        def meet(query: str) -> list[Document]:
            barrier.wait()  # passes only if all three are here
            return found(query)

        result = JuryRetriever({name: Stub(meet) for name in "xyz"}).run("tea")
        assert ids(result["documents"]) == ["a", "b"]

    async def test_coroutines_and_threads_run_at_the_same_time(self) -> None:
        loop = asyncio.get_running_loop()
        here, there = asyncio.Event(), threading.Event()

        async def meet() -> None:
            there.set()
            await asyncio.wait_for(here.wait(), 30)

        def answer(query: str) -> list[Document]:
            assert there.wait(30)
            loop.call_soon_threadsafe(here.set)
            return found(query)

        result = await JuryRetriever({"thread": Stub(answer), "loop": AsyncStub(meet)}).run_async("tea")
        assert set(ids(result["documents"])) == {"a", "b", "tea"}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: JuryRetriever({}), "retrievers are components by name"),
        (lambda: JuryRetriever([Stub(found)]), "retrievers are components by name"),
        (lambda: JuryRetriever({1: Stub(found)}), "the name of a retriever is text, got 1"),
        (lambda: JuryRetriever({"x": found}), "'x' must be a Haystack component .*, got function"),
        (lambda: JuryRetriever({"x": MockTextEmbedder()}), "'x' must be a Haystack component .*, got MockTextEmbedder"),
        (lambda: JuryRetriever({"x": Stub(found)}, on_error="ignore"), "on_error must be"),
        (lambda: JuryRetriever({"x": Stub(found)}, weights={"y": 2.0}), "weights of no expert: y"),
        (lambda: JuryRetriever({"x": Stub(found)}, timeout=0), "timeout is a number of seconds above 0"),
        (
            lambda: JuryRetriever({"x": Stub(found)}, top_k_per_retriever=0),
            "top_k_per_retriever is a whole number >= 1",
        ),
    ],
)
def test_a_wrong_argument_is_an_error_that_names_it(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()
