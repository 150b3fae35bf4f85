"""LangChain: a retriever that asks several others at once and fuses their documents by a learned model or a method."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from numbers import Integral
from operator import attrgetter
from typing import Any, Self

from juryrank.errors import DataError, MissingExtraError, ParameterError, unknown_names
from juryrank.integrations._documents import DocumentFusion, Identity, Key
from juryrank.integrations._pydantic import values_of, with_values
from juryrank.integrations._retrieval import (
    Model,
    OnError,
    acollect,
    collect,
    demand_policy,
    demand_weights_of,
    in_thread,
    make_fuser,
)

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda, RunnableSequence
    from langchain_core.runnables.base import RunnableBindingBase
    from langchain_core.runnables.config import patch_config
    from langchain_core.runnables.utils import ConfigurableFieldSpec, get_unique_config_specs
    from langchain_core.vectorstores import InMemoryVectorStore, VectorStore, VectorStoreRetriever
    from pydantic import PrivateAttr, SkipValidation, model_validator
except ImportError as error:
    raise MissingExtraError.of("langchain", "juryrank.integrations.langchain needs langchain-core") from error


class JuryRetriever(BaseRetriever):
    """Asks several retrievers at once and fuses their documents into one list.

    ``retrievers`` are retrievers by name, the names of the experts of the model. How they are fused is a ``model`` (a
    fitted method, or the path of a saved one), or a ``method`` by name (``rrf`` by default) with ``weights`` by
    retriever and other ``params``. ``k`` is the number of documents, None for all.

    >>> from langchain_core.documents import Document
    >>> from langchain_core.runnables import RunnableLambda
    >>> bm25 = RunnableLambda(lambda query: [Document("tea"), Document("milk")])
    >>> dense = RunnableLambda(lambda query: [Document("milk"), Document("rice")])
    >>> retriever = JuryRetriever(retrievers={"bm25": bm25, "dense": dense}, weights={"dense": 2.0}, k=2)
    >>> [document.page_content for document in retriever.invoke("drinks")]
    ['milk', 'rice']
    >>> [document.page_content for document in retriever.invoke("drinks", k=1)]
    ['milk']

    ``key`` says which documents are the same: None (the id if all have one, the text if none has), "id", "text", a
    metadata field or a function. ``score_key`` is the metadata field with the score, for methods that use scores. A
    retriever that fails, or takes more than ``timeout`` seconds, is an error, or left out with ``on_error="skip"``.
    Documents of the result have score, ranks and contributions by retriever in ``metadata[metadata_key]``.
    """

    # The types of fields are not checked by pydantic, whose errors have several lines, but below.
    retrievers: SkipValidation[Mapping[str, Runnable]] = {}
    model: SkipValidation[Model | None] = None
    method: SkipValidation[str | None] = None
    weights: SkipValidation[Mapping[str, float] | None] = None
    params: SkipValidation[Mapping[str, Any]] = {}
    k: SkipValidation[int | None] = 10
    key: SkipValidation[Key] = None
    score_key: SkipValidation[str | None] = None
    on_error: SkipValidation[OnError] = "raise"
    timeout: SkipValidation[float | None] = None
    metadata_key: SkipValidation[str] = "juryrank"

    _fusion: DocumentFusion[Document] = PrivateAttr()

    @model_validator(mode="before")
    @classmethod
    def _check_names(cls, options: Any) -> Any:
        if unknown := set(options) - set(cls.model_fields):
            raise ParameterError(f"{cls.__name__} has no option {unknown_names(unknown, cls.model_fields)}")
        return options

    @model_validator(mode="after")
    def _prepare(self) -> Self:
        _check_retrievers(self.retrievers)
        _check_k(self.k)
        demand_policy(self.on_error, self.timeout)
        for name in ("score_key", "metadata_key"):
            if not isinstance(value := getattr(self, name), str) and (name, value) != ("score_key", None):
                raise ParameterError(f"{name} is the name of a metadata field, got {value!r}")
        _check_params(self.params)
        fuser = make_fuser(self.model, self.method, weights=self.weights, **self.params)
        demand_weights_of(self.retrievers, self.weights)
        if fuser.uses_scores and self.score_key is None:
            raise ParameterError(
                f"{self.method or 'this model'} uses scores: give score_key, the metadata field in which the "
                "retrievers put them"
            )
        identity = Identity[Document](
            self.key, id_of=attrgetter("id"), metadata_of=attrgetter("metadata"), text_of=attrgetter("page_content")
        )
        score_of = None if self.score_key is None else partial(_score_of, self.score_key)
        self._fusion = DocumentFusion(fuser, identity, score_of)
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        if name in type(self).model_fields:
            self._fusion = self.model_copy(update={name: value})._fusion  # an error changes nothing
        super().__setattr__(name, value)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy, with other options where ``update`` has some; unlike in other models, they are checked."""
        copied: Self = super().model_copy(deep=deep)
        return type(self)(**{**dict(copied), **update}) if update else copied

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """What a call can configure: the fields that the retrievers declare."""
        specs = (spec for retriever in self.retrievers.values() for spec in retriever.config_specs)
        return get_unique_config_specs(specs)  # type: ignore[no-any-return]

    def invoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> list[Document]:  # noqa: A002
        """The documents of a query, best first; ``k`` is their number."""
        return super().invoke(input, config, run_config=config, **kwargs)  # type: ignore[no-any-return]

    async def ainvoke(
        self,
        input: str,  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """The documents of a query, best first; ``k`` is their number."""
        return await super().ainvoke(input, config, run_config=config, **kwargs)  # type: ignore[no-any-return]

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        run_config: RunnableConfig | None = None,
    ) -> list[Document]:
        _check_k(k)
        calls = {
            name: partial(retriever.invoke, query, _config_of(name, run_manager, run_config))
            for name, retriever in self.retrievers.items()
        }
        collected = collect(calls, on_error=self.on_error, timeout=self.timeout)
        return self._fuse(collected.complete, k, collected.failed)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        k: int | None = None,
        run_config: RunnableConfig | None = None,
    ) -> list[Document]:
        _check_k(k)
        calls = {
            name: partial(_asynchronous(name, retriever), query, _config_of(name, run_manager, run_config))
            for name, retriever in self.retrievers.items()
        }
        collected = await acollect(calls, on_error=self.on_error, timeout=self.timeout)
        return self._fuse(collected.complete, k, collected.failed)

    def fuse_documents(self, lists: Mapping[str, Sequence[Document]], k: int | None = None) -> list[Document]:
        """The best ``k`` documents of lists that have been retrieved already, by the name of their retriever."""
        _check_k(k)
        return self._fuse(lists, k, {})

    def _fuse(
        self, lists: Mapping[str, Sequence[Document]], k: int | None, failed: Mapping[str, str]
    ) -> list[Document]:
        try:
            best = self._fusion.fuse_all(lists, self.k if k is None else k)
        except Exception:
            _check_documents(lists)  # only now: it takes time
            raise
        values, key = values_of(best.documents), self.metadata_key
        for own, detail in zip(values, best.details(failed), strict=True):
            own["metadata"] = metadata = dict(own["metadata"])  # those of the retrievers do not change
            metadata[key] = detail
        return with_values(best.documents, values, {"metadata"})


