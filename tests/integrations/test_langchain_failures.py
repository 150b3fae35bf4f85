"""JuryRetriever: retrievers that fail or take too long, and mistakes of the user."""

import importlib
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("langchain_core")

from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_retrievers import Broken, Slow, documents, listing

import juryrank
from juryrank.errors import DataError, DataWarning, JuryrankError, MissingExtraError, RetrieverError, RetrieverWarning
from juryrank.integrations.langchain import JuryRetriever

TEA, MILK = documents("tea", "milk")


@pytest.fixture
def slow() -> Iterator[Slow]:
    released = threading.Event()
    yield Slow(released=released)
    released.set()


async def ask(retriever: JuryRetriever, way: str) -> list[Any]:
    return retriever.invoke("q") if way == "invoke" else await retriever.ainvoke("q")


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
class TestFailures:
    async def test_a_retriever_that_fails_is_an_error_that_names_it(self, way) -> None:
        retriever = JuryRetriever(retrievers={"x": listing(TEA), "down": Broken()})
        with pytest.raises(RetrieverError, match=r"down.*connection refused") as caught:
            await ask(retriever, way)
        assert isinstance(caught.value.__cause__, ConnectionError)

    async def test_a_retriever_that_fails_can_be_left_out(self, way) -> None:
        retriever = JuryRetriever(retrievers={"x": listing(TEA, MILK), "down": Broken()}, on_error="skip")
        with pytest.warns(RetrieverWarning, match=r"down.*connection refused") as said:
            fused = await ask(retriever, way)
        assert [warning.filename for warning in said] == [__file__]
        assert [document.page_content for document in fused] == ["tea", "milk"]
        for document in fused:
            assert list(document.metadata["juryrank"]["failed"]) == ["down"]
            assert "connection refused" in document.metadata["juryrank"]["failed"]["down"]

    async def test_the_weight_of_a_retriever_that_is_left_out_is_not_reported_as_unknown(self, way) -> None:
        retriever = JuryRetriever(
            retrievers={"x": listing(TEA), "down": Broken()}, weights={"x": 1.0, "down": 2.0}, on_error="skip"
        )
        with pytest.warns(RetrieverWarning) as said:
            assert len(await ask(retriever, way)) == 1
        assert len(said) == 1

    async def test_a_retriever_that_takes_too_long_is_an_error_that_names_it(self, way, slow) -> None:
        retriever = JuryRetriever(retrievers={"x": listing(TEA), "slow": slow}, timeout=0.05)
        with pytest.raises(RetrieverError, match=r"slow.*0\.05"):
            await ask(retriever, way)

    async def test_a_retriever_that_takes_too_long_can_be_left_out(self, way, slow) -> None:
        retriever = JuryRetriever(retrievers={"x": listing(TEA), "slow": slow}, timeout=0.5, on_error="skip")
        with pytest.warns(RetrieverWarning, match="slow"):
            fused = await ask(retriever, way)
        assert [document.page_content for document in fused] == ["tea"]
        assert list(fused[0].metadata["juryrank"]["failed"]) == ["slow"]

    async def test_without_any_list_it_fails_in_any_case(self, way) -> None:
        retriever = JuryRetriever(retrievers={"x": Broken(), "y": Broken()}, on_error="skip")
        with pytest.raises(RetrieverError, match="connection refused"):
            await ask(retriever, way)

    async def test_where_nothing_fails_nothing_is_reported(self, way) -> None:
        retriever = JuryRetriever(retrievers={"x": listing(TEA)}, on_error="skip", timeout=30)
        assert "failed" not in (await ask(retriever, way))[0].metadata["juryrank"]

    @pytest.mark.parametrize("result", [["tea"], "tea", None, [TEA, {"text": "tea"}]], ids=str)
    async def test_a_runnable_that_gives_no_documents_is_named(self, way, result) -> None:
        retriever = JuryRetriever(retrievers={"x": listing(TEA), "odd": RunnableLambda(lambda query: result)})
        with pytest.raises(JuryrankError, match=r"'odd'.* a list of [Dd]ocument"):
            await ask(retriever, way)


