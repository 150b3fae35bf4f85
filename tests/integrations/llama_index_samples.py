"""Retrievers, rerankers and embeddings of LlamaIndex for tests: given results, waits, failures."""

import asyncio
import csv
import json
import threading
import zlib
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

DEMO = files("juryrank") / "demo"
QUERIES: dict[str, str] = json.loads((DEMO / "queries.json").read_text())


def node(text: str, score: float | None = None, **fields: Any) -> NodeWithScore:
    """A node whose id is its text, unless another is given."""
    return NodeWithScore(node=TextNode(text=text, **{"id_": text, **fields}), score=score)


def texts(nodes: list[NodeWithScore]) -> list[str]:
    return [each.text for each in nodes]


def ids(nodes: list[NodeWithScore]) -> list[str]:
    return [each.node_id for each in nodes]


class Listed(BaseRetriever):
    """Gives the nodes that belong to a query."""

    def __init__(self, results: dict[str, list[NodeWithScore]]) -> None:
        self.results = results
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self.results.get(query_bundle.query_str, [])


def listing(*given: NodeWithScore | str) -> Listed:
    """A retriever that gives these nodes, best first, for the query ``q``."""
    made = [node(each, score=1 / rank) if isinstance(each, str) else each for rank, each in enumerate(given, 1)]
    return Listed({"q": made})


class Waiting(Listed):
    """Gives its nodes once all that share its barriers have been asked, too; an error after ten seconds."""

    def __init__(self, results: Any, together: threading.Barrier, also_together: asyncio.Barrier) -> None:
        self.together, self.also_together = together, also_together
        super().__init__(results)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.together.wait(timeout=10)
        return super()._retrieve(query_bundle)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        await asyncio.wait_for(self.also_together.wait(), timeout=10)
        return super()._retrieve(query_bundle)


class WaitingInThreads(Waiting):
    """As Waiting, without code of its own for ``aretrieve``."""

    _aretrieve = BaseRetriever._aretrieve


class Broken(BaseRetriever):
    """Fails."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        raise ConnectionError("connection refused")

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        raise ConnectionError("connection refused")


class Slow(BaseRetriever):
    """Does not answer before it is released."""

    def __init__(self, released: threading.Event) -> None:
        self.released = released
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.released.wait(timeout=30)
        return []

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        await asyncio.sleep(30)
        return []


class Reranker(BaseNodePostprocessor):
    """Scores nodes by a function, sorts them and writes into them, as many rerankers of LlamaIndex do."""

    score: Callable[[NodeWithScore], float]
    top_n: int = 100

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle: Any = None) -> list[NodeWithScore]:
        for each in nodes:
            each.node.metadata["retrieval_score"] = each.score
            each.score = self.score(each)
        return sorted(nodes, key=lambda each: -(each.score or 0.0))[: self.top_n]


class Trigrams(BaseEmbedding):
    """Counts of hashed character trigrams: a real embedding without a model."""

    size: int = 256

    def _get_text_embedding(self, text: str) -> list[float]:
        vector = [0.0] * self.size
        for start in range(len(text) - 2):
            vector[zlib.crc32(text[start : start + 3].lower().encode()) % self.size] += 1.0
        return vector

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def corpus() -> list[TextNode]:
    with (DEMO / "corpus.csv").open() as file:
        return [
            TextNode(id_=row["item"], text=row["text"], metadata={"title": row["title"]})
            for row in csv.DictReader(file)
        ]


def cooking() -> tuple[dict[str, dict[str, list[str]]], dict[str, Listed]]:
    """The lists of the cooking data by query text and expert, and retrievers that give them as nodes."""
    by_id = {each.node_id: each for each in corpus()}
    lists: dict[str, dict[str, list[str]]] = {}
    with (DEMO / "cooking.csv").open() as file:
        for row in sorted((row for row in csv.DictReader(file) if row["rank"]), key=lambda row: int(row["rank"])):
            lists.setdefault(QUERIES[row["query"]], {}).setdefault(row["expert"], []).append(row["item"])
    results: dict[str, dict[str, list[NodeWithScore]]] = {}
    for query, by_expert in lists.items():
        for expert, items in by_expert.items():
            results.setdefault(expert, {})[query] = [
                NodeWithScore(node=by_id[item], score=1 / rank) for rank, item in enumerate(items, 1)
            ]
    return lists, {expert: Listed(results[expert]) for expert in sorted(results)}


def shared_words(one: str, other: str) -> int:
    return len(set(one.lower().split()) & set(other.lower().split()))


class CountTitleWords(BaseNodePostprocessor):
    """Writes into the metadata how many words the title shares with the query."""

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle: Any = None) -> list[NodeWithScore]:
        for each in nodes:
            each.node.metadata["title_words"] = shared_words(each.metadata["title"], query_bundle.query_str)
        return nodes