def _config_of(
    name: str,
    run_manager: CallbackManagerForRetrieverRun | AsyncCallbackManagerForRetrieverRun,
    config: RunnableConfig | None,
) -> RunnableConfig:
    """The configuration of the call, with callbacks that show the retriever below the fusion."""
    return patch_config(config, callbacks=run_manager.get_child(tag=f"retriever:{name}"))


def _asynchronous(name: str, retriever: Runnable) -> Callable[[str, RunnableConfig], Awaitable[list[Document]]]:
    """Its ``ainvoke``; in a thread of its own where that would be ``invoke`` in a thread of the event loop."""
    if _is_synchronous(retriever):
        return lambda query, config: in_thread(name, partial(retriever.invoke, query, config))
    return retriever.ainvoke  # type: ignore[no-any-return]


def _is_synchronous(runnable: Any) -> bool:
    """Whether it has no asynchronous code of its own, nor has any part of it."""
    kind = type(runnable)
    if kind.ainvoke is Runnable.ainvoke:
        return True
    if isinstance(runnable, RunnableBindingBase):
        return kind.ainvoke is RunnableBindingBase.ainvoke and _is_synchronous(runnable.bound)
    if isinstance(runnable, RunnableSequence):
        return kind.ainvoke is RunnableSequence.ainvoke and all(map(_is_synchronous, runnable.steps))
    if isinstance(runnable, RunnableLambda):
        return kind.ainvoke is RunnableLambda.ainvoke and not hasattr(runnable, "afunc")
    if not isinstance(runnable, BaseRetriever) or kind.ainvoke is not BaseRetriever.ainvoke:
        return False
    own = kind._aget_relevant_documents
    if isinstance(runnable, VectorStoreRetriever) and own is VectorStoreRetriever._aget_relevant_documents:
        return _is_synchronous_store(runnable.vectorstore)
    return own is BaseRetriever._aget_relevant_documents


