"""Retrievers of LangChain for tests: with given results, that wait for each other, that fail, that are slow."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import polars as pl
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

import juryrank

DEMO = Path(juryrank.__file__).parent / "demo"


class Listed(BaseRetriever):
    """Gives the documents that belong to a query."""

    results: dict[str, list[Document]]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return self.results.get(query, [])


class Waiting(Listed):
    """Gives its documents once all that share its barriers have been asked, too; an error after ten seconds."""

    together: threading.Barrier
    also_together: asyncio.Barrier

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        self.together.wait(timeout=10)
        return self.results[query]

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        await asyncio.wait_for(self.also_together.wait(), timeout=10)
        return self.results[query]


class Broken(BaseRetriever):
    """Fails."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        raise ConnectionError("connection refused")

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        raise ConnectionError("connection refused")


class Slow(BaseRetriever):
    """Does not answer before it is released."""

    released: threading.Event

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        self.released.wait(timeout=30)
        return []

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        await asyncio.sleep(30)
        return []


def documents(*texts: str, **metadata: Any) -> list[Document]:
    """Documents without ids."""
    return [Document(text, metadata=dict(metadata)) for text in texts]


def listing(*docs: Document) -> Listed:
    """A retriever that gives these documents for the query ``q``."""
    return Listed(results={"q": list(docs)})


def cooking() -> tuple[dict[str, dict[str, list[str]]], dict[str, Listed]]:
    """The lists of the cooking data by query text and expert, and retrievers that give them as documents."""
    corpus = pl.read_csv(DEMO / "corpus.csv")
    document = {row["item"]: row for row in corpus.iter_rows(named=True)}
    text_of = json.loads((DEMO / "queries.json").read_text())
    lists: dict[str, dict[str, list[str]]] = {}
    for row in pl.read_csv(DEMO / "cooking.csv").drop_nulls("rank").sort("rank").iter_rows(named=True):
        lists.setdefault(text_of[row["query"]], {}).setdefault(row["expert"], []).append(row["item"])
    results: dict[str, dict[str, list[Document]]] = {}
    for query, by_expert in lists.items():
        for expert, items in by_expert.items():
            results.setdefault(expert, {})[query] = [
                Document(document[item]["text"], id=item, metadata={"title": document[item]["title"]}) for item in items
            ]
    return lists, {expert: Listed(results=results[expert]) for expert in sorted(results)}
