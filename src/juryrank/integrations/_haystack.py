"""What the Haystack components share: fusion of lists of documents, and its settings as plain data."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from numbers import Integral
from operator import attrgetter
from typing import Any

from juryrank.errors import DataError, MissingExtraError, ParameterError
from juryrank.integrations._documents import DocumentFusion, FusedDocuments, Identity, Key
from juryrank.integrations._retrieval import Model, demand_weights_of, make_fuser

try:
    from haystack import Document
    from haystack.core.errors import SerializationError
    from haystack.utils import deserialize_callable, serialize_callable
except ImportError as error:
    raise MissingExtraError.of("haystack", "juryrank.integrations.haystack needs haystack-ai") from error

FIELD = "juryrank"  # of the metadata of the documents of a result
SET_VALUES = vars(Document)["__dict__"].__set__  # of the values of all fields at once


class HaystackFusion:
    """One list of documents from the lists of several experts, by a model or a method."""

    def __init__(
        self,
        experts: Collection[str],
        model: Model | None,
        method: str | None,
        weights: Mapping[str, float] | None,
        params: Mapping[str, Any],
        top_k: int | None,
        key: Key,
    ) -> None:
        if top_k is not None:
            top_k = as_count("top_k", top_k, least=1)
        self._model, self._method, self._key, self._top_k = model, method, key, top_k
        self._weights, self._params = weights, dict(params)
        identity = Identity(key, id_of=attrgetter("id"), metadata_of=attrgetter("meta"), text_of=attrgetter("content"))
        fuser = make_fuser(model, method, weights=weights, **params)
        demand_weights_of(experts, weights, "expert")
        self._fusion: DocumentFusion[Any] = DocumentFusion(fuser, identity, score_of=attrgetter("score"))

    def fuse(self, lists: Mapping[str, Sequence[Any]], top_k: int | None) -> list[Any]:
        """The best documents, copied, with the fused score; by default as many as ``top_k`` of the settings."""
        top_k = self._top_k if top_k is None else as_count("top_k", top_k, least=0)
        if top_k == 0:  # as in Haystack's own components
            return []
        try:
            return _as_documents(self._fusion.fuse_all(lists, top_k))
        except (AttributeError, TypeError, ValueError) as error:
            raise _wrong_documents(lists) or error from None

    def settings(self) -> dict[str, Any]:
        """The arguments from which the same fusion is made, as plain data."""
        if self._model is not None and not isinstance(self._model, str | os.PathLike):
            raise SerializationError(
                "a model is written to YAML as the path of its file, and this one is in memory: save it, "
                "juryrank.save(model, 'model.json'), and give the path, model='model.json'"
            )
        weights = None if self._weights is None else {str(name): float(each) for name, each in self._weights.items()}
        return {
            "model": None if self._model is None else os.fspath(self._model),
            "method": self._method,
            "weights": weights,
            "top_k": self._top_k,
            "key": {"function": serialize_callable(self._key)} if callable(self._key) else self._key,
            **self._params,
        }


def with_function(data: Mapping[str, Any]) -> dict[str, Any]:
    """Serialised settings of a component, with the function itself where ``key`` names one."""
    settings = dict(data.get("init_parameters", {}))
    if isinstance(settings.get("key"), Mapping):
        settings["key"] = deserialize_callable(settings["key"]["function"])
    return {**data, "init_parameters": settings}


def as_count(name: str, given: Any, least: int) -> int:
    """A number of documents; an error for anything else."""
    if isinstance(given, bool) or not isinstance(given, Integral) or given < least:
        raise ParameterError(f"{name} is a whole number >= {least} or None, got {given!r}")
    return int(given)


def _as_documents(best: FusedDocuments) -> list[Any]:
    """Copies of the documents with the fused scores, and ranks and contributions in their metadata.

    ``dataclasses.replace`` takes ten times as long, which counts for results of hundreds of documents.
    """
    documents, *details = best
    values: list[dict[str, Any]] = [vars(document).copy() for document in documents]
    for own, score, ranks, contributions in zip(values, *details, strict=True):
        own["score"] = score
        own["meta"] = meta = dict(own["meta"])
        meta[FIELD] = {"ranks": ranks, "contributions": contributions}
    copies: list[Any] = list(map(object.__new__, map(type, documents)))
    deque(map(SET_VALUES, copies, values), maxlen=0)
    return copies


def _wrong_documents(lists: Mapping[str, Any]) -> DataError | None:
    """The error for a list that has something else than documents, if there is one."""
    for expert, documents in lists.items():
        if not isinstance(documents, list | tuple):
            return DataError(f"{expert!r} must be a list of Haystack Documents, found {type(documents).__name__}")
        for rank, document in enumerate(documents, 1):
            if not isinstance(document, Document):
                return DataError(
                    f"{expert!r} must be a list of Haystack Documents, found {type(document).__name__} at rank {rank}"
                )
    return None
