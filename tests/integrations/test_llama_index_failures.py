"""JuryRetriever for LlamaIndex: retrievers that fail or take too long, and mistakes of the user."""

import asyncio
import importlib
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("llama_index.core")

from llama_index.core.retrievers import BaseRetriever
from llama_index_samples import Broken, Slow, listing, node, texts

import juryrank
from juryrank.errors import JuryrankError, MissingExtraError, RetrieverError, RetrieverWarning
from juryrank.integrations.llama_index import JuryRetriever


@pytest.fixture
def slow() -> Iterator[Slow]:
    released = threading.Event()
    yield Slow(released)
    released.set()


async def ask(retriever: JuryRetriever, way: str) -> list[Any]:
    return retriever.retrieve("q") if way == "retrieve" else await retriever.aretrieve("q")


@pytest.mark.parametrize("way", ["retrieve", "aretrieve"])
class TestFailures:
    async def test_a_retriever_that_fails_is_an_error_that_names_it(self, way) -> None:
        with pytest.raises(RetrieverError, match=r"'down'.*connection refused.*on_error='skip'") as caught:
            await ask(JuryRetriever({"x": listing("tea"), "down": Broken()}), way)
        assert isinstance(caught.value.__cause__, ConnectionError)

    async def test_a_retriever_that_fails_can_be_left_out(self, way) -> None:
        retriever = JuryRetriever({"x": listing("tea", "milk"), "down": Broken()}, on_error="skip")
        with pytest.warns(RetrieverWarning, match=r"down.*connection refused") as said:
            fused = await ask(retriever, way)
        assert [warning.filename for warning in said] == [__file__]
        assert texts(fused) == ["tea", "milk"]
        for each in fused:
            assert each.metadata["juryrank"]["failed"] == {"down": "ConnectionError: connection refused"}

    async def test_the_weight_of_a_retriever_that_is_left_out_is_not_reported_as_unknown(self, way) -> None:
        weights = {"x": 1.0, "down": 2.0}
        retriever = JuryRetriever({"x": listing("tea"), "down": Broken()}, weights=weights, on_error="skip")
        with pytest.warns(RetrieverWarning) as said:
            assert len(await ask(retriever, way)) == 1
        assert len(said) == 1

    async def test_a_retriever_that_takes_too_long_is_an_error_that_names_it(self, way, slow) -> None:
        with pytest.raises(RetrieverError, match=r"'slow'.*0\.05 s"):
            await ask(JuryRetriever({"x": listing("tea"), "slow": slow}, timeout=0.05), way)

    async def test_a_retriever_that_takes_too_long_can_be_left_out(self, way, slow) -> None:
        retriever = JuryRetriever({"x": listing("tea"), "slow": slow}, timeout=0.5, on_error="skip")
        with pytest.warns(RetrieverWarning, match="slow"):
            fused = await ask(retriever, way)
        assert texts(fused) == ["tea"]
        assert list(fused[0].metadata["juryrank"]["failed"]) == ["slow"]

    async def test_without_any_list_it_fails_in_any_case(self, way) -> None:
        with pytest.raises(RetrieverError, match=r"all retrievers failed.*connection refused"):
            await ask(JuryRetriever({"x": Broken(), "y": Broken()}, on_error="skip"), way)

    async def test_where_nothing_fails_nothing_is_reported(self, way) -> None:
        fused = await ask(JuryRetriever({"x": listing("tea")}, on_error="skip", timeout=30), way)
        assert fused[0].metadata["juryrank"].keys() == {"score", "ranks", "contributions"}

    @pytest.mark.parametrize("result", [["tea"], "tea", None, [{"text": "tea"}]], ids=str)
    async def test_a_retriever_that_gives_no_nodes_is_named(self, way, result) -> None:
        odd = listing()
        odd.results = {"q": result}
        with pytest.raises(RetrieverError, match="'odd'"):
            await ask(JuryRetriever({"x": listing("tea"), "odd": odd}), way)


class OnlyThreads(Slow):
    """Slow, without code of its own for ``aretrieve``, where LlamaIndex would hold up the event loop."""

    _aretrieve = BaseRetriever._aretrieve


def test_the_time_limit_holds_for_retrievers_without_asynchronous_code() -> None:
    released = threading.Event()
    retriever = JuryRetriever({"x": listing("tea"), "slow": OnlyThreads(released)}, timeout=0.2, on_error="skip")

    async def ask_and_release() -> tuple[list[str], float]:
        start = time.monotonic()
        found = texts(await retriever.aretrieve("q"))
        took = time.monotonic() - start
        released.set()
        return found, took

    with pytest.warns(RetrieverWarning, match="slow"):
        found, took = asyncio.run(ask_and_release())
    assert found == ["tea"]
    assert took < 10  # the retriever would take 30