SEARCHES = ("asimilarity_search", "asimilarity_search_with_relevance_scores", "amax_marginal_relevance_search")


def _is_synchronous_store(store: VectorStore) -> bool:
    """Whether its searches are the synchronous ones in threads; the store in memory only embeds otherwise."""
    base: type[VectorStore] = VectorStore
    if isinstance(store, InMemoryVectorStore):
        base = InMemoryVectorStore
        if type(store.embeddings).aembed_query is not Embeddings.aembed_query:
            return False
    return all(getattr(type(store), name) is getattr(base, name) for name in SEARCHES)


def _check_retrievers(retrievers: Any) -> None:
    if not isinstance(retrievers, Mapping) or not retrievers:
        got = type(retrievers).__name__ if retrievers else "none"
        raise ParameterError(f"retrievers must be {{name: retriever}} with at least one retriever, got {got}")
    for name, retriever in retrievers.items():
        if not isinstance(name, str):
            raise ParameterError(f"the names of retrievers must be text, got {name!r}")
        if not isinstance(retriever, Runnable):
            raise ParameterError(
                f"retriever {name!r} must be a retriever or another Runnable of LangChain (a function becomes one by "
                f"RunnableLambda), got {type(retriever).__name__}"
            )


def _check_params(params: Any) -> None:
    if not isinstance(params, Mapping) or not all(isinstance(name, str) for name in params):
        raise ParameterError(f"params must be {{name: value}}, the parameters of the method, got {params!r}")
    for name in ("model", "method", "weights"):
        if name in params:
            raise ParameterError(f"{name} is an option of its own: give it as {name}=, not in params")


def _check_k(k: Any) -> None:
    if k is not None and (isinstance(k, bool) or not isinstance(k, Integral) or k < 1):
        raise ParameterError(f"k must be a whole number >= 1, or None, got {k!r}")


def _check_documents(lists: Mapping[str, Sequence[Any]]) -> None:
    for name, documents in lists.items():
        for wrong in (each for each in documents if not isinstance(each, Document)):
            raise DataError(f"retriever {name!r} must give a list of Document, got {type(wrong).__name__} in its list")


def _score_of(field: str, document: Document) -> Any:
    """The score in a metadata field; without one, the method would silently go by rank."""
    if (score := document.metadata.get(field)) is None:
        text = document.page_content[:40]
        raise DataError(f"the method uses scores, and a document has none in metadata[{field!r}]: {text!r}")
    return score
