"""The cooking demo as Haystack documents, three real retrievers for it, and a model fitted to their lists."""

import csv
import json
import os
import zlib
from functools import cache
from importlib.resources import files
from typing import Any

import juryrank

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # read when haystack is imported

from haystack import Document
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

DEMO = files("juryrank") / "demo"
QUERIES: dict[str, str] = json.loads((DEMO / "queries.json").read_text())


def embed(text: str) -> list[float]:
    """Counts of hashed character trigrams: a real embedding without a model."""
    vector = [0.0] * 64
    for start in range(len(text) - 2):
        vector[zlib.crc32(text[start : start + 3].lower().encode()) % len(vector)] += 1.0
    return vector


@cache
def corpus() -> list[dict[str, str]]:
    with (DEMO / "corpus.csv").open() as file:
        return list(csv.DictReader(file))


def documents() -> list[Document]:
    """The texts, with their own ids and embeddings."""
    return [
        Document(id=row["item"], content=row["text"], meta={"title": row["title"]}, embedding=embed(row["text"]))
        for row in corpus()
    ]


def titles() -> list[Document]:
    return [Document(id=row["item"], content=row["title"]) for row in corpus()]


def filled(index: str, content: list[Document]) -> InMemoryDocumentStore:
    """The store of an index, filled once in a process."""
    store = InMemoryDocumentStore(index=index, embedding_similarity_function="cosine")
    if not store.count_documents():
        store.write_documents(content)
    return store


def retrievers(top_k: int = 20) -> dict[str, Any]:
    texts = filled("cooking", documents())
    return {
        "bm25": InMemoryBM25Retriever(texts, top_k=top_k),
        "dense": InMemoryEmbeddingRetriever(texts, top_k=top_k),
        "title": InMemoryBM25Retriever(filled("cooking-titles", titles()), top_k=top_k),
    }


@cache
def _retrieved(query: str) -> dict[str, list[Document]]:
    found = retrievers()
    return {
        "bm25": found["bm25"].run(query=query)["documents"],
        "dense": found["dense"].run(query_embedding=embed(query))["documents"],
        "title": found["title"].run(query=query)["documents"],
    }


def retrieved(query: str) -> dict[str, list[Document]]:
    """The documents of every retriever for a text; lists of the caller's own."""
    return {name: list(found) for name, found in _retrieved(query).items()}


def ids(found: list[Document]) -> list[str]:
    return [document.id for document in found]


def ranked_ids(query: str, *names: str) -> dict[str, list[str]]:
    """What the retrievers return for a text, as lists of ids."""
    return {name: ids(found) for name, found in retrieved(query).items() if name in names or not names}


@cache
def fitted(*names: str) -> Any:
    """A jury, fitted to the lists of these retrievers (all without names) for the queries of the demo."""
    labels: dict[str, dict[str, float]] = {}
    with (DEMO / "cooking.csv").open() as file:
        for row in csv.DictReader(file):
            if row["label"]:
                labels.setdefault(row["query"], {})[row["item"]] = float(row["label"])
    lists: dict[str, dict[str, list[str]]] = {}
    for query, text in QUERIES.items():
        for name, found in ranked_ids(text, *names).items():
            lists.setdefault(name, {})[query] = found
    return juryrank.fit(juryrank.from_dicts(lists, labels=labels), "jury")
