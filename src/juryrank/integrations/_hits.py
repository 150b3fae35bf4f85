"""Fusion of the answers of searches in Elasticsearch and OpenSearch, which have the same shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from operator import methodcaller
from typing import Any

from juryrank.errors import DataError, RetrieverError, RetrieverWarning, warn_about_data, warn_user
from juryrank.integrations._documents import DocumentFusion, Identity
from juryrank.integrations._retrieval import Model
from juryrank.tasks.fuse import Fuser

Hit = Mapping[str, Any]
_id: Callable[[Hit], Any] = methodcaller("get", "_id")
_score: Callable[[Hit], Any] = methodcaller("get", "_score")


def fuse_hits(
    responses: Mapping[str, Any],
    model: Fuser | Model = "rrf",
    *,
    top: int | None = None,
    key: str | Callable[[Hit], Any] | None = None,
    **params: Any,
) -> list[dict[str, Any]]:
    """The hits of several searches in one list, each with its fused score as ``_score``.

    ``responses`` maps experts to what ``client.search`` returns, or to one of the ``responses`` of ``client.msearch``.
    ``model`` is what ``Fuser`` takes, or a Fuser. The order of each list counts; ``_score`` only if the method uses
    scores. Hits are the same if they have the same ``_id``, and the same ``_index`` where several occur; ``key``, a
    field of ``_source`` or a function of the hit, replaces this. A hit of several lists is that of the list in which it
    is highest. A search that has failed is an error, one that is incomplete a warning.
    """
    lists = {name: _hits_of(name, response) for name, response in responses.items()}
    if key is None:
        key = _default_key(lists)
    elif isinstance(key, str):
        key = partial(_field, key)
    identity: Identity[Hit] = Identity(key, id_of=_id, metadata_of=dict, text_of=None)
    fuser = model if isinstance(model, Fuser) else Fuser(model, **params)
    fused = DocumentFusion(fuser, identity, _score).fuse(lists, top)
    return [{**hit, "_score": score} for hit, score, _, _ in fused]


def _field(name: str, hit: Hit) -> Any:
    return (hit.get("_source") or {}).get(name)


def _hits_of(name: str, response: Any) -> list[Hit]:
    body = getattr(response, "body", response)  # what the client of Elasticsearch returns has the answer inside
    body = body.to_dict() if hasattr(body, "to_dict") else body  # what Search.execute of both clients returns
    if not isinstance(body, Mapping):
        raise DataError(f"expert {name!r}: expected the answer of a search, with hits.hits, got {type(body).__name__}")
    if error := body.get("error"):
        raise RetrieverError(f"expert {name!r}: the search failed: {_reason(error)}")
    outer = body.get("hits")
    hits = outer.get("hits") if isinstance(outer, Mapping) else None
    if not isinstance(hits, list):
        raise DataError(f"expert {name!r}: the answer of a search has hits.hits, got {', '.join(map(str, body))}")
    for missing in _incomplete(body):
        warn_user(f"expert {name!r}: {missing}, and hits may be missing from its list", RetrieverWarning)
    return hits


def _incomplete(body: Mapping[str, Any]) -> list[str]:
    """What the answer says about parts of the index that were not searched."""
    out = ["the search timed out"] if body.get("timed_out") else []
    shards = body.get("_shards", {})
    if failed := shards.get("failed"):
        reasons = sorted({_reason(failure.get("reason")) for failure in shards.get("failures", ())})
        out.append(f"{failed} of {shards.get('total')} shards failed ({'; '.join(reasons) or 'no reason given'})")
    clusters = body.get("_clusters", {})
    if lost := sum(clusters.get(state, 0) for state in ("skipped", "partial", "failed")):
        out.append(f"{lost} of {clusters.get('total')} clusters were not, or not completely, searched")
    return out


def _reason(error: Any) -> str:
    if not isinstance(error, Mapping):
        return str(error)
    return f"{error.get('type')}: {error.get('reason')}"


def _default_key(lists: Mapping[str, list[Hit]]) -> str | Callable[[Hit], Any]:
    """The id, with the index if hits come from several; no name of an index has a slash."""
    indices = {name: {hit.get("_index") for hit in hits} for name, hits in lists.items() if hits}
    every = set().union(*indices.values())
    if len(every) <= 1:
        return "id"
    if len(indices) > 1 and sum(map(len, indices.values())) == len(every):
        names = ", ".join(sorted(map(str, every))[:5])
        warn_about_data(
            f"each list has hits of other indices ({names}), so that no hit is in two lists: give key=, a field of "
            "_source or a function of the hit that names the document"
        )
    return lambda hit: None if hit.get("_id") is None else f"{hit.get('_index')}/{hit['_id']}"
