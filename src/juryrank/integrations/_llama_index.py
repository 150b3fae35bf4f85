"""What the retriever and the postprocessor for LlamaIndex share: checks of options, copies, and nodes of a result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from math import isfinite
from numbers import Integral, Real
from typing import Any

from juryrank.errors import DataError, DataWarning, MissingExtraError, ParameterError, warn_user
from juryrank.integrations._documents import FusedDocuments
from juryrank.integrations._pydantic import (
    IS_PLAIN,
    copy_any,
    get_names,
    new,
    set_extra,
    set_names,
    set_private,
    set_values,
    values_of,
    with_values,
)
from juryrank.integrations._retrieval import Model, OnError, demand_policy, demand_weights_of, make_fuser
from juryrank.tasks.fuse import Fuser

try:
    from llama_index.core.schema import NodeWithScore, QueryBundle
except ImportError as error:
    raise MissingExtraError.of("llamaindex", "juryrank.integrations.llama_index needs llama-index-core") from error

NOT_FOR_LLMS, NOT_EMBEDDED = "excluded_llm_metadata_keys", "excluded_embed_metadata_keys"
CHANGED = {"metadata", NOT_FOR_LLMS, NOT_EMBEDDED}  # fields of a node that a copy has anew
CHANGED_AROUND = {"node", "score"}  # and those of its NodeWithScore


def prepare_fuser(
    names: Iterable[str],
    kind: str,
    model: Model | None,
    method: str | None,
    weights: Mapping[str, float] | None,
    params: Mapping[str, Any] | None,
) -> Fuser:
    """The Fuser of these options; ``names`` are those of the retrievers or experts, which ``kind`` says."""
    own_params = {} if params is None else params
    if not isinstance(own_params, Mapping) or not all(isinstance(name, str) for name in own_params):
        raise ParameterError(f"params must be {{name: value}}, the parameters of the method, got {params!r}")
    if misplaced := [name for name in ("model", "method", "weights") if name in own_params]:
        raise ParameterError(f"{misplaced[0]} is an option of its own: give it as {misplaced[0]}=, not in params")
    fuser = make_fuser(model, method, weights=weights, **own_params)
    demand_weights_of(names, weights, kind)
    return fuser


def demand_settings(k: Any, on_error: OnError, timeout: float | None, metadata_key: Any) -> None:
    """An error for options that have no meaning."""
    demand_k(k)
    demand_policy(on_error, timeout)
    if metadata_key is not None and not isinstance(metadata_key, str):
        raise ParameterError(f"metadata_key is the name of a metadata field, or None, got {metadata_key!r}")


def demand_k(k: Any) -> None:
    """An error for a number of nodes that is none."""
    if k is not None and (isinstance(k, bool) or not isinstance(k, Integral) or k < 1):
        raise ParameterError(f"k must be a whole number >= 1, or None, got {k!r}")


def demand_names(option: str, given: Any, form: str) -> None:
    """An error unless the option is a dictionary whose keys are names."""
    if not isinstance(given, Mapping) or not given:
        got = type(given).__name__ if given else "none"
        raise ParameterError(f"{option} must be {form} with at least one name, got {got}")
    if wrong := [name for name in given if not isinstance(name, str)]:
        raise ParameterError(f"the names of {option} must be text, got {wrong[0]!r}")


def demand_nodes(lists: Mapping[str, Sequence[Any]]) -> None:
    """An error for a list that has something else than nodes with scores."""
    for name, nodes in lists.items():
        for rank, node in enumerate(nodes, 1):
            if not isinstance(node, NodeWithScore):
                raise DataError(f"{name!r} must be a list of NodeWithScore, got {type(node).__name__} at rank {rank}")


def own_query(query: QueryBundle | None) -> QueryBundle | None:
    """A copy for one retriever: many write the embedding of the query into it, and those of others may differ."""
    return copy(query)


def own_nodes(nodes: Iterable[NodeWithScore]) -> list[NodeWithScore]:
    """Copies for one postprocessor: many write scores into the nodes that they get, and some metadata."""
    return [
        NodeWithScore(node=each.node.model_copy(update={"metadata": dict(each.node.metadata)}), score=each.score)
        for each in nodes
    ]


def score_of(node: NodeWithScore) -> float:
    """The score; without one, a method that uses scores would silently go by rank."""
    if node.score is None:
        raise DataError(f"the method uses scores, and the node {node.node_id!r} has none")
    return float(node.score)


def scores_in(field: str, expert: str, nodes: Sequence[NodeWithScore]) -> dict[str, float]:
    """The scores of the nodes in a metadata field, where they have one."""
    scores: dict[str, float] = {}
    for each in reversed(nodes):  # of equal ids, the first counts
        if (score := each.node.metadata.get(field)) is None:
            continue
        if isinstance(score, bool) or not isinstance(score, Real) or not isfinite(score):
            raise DataError(
                f"expert {expert!r}: metadata[{field!r}] of node {each.node_id!r} must be a number, got {score!r}"
            )
        scores[each.node_id] = float(score)
    if nodes and not scores:
        found = sorted({str(name) for each in nodes for name in each.node.metadata})
        fields = ", ".join(found[:10]) or "none"
        warn_user(f"expert {expert!r}: no node has the metadata field {field!r}; fields: {fields}", DataWarning)
    return scores


def fused_nodes(best: FusedDocuments, failed: Mapping[str, str], metadata_key: str | None) -> list[NodeWithScore]:
    """The nodes of a result: copies with details in their metadata, which neither LLMs nor embeddings see."""
    if metadata_key is None:
        return _with_scores(best.documents, best.scores)
    fused = []
    for each, score, ranks, contributions in zip(*best, strict=True):
        detail = {"score": score, "ranks": ranks, "contributions": contributions}
        if failed:
            detail["failed"] = dict(failed)
        values = each.__dict__.copy()
        values["score"], node = score, values["node"]
        own = node.__dict__.copy()
        own["metadata"] = metadata = dict(own["metadata"])
        metadata[metadata_key] = detail
        hidden = own[NOT_FOR_LLMS]
        own[NOT_FOR_LLMS] = [*hidden] if metadata_key in hidden else [*hidden, metadata_key]
        hidden = own[NOT_EMBEDDED]
        own[NOT_EMBEDDED] = [*hidden] if metadata_key in hidden else [*hidden, metadata_key]
        if IS_PLAIN[type(node)] and IS_PLAIN[type(each)]:  # as with_values, in half the time for ten nodes
            values["node"] = copied = new(type(node))
            set_values(copied, own)
            set_names(copied, get_names(node) | CHANGED)
            set_extra(copied, None)
            set_private(copied, None)
            copied = new(type(each))
            set_values(copied, values)
            set_names(copied, get_names(each) | CHANGED_AROUND)
            set_extra(copied, None)
            set_private(copied, None)
        else:
            values["node"] = copy_any(node, own, CHANGED)
            copied = copy_any(each, values, CHANGED_AROUND)
        fused.append(copied)
    return fused


def _with_scores(nodes: Sequence[NodeWithScore], scores: Iterable[float]) -> list[NodeWithScore]:
    values = values_of(nodes)
    for own, score in zip(values, scores, strict=True):
        own["score"] = score
    return with_values(nodes, values, {"score"})
