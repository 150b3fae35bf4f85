"""``JuryRetriever``: runs several Haystack retrievers at once and fuses their lists."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict
from haystack.core.serialization import component_from_dict, component_to_dict, import_class_by_name
from haystack.dataclasses import SparseEmbedding

from juryrank.errors import ParameterError
from juryrank.integrations._documents import Key
from juryrank.integrations._haystack import HaystackFusion, as_count, with_function
from juryrank.integrations._retrieval import Collected, Model, OnError, acollect, collect, demand_policy, in_thread

__all__ = ["JuryRetriever"]

SUPPORTED = "__haystack_supports_async__"  # an attribute of every component
FORMS = ("query", "query_embedding", "query_sparse_embedding")  # of a query, by the inputs that take them


@component
class JuryRetriever:
    """Runs several retrievers at the same time and fuses their documents, with a learned model or with a method.

    ``retrievers`` are Haystack components by name, and the names are those that the model knows. Each gets the forms of
    the query that it has inputs for: the text, its embedding or its sparse embedding. A ``TextEmbeddingRetriever``
    embeds the text itself. ``model``, ``method``, ``weights``, ``top_k``, ``key`` and further parameters are those of
    ``JuryJoiner``. ``top_k_per_retriever`` and ``filters`` are given to every retriever; by default each has its own.

    ``on_error="raise"`` stops if a retriever fails or takes longer than ``timeout`` seconds; "skip" goes on without it,
    with a warning. The output ``failed`` says which and why.
    """

    def __init__(
        self,
        retrievers: Mapping[str, Any],
        model: Model | None = None,
        *,
        method: str | None = None,
        weights: Mapping[str, float] | None = None,
        top_k: int | None = 10,
        top_k_per_retriever: int | None = None,
        filters: dict[str, Any] | None = None,
        key: Key = None,
        on_error: OnError = "raise",
        timeout: float | None = None,
        **params: Any,
    ) -> None:
        _demand_retrievers(retrievers)
        demand_policy(on_error, timeout)
        if top_k_per_retriever is not None:
            top_k_per_retriever = as_count("top_k_per_retriever", top_k_per_retriever, least=1)
        self._retrievers = dict(retrievers)
        self._fusion = HaystackFusion(self._retrievers, model, method, weights, params, top_k, key)
        self._top_k_per_retriever, self._filters = top_k_per_retriever, filters
        self._on_error, self._timeout = on_error, timeout

    @component.output_types(documents=list[Document], failed=dict[str, str])
    def run(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        top_k_per_retriever: int | None = None,
        *,
        query_embedding: list[float] | None = None,
        query_sparse_embedding: SparseEmbedding | None = None,
    ) -> dict[str, Any]:
        """Run the retrievers, each in a thread of its own, and fuse their documents.

        :param query: The text of the query.
        :param filters: Filters for every retriever; by default those of the component.
        :param top_k: The length of the result; by default that of the component. 0 gives no documents.
        :param top_k_per_retriever: How many documents every retriever returns; by default that of the component.
        :param query_embedding: The embedding of the query, for retrievers with this input.
        :param query_sparse_embedding: The sparse embedding of the query, for retrievers with this input.
        :returns: ``documents``, best first, and ``failed``, the retrievers that the result is without and why.
        """
        forms = (query, query_embedding, query_sparse_embedding)
        inputs = self._inputs(forms, filters, top_k_per_retriever)
        self.warm_up()
        calls = {name: partial(_run, self._retrievers[name], given) for name, given in inputs.items()}
        return self._result(collect(calls, on_error=self._on_error, timeout=self._timeout), top_k)

    @component.output_types(documents=list[Document], failed=dict[str, str])
    async def run_async(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        top_k_per_retriever: int | None = None,
        *,
        query_embedding: list[float] | None = None,
        query_sparse_embedding: SparseEmbedding | None = None,
    ) -> dict[str, Any]:
        """As ``run``: retrievers with ``run_async`` share the event loop, each of the others has a thread."""
        forms = (query, query_embedding, query_sparse_embedding)
        inputs = self._inputs(forms, filters, top_k_per_retriever)
        await self.warm_up_async()
        calls = {name: partial(_run_async, name, self._retrievers[name], given) for name, given in inputs.items()}
        return self._result(await acollect(calls, on_error=self._on_error, timeout=self._timeout), top_k)

    def fuse_documents(self, lists: Mapping[str, Sequence[Document]], top_k: int | None = None) -> list[Document]:
        """The fusion alone: one list from the documents of each retriever, best first."""
        return self._fusion.fuse(lists, top_k)

    def _result(self, collected: Collected[Document], top_k: int | None) -> dict[str, Any]:
        lists = {name: collected.lists.get(name, []) for name in self._retrievers}  # an empty list contributes nothing
        return {"documents": self.fuse_documents(lists, top_k), "failed": collected.failed}

    def _inputs(
        self, forms: Sequence[Any], filters: dict[str, Any] | None, top_k: int | None
    ) -> dict[str, dict[str, Any]]:
        """The inputs of every retriever; an error where one needs a form of the query that is not given."""
        top_k = self._top_k_per_retriever if top_k is None else as_count("top_k_per_retriever", top_k, least=0)
        shared = {"filters": self._filters if filters is None else filters, "top_k": top_k}
        options = {name: value for name, value in shared.items() if value is not None}
        given = {form: value for form, value in zip(FORMS, forms, strict=True) if value is not None}
        inputs = {}
        for name, retriever in self._retrievers.items():
            sockets = retriever.__haystack_input__
            absent = [
                form for form in FORMS if form in sockets and sockets.get(form).is_mandatory and form not in given
            ]
            if absent:
                raise ParameterError(
                    f"retriever {name!r} needs {' and '.join(absent)}: give it to run(), or let the retriever embed "
                    "the text, TextEmbeddingRetriever(retriever=..., text_embedder=...)"
                )
            inputs[name] = {form: value for form, value in given.items() if form in sockets} | options
        return inputs

    def warm_up(self) -> None:
        """Warm up the retrievers; their timeout does not count here."""
        for prepare in self._methods("warm_up"):
            prepare()

    async def warm_up_async(self) -> None:
        """Warm up the retrievers on the event loop."""
        for prepare in self._methods("warm_up_async", "warm_up"):
            if (pending := prepare()) is not None:
                await pending

    def close(self) -> None:
        """Release what the retrievers hold."""
        for release in self._methods("close"):
            release()

    async def close_async(self) -> None:
        """Release what the retrievers hold on the event loop."""
        for release in self._methods("close_async", "close"):
            if (pending := release()) is not None:
                await pending

    def _methods(self, *names: str) -> list[Callable[[], Any]]:
        """For each retriever, the first of its methods with one of the names."""
        found = [[getattr(each, name) for name in names if hasattr(each, name)] for each in self._retrievers.values()]
        return [methods[0] for methods in found if methods]

    def to_dict(self) -> dict[str, Any]:
        """The component as plain data, for YAML."""
        data: dict[str, Any] = default_to_dict(
            self,
            retrievers={name: component_to_dict(each, name) for name, each in self._retrievers.items()},
            top_k_per_retriever=self._top_k_per_retriever,
            filters=self._filters,
            on_error=self._on_error,
            timeout=self._timeout,
            **self._fusion.settings(),
        )
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "JuryRetriever":
        """The component from the data of ``to_dict``."""
        data = with_function(data)
        settings = data["init_parameters"]
        settings["retrievers"] = {
            name: component_from_dict(import_class_by_name(each["type"]), deepcopy(each), name)  # some change the data
            for name, each in settings["retrievers"].items()
        }
        made: JuryRetriever = default_from_dict(cls, data)
        return made


def _run(retriever: Any, inputs: Mapping[str, Any]) -> Any:
    return retriever.run(**inputs)["documents"]


async def _run_async(name: str, retriever: Any, inputs: Mapping[str, Any]) -> Any:
    if _is_asynchronous(retriever):
        return (await retriever.run_async(**inputs))["documents"]
    return await in_thread(name, partial(_run, retriever, inputs))


def _is_asynchronous(part: Any) -> bool:
    """Whether the component and those that it is made of have ``run_async``; ``run`` all have."""
    parts = [value for name, value in vars(part).items() if not name.startswith("_") and hasattr(value, SUPPORTED)]
    return getattr(part, SUPPORTED) and all(map(_is_asynchronous, parts))


def _demand_retrievers(retrievers: Any) -> None:
    """An error for anything but components with names."""
    if not isinstance(retrievers, Mapping) or not retrievers:
        raise ParameterError(f"retrievers are components by name, such as {{'bm25': ...}}, got {retrievers!r}")
    for name, each in retrievers.items():
        if not isinstance(name, str):
            raise ParameterError(f"the name of a retriever is text, got {name!r}")
        sockets = getattr(each, "__haystack_input__", ())
        if not any(form in sockets for form in FORMS):
            raise ParameterError(
                f"retriever {name!r} must be a Haystack component with one of the inputs {', '.join(FORMS)}, "
                f"got {type(each).__name__}"
            )
