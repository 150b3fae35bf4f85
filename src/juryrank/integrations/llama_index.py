"""LlamaIndex: a retriever that fuses others, and a postprocessor that fuses rerankers and scores of the nodes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, Self

from juryrank.errors import DataError, DataWarning, MissingExtraError, ParameterError, unknown_names, warn_user
from juryrank.integrations._documents import DocumentFusion, FusedDocuments, Identity, Key
from juryrank.integrations._retrieval import Collected, Model, OnError, acollect, collect, in_thread
from juryrank.tasks.fuse import Fuser

try:
    from llama_index.core.callbacks import CallbackManager
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import IndexNode, MetadataMode, NodeWithScore, QueryBundle
    from llama_index.core.vector_stores.types import BasePydanticVectorStore
    from pydantic import PrivateAttr, SkipValidation, model_validator
except ImportError as error:
    raise MissingExtraError.of("llamaindex", "juryrank.integrations.llama_index needs llama-index-core") from error

from juryrank.integrations._llama_index import (
    demand_k,
    demand_names,
    demand_nodes,
    demand_settings,
    fused_nodes,
    own_nodes,
    own_query,
    prepare_fuser,
    score_of,
    scores_in,
)


class JuryRetriever(BaseRetriever):
    """Asks several retrievers at once and fuses their nodes into one list.

    ``retrievers`` are retrievers by name, the names of the experts of the model. How they are fused is a ``model`` (a
    fitted method, or the path of a saved one), or a ``method`` by name (``rrf`` by default) with ``weights`` by
    retriever and other ``params``. ``k`` is the number of nodes, None for all.

    >>> from llama_index.core.schema import TextNode
    >>> class Listed(BaseRetriever):
    ...     def __init__(self, *texts):
    ...         self.nodes = [NodeWithScore(node=TextNode(text=text, id_=text)) for text in texts]
    ...         super().__init__()
    ...     def _retrieve(self, query_bundle):
    ...         return self.nodes
    >>> retrievers = {"bm25": Listed("tea", "milk"), "dense": Listed("milk", "rice")}
    >>> retriever = JuryRetriever(retrievers, weights={"dense": 2.0}, k=2)
    >>> [node.text for node in retriever.retrieve("drinks")]
    ['milk', 'rice']

    ``key`` says which nodes are the same: None or "id" (their ids), "text", a metadata field or a function of the node.
    A retriever that fails, or takes more than ``timeout`` seconds, is an error, or left out with ``on_error="skip"``.
    Nodes of the result have score, ranks and contributions by retriever in ``metadata[metadata_key]``.
    """

    def __init__(
        self,
        retrievers: Mapping[str, BaseRetriever],
        *,
        model: Model | None = None,
        method: str | None = None,
        weights: Mapping[str, float] | None = None,
        params: Mapping[str, Any] | None = None,
        k: int | None = 10,
        key: Key = None,
        on_error: OnError = "raise",
        timeout: float | None = None,
        metadata_key: str | None = "juryrank",
        callback_manager: CallbackManager | None = None,
        objects: list[IndexNode] | None = None,
        object_map: dict[str, Any] | None = None,
        verbose: bool = False,
    ) -> None:
        demand_names("retrievers", retrievers, "{name: retriever}")
        for name, retriever in retrievers.items():
            if not isinstance(retriever, BaseRetriever):
                raise ParameterError(
                    f"retriever {name!r} must be a retriever of LlamaIndex (an index gives one by as_retriever()), got "
                    f"{type(retriever).__name__}"
                )
        demand_settings(k, on_error, timeout, metadata_key)
        fuser = prepare_fuser(retrievers, "retriever", model, method, weights, params)
        identity = Identity[NodeWithScore](
            partial(_key_of_node, key) if callable(key) else key,
            id_of=attrgetter("node.id_"),
            metadata_of=attrgetter("node.metadata"),
            text_of=_text_of_node,
            remedy='key="text" or key=lambda node: node.hash',
        )
        self._fusion = DocumentFusion(fuser, identity, score_of)
        self._retrievers, self._k, self._metadata_key = dict(retrievers), k, metadata_key
        self._on_error, self._timeout = on_error, timeout
        super().__init__(callback_manager=callback_manager, object_map=object_map, objects=objects, verbose=verbose)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        calls = {name: partial(each.retrieve, own_query(query_bundle)) for name, each in self._retrievers.items()}
        collected = collect(calls, on_error=self._on_error, timeout=self._timeout)
        return self._fuse(collected.complete, None, collected.failed)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        calls = {
            name: partial(_asynchronous(name, retriever), own_query(query_bundle))
            for name, retriever in self._retrievers.items()
        }
        collected = await acollect(calls, on_error=self._on_error, timeout=self._timeout)
        return self._fuse(collected.complete, None, collected.failed)

    def fuse_nodes(self, lists: Mapping[str, Sequence[NodeWithScore]], k: int | None = None) -> list[NodeWithScore]:
        """The best ``k`` nodes of lists that have been retrieved already, by the name of their retriever."""
        demand_k(k)
        return self._fuse(lists, k, {})

    def _fuse(
        self, lists: Mapping[str, Sequence[NodeWithScore]], k: int | None, failed: Mapping[str, str]
    ) -> list[NodeWithScore]:
        try:
            best = self._fusion.fuse_all(lists, self._k if k is None else k)
        except Exception:
            demand_nodes(lists)  # only now: it takes time
            raise
        return fused_nodes(best, failed, self._metadata_key)


def _key_of_node(key: Callable[[Any], Any], node: NodeWithScore) -> Any:
    return key(node.node)


def _text_of_node(node: NodeWithScore) -> str:
    return node.node.get_content(MetadataMode.NONE)  # type: ignore[no-any-return]


def _asynchronous(name: str, retriever: BaseRetriever) -> Callable[[Any], Awaitable[list[NodeWithScore]]]:
    """Its ``aretrieve``; in a thread where that calls synchronous code in the event loop, which holds up all others."""
    stores = [part for part in vars(retriever).values() if isinstance(part, BasePydanticVectorStore)]
    if type(retriever)._aretrieve is BaseRetriever._aretrieve or any(
        type(store).aquery is BasePydanticVectorStore.aquery for store in stores
    ):
        return lambda query: in_thread(name, partial(retriever.retrieve, query))
    return retriever.aretrieve  # type: ignore[no-any-return]


class JuryPostprocessor(BaseNodePostprocessor):
    """Orders the nodes of a query engine by several experts: rerankers, scores in the metadata, the list as it comes.

    ``experts`` says by name where each expert has its ranking: another postprocessor, which gets the nodes and returns
    them in its order; a metadata field with its score (higher is better), where it has scored the node; or None, the
    order in which the nodes come. ``model``, ``method``, ``weights``, ``params``, ``on_error``, ``timeout`` and
    ``metadata_key`` are those of JuryRetriever. ``k`` is the number of nodes, None for all that an expert has.

    >>> from llama_index.core.schema import TextNode
    >>> scores = {"tea": {"clicks": 7}, "milk": {}, "rice": {"clicks": 9}}
    >>> nodes = [NodeWithScore(node=TextNode(text=text, metadata=each)) for text, each in scores.items()]
    >>> jury = JuryPostprocessor(experts={"retriever": None, "popularity": "clicks"}, weights={"popularity": 0.5})
    >>> [node.text for node in jury.postprocess_nodes(nodes)]
    ['tea', 'rice', 'milk']

    All experts rank the same nodes, which are known by their ids. Postprocessors run at the same time, on copies.
    """

    # The types of fields are not checked by pydantic, whose errors have several lines, but below.
    experts: SkipValidation[Mapping[str, BaseNodePostprocessor | str | None]] = {}
    model: SkipValidation[Model | None] = None
    method: SkipValidation[str | None] = None
    weights: SkipValidation[Mapping[str, float] | None] = None
    params: SkipValidation[Mapping[str, Any] | None] = None
    k: SkipValidation[int | None] = None
    on_error: SkipValidation[OnError] = "raise"
    timeout: SkipValidation[float | None] = None
    metadata_key: SkipValidation[str | None] = "juryrank"

    _fuser: Fuser = PrivateAttr()

    @classmethod
    def class_name(cls) -> str:
        """The name of the class in serialised components."""
        return "JuryPostprocessor"

    @model_validator(mode="before")
    @classmethod
    def _check_names(cls, options: Any) -> Any:
        if unknown := set(options) - set(cls.model_fields):
            raise ParameterError(f"{cls.__name__} has no option {unknown_names(unknown, cls.model_fields)}")
        if not isinstance(manager := options.get("callback_manager"), CallbackManager | None):
            raise ParameterError(f"callback_manager must be a CallbackManager, got {type(manager).__name__}")
        return {name: value for name, value in options.items() if (name, value) != ("callback_manager", None)}

    @model_validator(mode="after")
    def _prepare(self) -> Self:
        demand_names("experts", self.experts, "{name: postprocessor, metadata field or None}")
        for name, expert in self.experts.items():
            if not isinstance(expert, BaseNodePostprocessor | str | None):
                raise ParameterError(
                    f"expert {name!r} must be a postprocessor, the name of a metadata field, or None for the order in "
                    f"which the nodes come, got {type(expert).__name__}"
                )
        demand_settings(self.k, self.on_error, self.timeout, self.metadata_key)
        self._fuser = prepare_fuser(self.experts, "expert", self.model, self.method, self.weights, self.params)
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        if name in type(self).model_fields:
            self._fuser = self.model_copy(update={name: value})._fuser  # an error changes nothing
        super().__setattr__(name, value)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy, with other options where ``update`` has some; unlike in other models, they are checked."""
        copied: Self = super().model_copy(deep=deep)
        return type(self)(**{**dict(copied), **update}) if update else copied

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        demand_nodes({"nodes": nodes})
        if not nodes or not self._rerankers:
            return self._fuse(nodes, Collected({}))
        calls = self._others(list)
        for name, reranker in self._rerankers.items():
            calls[name] = partial(reranker.postprocess_nodes, own_nodes(nodes), own_query(query_bundle))
        return self._fuse(nodes, collect(calls, on_error=self.on_error, timeout=self.timeout))

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        demand_nodes({"nodes": nodes})
        if not nodes or not self._rerankers:
            return self._fuse(nodes, Collected({}))
        calls = self._others(_nothing)
        for name, reranker in self._rerankers.items():
            calls[name] = partial(_reranking(name, reranker), own_nodes(nodes), own_query(query_bundle))
        return self._fuse(nodes, await acollect(calls, on_error=self.on_error, timeout=self.timeout))

    @property
    def _rerankers(self) -> dict[str, BaseNodePostprocessor]:
        return {name: each for name, each in self.experts.items() if isinstance(each, BaseNodePostprocessor)}

    def _others(self, call: Callable[[], Any]) -> dict[str, Callable[[], Any]]:
        """A call for each of the other experts, so that it is no error if all rerankers fail and there are others."""
        return dict.fromkeys(self.experts.keys() - self._rerankers.keys(), call)

    def _fuse(self, nodes: Sequence[NodeWithScore], reranked: Collected[NodeWithScore]) -> list[NodeWithScore]:
        demand_nodes(reranked.lists)
        by_id = {each.node_id: each for each in reversed(nodes)}
        given: dict[str, Any] = {}
        for name, expert in self.experts.items():
            if isinstance(expert, str):
                given[name] = scores_in(expert, name, nodes)
            elif expert is None:
                given[name] = self._ranking(nodes)
            else:
                given[name] = self._ranking(reranked.complete.get(name, []))
                if unknown := set(given[name]) - by_id.keys():
                    raise DataError(f"expert {name!r} returned a node that it did not get: {min(unknown)!r}")
        if not self._rerankers and (lost := len(by_id.keys() - set().union(*given.values()))):
            warn_user(f"{lost} of {len(by_id)} nodes have no score of any expert and are left out", DataWarning)
        best = FusedDocuments.of(self._fuser.detailed(given, top=self.k), lambda fused: by_id[fused.item])
        return fused_nodes(best, reranked.failed, self.metadata_key)

    def _ranking(self, nodes: Sequence[NodeWithScore]) -> Any:
        """The ids of the nodes, best first, with scores if the method uses them; of equal ids, the first counts."""
        if self._fuser.uses_scores:
            return {each.node_id: score_of(each) for each in reversed(nodes)}
        return list(dict.fromkeys(each.node_id for each in nodes))


def _reranking(name: str, reranker: BaseNodePostprocessor) -> Callable[..., Awaitable[list[NodeWithScore]]]:
    """Its ``apostprocess_nodes``; in a thread of its own where it has no code of its own for that."""
    if type(reranker)._apostprocess_nodes is BaseNodePostprocessor._apostprocess_nodes:
        return lambda *given: in_thread(name, partial(reranker.postprocess_nodes, *given))
    return reranker.apostprocess_nodes  # type: ignore[no-any-return]


async def _nothing() -> list[NodeWithScore]:
    return []