async def test_a_retriever_that_is_cancelled_is_not_asked_further() -> None:
    ended = asyncio.Event()

    class Cancelled(Slow):
        async def _aretrieve(self, query_bundle: Any) -> list[Any]:
            try:
                return await super()._aretrieve(query_bundle)
            finally:
                ended.set()

    retriever = JuryRetriever({"x": listing("tea"), "slow": Cancelled(threading.Event())}, timeout=0.2)
    with pytest.raises(RetrieverError, match="slow"):
        await retriever.aretrieve("q")
    await asyncio.wait_for(ended.wait(), timeout=10)


GOOD = {"x": listing("tea")}
MISTAKES: dict[str, tuple[Any, dict[str, Any], str]] = {
    "empty": ({}, {}, r"retrievers.*\{name: retriever\}"),
    "a list": ([listing("tea")], {}, r"retrievers.*\{name: retriever\}.*list"),
    "a name that is no text": ({1: listing("tea")}, {}, r"names of retrievers.*1"),
    "no retriever": ({"x": "bm25"}, {}, r"'x'.*as_retriever\(\).*str"),
    "unknown method": (GOOD, {"method": "rff"}, "did you mean 'rrf'"),
    "model and method": (GOOD, {"model": "m.json", "method": "rrf"}, r"model.*method"),
    "unfitted": (GOOD, {"method": "jury"}, "fit it first"),
    "unfitted model": (GOOD, {"model": juryrank.method("jury")}, "fit it first"),
    "no such file": (GOOD, {"model": "nowhere/model.json"}, r"nowhere.model\.json"),
    "model with weights": (GOOD, {"model": juryrank.method("rrf"), "weights": {"x": 2.0}}, "parameters already"),
    "unknown parameter": (GOOD, {"params": {"constant": 60}}, "constant"),
    "params is no dict": (GOOD, {"params": ["k"]}, r"params must be \{name: value\}.*\['k'\]"),
    "weights in params": (GOOD, {"params": {"weights": {"x": 2.0}}}, "weights is an option of its own"),
    "weights as a list": (GOOD, {"weights": [0.3, 0.7]}, r"weights.*names.*\[0\.3, 0\.7\]"),
    "weight of no retriever": ({"dense": GOOD["x"]}, {"weights": {"dens": 2.0}}, "did you mean 'dense'"),
    "negative weight": (GOOD, {"weights": {"x": -1.0}}, r"weight of expert 'x'.*-1"),
    "k is 0": (GOOD, {"k": 0}, r"k must be a whole number >= 1, or None.*0"),
    "k is text": (GOOD, {"k": "10"}, r"k must be a whole number >= 1, or None.*'10'"),
    "on_error": (GOOD, {"on_error": "ignore"}, r"on_error.*'raise'.*'skip'.*ignore"),
    "timeout": (GOOD, {"timeout": 0}, r"timeout.*0"),
    "key": (GOOD, {"key": 3}, r"key.*3"),
    "metadata_key": (GOOD, {"metadata_key": 3}, r"metadata_key.*3"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_when_the_retriever_is_made(mistake: str) -> None:
    retrievers, options, message = MISTAKES[mistake]
    with pytest.raises(JuryrankError, match=message) as caught:
        JuryRetriever(retrievers, **options)
    assert "\n" not in str(caught.value)


def test_an_unknown_option_is_an_error_that_names_it() -> None:
    with pytest.raises(TypeError, match="similarity_top_k"):
        JuryRetriever(GOOD, similarity_top_k=3)


def test_mistakes_of_fuse_nodes_are_named() -> None:
    retriever = JuryRetriever(GOOD)
    with pytest.raises(JuryrankError, match=r"'x' must be a list of NodeWithScore, got TextNode at rank 2"):
        retriever.fuse_nodes({"x": [node("tea"), node("milk").node]})
    with pytest.raises(JuryrankError, match="k must be a whole number"):
        retriever.fuse_nodes({"x": [node("tea")]}, k=0)


def test_without_llama_index_the_error_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "llama_index.core.callbacks", None)
    monkeypatch.delitem(sys.modules, "juryrank.integrations.llama_index")
    with pytest.raises(MissingExtraError, match=r"llama-index-core: pip install 'juryrank\[llamaindex\]'"):
        importlib.import_module("juryrank.integrations.llama_index")
