"""JuryRetriever as a part of chains: batches, events, configuration, copies."""

import copy
import pickle
from typing import Any

import pytest

pytest.importorskip("langchain_core")

from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ConfigurableField
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_retrievers import DEMO, cooking, documents, listing

import juryrank
from juryrank.integrations.langchain import JuryRetriever

TEA, MILK = documents("tea", "milk")


def as_text(docs: list[Document]) -> str:
    return " / ".join(document.page_content for document in docs)


@pytest.fixture(scope="module")
def demo() -> tuple[list[str], JuryRetriever]:
    lists, retrievers = cooking()
    return list(lists), JuryRetriever(retrievers=retrievers, model=juryrank.fit(DEMO / "cooking.csv", "jury"))


class TestChains:
    def test_it_is_a_step_of_a_chain(self) -> None:
        chain = JuryRetriever(retrievers={"x": listing(TEA, MILK)}) | as_text
        assert chain.invoke("q") == "tea / milk"

    def test_options_of_a_call_can_be_bound(self) -> None:
        chain = JuryRetriever(retrievers={"x": listing(TEA, MILK)}).bind(k=1) | as_text
        assert chain.invoke("q") == "tea"

    def test_a_batch_in_threads_gives_what_single_calls_give(self, demo) -> None:
        queries, retriever = demo
        assert retriever.batch(queries * 3) == [retriever.invoke(query) for query in queries] * 3

    async def test_an_asynchronous_batch_gives_what_single_calls_give(self, demo) -> None:
        queries, retriever = demo
        assert await retriever.abatch(queries) == retriever.batch(queries)

    async def test_events_show_the_retrievers(self) -> None:
        chain = JuryRetriever(retrievers={"x": listing(TEA), "y": listing(MILK)}) | as_text
        events = [event async for event in chain.astream_events("q", version="v2")]
        ends = [event for event in events if event["event"] == "on_retriever_end"]
        assert {event["name"] for event in ends} == {"JuryRetriever", "Listed"}
        tags = {tag for event in ends for tag in event["tags"] if tag.startswith("retriever:")}
        assert tags == {"retriever:x", "retriever:y"}
        (whole,) = [event for event in ends if event["name"] == "JuryRetriever"]
        children = [event for event in ends if event["name"] == "Listed"]
        assert all(whole["run_id"] in event["parent_ids"] for event in children)

    def test_the_names_of_traced_runs_are_those_of_the_retrievers(self) -> None:
        assert JuryRetriever(retrievers={"x": listing(TEA)}).get_name() == "JuryRetriever"

    def test_a_vector_store_is_a_retriever(self) -> None:
        store = InMemoryVectorStore(DeterministicFakeEmbedding(size=16))
        store.add_texts(["tea", "milk", "rice"], ids=["1", "2", "3"])
        retriever = JuryRetriever(retrievers={"dense": store.as_retriever(search_kwargs={"k": 2})}, k=5)
        found = store.similarity_search("rice", k=2)
        assert [document.id for document in retriever.invoke("rice")] == [document.id for document in found]
        assert found[0].page_content == "rice"


class Numbered(BaseRetriever):
    """Gives as many documents as it is told."""

    n: int = 1

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return documents(*(f"text {n}" for n in range(self.n)))


class TestConfiguration:
    async def test_configurable_fields_of_a_retriever_can_be_set_in_a_call(self) -> None:
        child = Numbered().configurable_fields(n=ConfigurableField(id="n"))
        retriever = JuryRetriever(retrievers={"x": child})
        config = {"configurable": {"n": 4}}
        assert len(retriever.invoke("q")) == 1
        assert len(retriever.invoke("q", config)) == len(await retriever.ainvoke("q", config)) == 4
        assert len(retriever.batch(["q"], config)[0]) == 4
        assert {spec.id for spec in retriever.config_specs} == {"n"}

    def test_its_own_fields_are_configurable(self) -> None:
        retriever = JuryRetriever(retrievers={"x": listing(TEA, MILK)}).configurable_fields(k=ConfigurableField(id="k"))
        assert len(retriever.invoke("q", {"configurable": {"k": 1}})) == 1


class TestCopies:
    @pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))])
    def test_a_copy_gives_the_same(self, demo, copied) -> None:
        queries, retriever = demo
        assert copied(retriever).batch(queries) == retriever.batch(queries)

    @pytest.mark.parametrize("key", [None, "id", "title"])
    def test_every_way_of_identity_can_be_pickled(self, demo, key) -> None:
        queries, retriever = demo
        made = JuryRetriever(retrievers=retriever.retrievers, key=key)
        assert pickle.loads(pickle.dumps(made)).batch(queries) == made.batch(queries)

    def test_a_copy_does_not_need_the_file_of_the_model(self, demo, tmp_path) -> None:
        queries, retriever = demo
        juryrank.save(retriever.model, tmp_path / "model.json")
        made = JuryRetriever(retrievers=retriever.retrievers, model=tmp_path / "model.json")
        (tmp_path / "model.json").unlink()
        assert pickle.loads(pickle.dumps(made)).batch(queries) == retriever.batch(queries)