GOOD = {"x": listing(TEA)}
MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "no retrievers": ({}, r"retrievers.*\{name: retriever\}"),
    "empty": ({"retrievers": {}}, r"retrievers.*\{name: retriever\}"),
    "a list": ({"retrievers": [listing(TEA)]}, r"retrievers.*\{name: retriever\}.*list"),
    "a name that is no text": ({"retrievers": {1: listing(TEA)}}, "names of retrievers.*1"),
    "no retriever": ({"retrievers": {"x": "bm25"}}, "'x'.*Runnable.*str"),
    "a function": ({"retrievers": {"x": len}}, "'x'.*RunnableLambda"),
    "unknown method": ({"retrievers": GOOD, "method": "rff"}, "did you mean 'rrf'"),
    "model and method": ({"retrievers": GOOD, "model": "m.json", "method": "rrf"}, "model.*method"),
    "unfitted": ({"retrievers": GOOD, "method": "jury"}, "fit it first"),
    "unfitted model": ({"retrievers": GOOD, "model": juryrank.method("jury")}, "fit it first"),
    "no such file": ({"retrievers": GOOD, "model": "nowhere/model.json"}, r"nowhere.model\.json"),
    "model with weights": (
        {"retrievers": GOOD, "model": juryrank.method("rrf"), "weights": {"x": 2.0}},
        "weights|parameters",
    ),
    "unknown parameter": ({"retrievers": GOOD, "params": {"constant": 60}}, "constant"),
    "params is no dict": ({"retrievers": GOOD, "params": ["k"]}, r"params must be \{name: value\}.*\['k'\]"),
    "weights in params": ({"retrievers": GOOD, "params": {"weights": {"x": 2.0}}}, "weights is an option of its own"),
    "weights as a list": ({"retrievers": GOOD, "weights": [0.3, 0.7]}, r"weights.*names.*\[0\.3, 0\.7\]"),
    "weight of no retriever": ({"retrievers": {"dense": GOOD["x"]}, "weights": {"dens": 2.0}}, "did you mean 'dense'"),
    "negative weight": ({"retrievers": GOOD, "weights": {"x": -1.0}}, "weight of expert 'x'.*-1"),
    "k is 0": ({"retrievers": GOOD, "k": 0}, "k must be a whole number >= 1, or None.*0"),
    "k is text": ({"retrievers": GOOD, "k": "10"}, "k must be a whole number >= 1, or None.*'10'"),
    "unknown option": ({"retrievers": GOOD, "weight": {"x": 1}}, "weight.*did you mean 'weights'"),
    "on_error": ({"retrievers": GOOD, "on_error": "ignore"}, "on_error.*'raise'.*'skip'.*ignore"),
    "timeout": ({"retrievers": GOOD, "timeout": 0}, "timeout.*0"),
    "key": ({"retrievers": GOOD, "key": 3}, "key.*3"),
    "score_key": ({"retrievers": GOOD, "method": "combsum", "score_key": 3}, "score_key.*3"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_when_the_retriever_is_made(mistake: str) -> None:
    options, message = MISTAKES[mistake]
    with pytest.raises(JuryrankError, match=message) as caught:
        JuryRetriever(**options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("k", [0, -1, "3", 2.0, True])
def test_a_wrong_k_in_a_call_is_an_error(k) -> None:
    with pytest.raises(JuryrankError, match="k must be a whole number >= 1, or None"):
        JuryRetriever(retrievers=GOOD).invoke("q", k=k)


def test_an_unknown_option_of_a_call_is_an_error() -> None:
    with pytest.raises(TypeError, match="top_k"):
        JuryRetriever(retrievers=GOOD).invoke("q", top_k=3)


def test_without_langchain_the_error_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain_core.callbacks", None)
    monkeypatch.delitem(sys.modules, "juryrank.integrations.langchain")
    with pytest.raises(MissingExtraError, match=r"langchain-core: pip install 'juryrank\[langchain\]'"):
        importlib.import_module("juryrank.integrations.langchain")


class TestAssignment:
    def test_an_option_can_be_assigned_and_is_used(self) -> None:
        retriever = JuryRetriever(retrievers={"x": listing(TEA), "y": listing(MILK)}, weights={"x": 2.0})
        assert retriever.invoke("q")[0].page_content == "tea"
        retriever.weights = {"y": 2.0}
        assert retriever.invoke("q")[0].page_content == "milk"
        retriever.k = 1
        assert len(retriever.invoke("q")) == 1

    def test_a_wrong_value_is_refused_and_changes_nothing(self) -> None:
        retriever = JuryRetriever(retrievers=GOOD)
        with pytest.raises(JuryrankError, match="did you mean 'rrf'"):
            retriever.method = "rff"
        assert retriever.method is None
        assert len(retriever.invoke("q")) == 1

    def test_a_copy_can_have_other_options(self) -> None:
        retriever = JuryRetriever(retrievers={"x": listing(TEA), "y": listing(MILK)}, weights={"x": 2.0})
        other = retriever.model_copy(update={"weights": {"y": 2.0}})
        assert other.invoke("q")[0].page_content == "milk"
        assert retriever.invoke("q")[0].page_content == "tea"


class TestIdsThatStoresMakeUp:
    """The same eight documents in two stores, or in a store and a retriever that leaves them without ids."""

    TEXTS = [f"{each} is a drink" for each in ("tea", "milk", "rice milk", "juice", "beer", "wine", "water", "cocoa")]

    def store(self) -> Any:
        store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
        store.add_documents(documents(*self.TEXTS))
        return store.as_retriever(search_kwargs={"k": 8})

    @pytest.mark.parametrize("way", ["invoke", "ainvoke"])
    async def test_two_stores_are_told_what_to_do(self, way) -> None:
        stores = {"one": self.store(), "two": self.store()}
        with pytest.warns(DataWarning, match=r'8 texts are in more than one list, and no documents by.*key="text"'):
            found = await ask(JuryRetriever(retrievers=stores, k=None), way)
        assert len(found) == 16
        found = await ask(JuryRetriever(retrievers=stores, k=None, key="text"), way)
        assert sorted(each.page_content for each in found) == sorted(self.TEXTS)
        assert all(len(each.metadata["juryrank"]["ranks"]) == 2 for each in found)

    def test_a_store_beside_a_retriever_without_ids_is_told_what_to_do(self) -> None:
        pair = {"bm25": listing(*documents(*self.TEXTS)), "dense": self.store()}
        with pytest.raises(DataError, match=r"'bm25' have no id and others have one.*give key=\"text\""):
            JuryRetriever(retrievers=pair).invoke("q")
        assert len(JuryRetriever(retrievers=pair, key="text", k=None).invoke("q")) == 8
