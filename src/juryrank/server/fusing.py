"""``/v1/fuse`` and ``/v1/explain``: from the bytes of a request to the bytes of the answer."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import msgspec

from juryrank.errors import DataError, JuryrankError, JuryrankWarning, ParameterError, UnknownNameError
from juryrank.methods import METHODS
from juryrank.server.problems import Problem
from juryrank.server.registry import Registry
from juryrank.server.settings import Settings
from juryrank.serving import Fuser

MOST_WARNINGS = 20  # in one answer
Lists = dict[str, Any]


class FuseRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Lists per expert of one query, or ``queries`` for a batch; how they are fused, and what is returned."""

    lists: Lists | None = None
    queries: dict[str, Lists] | None = None
    model: str | None = None
    method: str | None = None
    weights: dict[str, float] | None = None
    params: dict[str, Any] | None = None
    top: int | None = None
    explain: bool = False


class Item(msgspec.Struct):
    """An item of the answer."""

    id: Any
    score: float


class ExplainedItem(msgspec.Struct):
    """An item with its rank in the list of each expert, and what each expert adds to its score."""

    id: Any
    score: float
    ranks: dict[str, float]
    contributions: dict[str, float] | None


class ModelInUse(msgspec.Struct):
    """The model that answered."""

    name: str
    version: str


class Fused(msgspec.Struct, omit_defaults=True):
    """The answer: ``items`` of one query, or ``queries`` of a batch."""

    method: str
    model: ModelInUse | None
    warnings: list[str]
    items: list[Any] | None = None
    queries: dict[str, list[Any]] | None = None


_decoder = msgspec.json.Decoder(FuseRequest)
encode = msgspec.json.Encoder().encode


class _Heard(threading.local):
    """The warnings of this thread."""

    texts: list[str] | None = None


_heard = _Heard()


def install_warnings() -> None:
    """Warnings of juryrank are kept for the answer that they belong to; others go where they went."""
    other = warnings.showwarning

    def show(message: Any, category: type[Warning], *rest: Any, **more: Any) -> None:
        if _heard.texts is not None and issubclass(category, JuryrankWarning):
            _heard.texts.append(str(message))
        else:
            other(message, category, *rest, **more)

    warnings.showwarning = show
    warnings.simplefilter("always", JuryrankWarning)


@contextmanager
def hearing() -> Iterator[list[str]]:
    """The warnings inside the block."""
    texts: list[str] = []
    _heard.texts = texts
    try:
        yield texts
    finally:
        _heard.texts = None


def decode(body: bytes) -> FuseRequest:
    """The request; a Problem says what is wrong with it."""
    try:
        return _decoder.decode(body)
    except msgspec.ValidationError as error:
        raise Problem(422, f"the request does not fit: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Problem(400, f"the body must be JSON in UTF-8: {error}") from None


class Fusing:
    """Answers requests by the models of a registry."""

    def __init__(self, registry: Registry, settings: Settings) -> None:
        self._registry, self._settings = registry, settings

    def answer(self, body: bytes, *, explain: bool = False) -> tuple[bytes, int, bool]:
        """The answer, the number of entries, and whether it has warnings."""
        request = decode(body)
        if explain and request.queries is not None:
            raise Problem(422, "explain takes the lists of one query; send one request for each query")
        entries = self._check_sizes(request)
        try:
            fuser, used, method = self._choose(request)
            with hearing() as texts:
                fused = self._fuse(fuser, request, request.explain or explain)
        except UnknownNameError as error:
            raise Problem(404 if str(error).startswith("no model") else 422, str(error)) from None
        except JuryrankError as error:
            raise Problem(422, str(error)) from None
        found = list(dict.fromkeys(texts))
        if len(found) > MOST_WARNINGS:
            found = [*found[:MOST_WARNINGS], f"and {len(found) - MOST_WARNINGS} more warnings"]
        answer = Fused(method, used, found)
        if request.queries is None:
            answer.items = fused
        else:
            answer.queries = fused
        return encode(answer), entries, bool(found)

    def _check_sizes(self, request: FuseRequest) -> int:
        """The number of entries; a Problem if there are too many of anything, or nothing."""
        if (request.lists is None) == (request.queries is None):
            raise Problem(
                422, "give lists, {expert: list} of one query, or queries, {query: {expert: list}} of several"
            )
        if request.top is not None and request.top < 1:
            raise Problem(422, f"top must be a whole number >= 1, got {request.top}")
        queries = [request.lists] if request.queries is None else list(request.queries.values())
        limits, entries = self._settings, 0
        if len(queries) > limits.max_queries:
            raise Problem(413, f"a batch may have {limits.max_queries} queries, got {len(queries)}")
        for lists in queries:
            assert lists is not None
            if len(lists) > limits.max_experts:
                raise Problem(413, f"a query may have {limits.max_experts} experts, got {len(lists)}")
            for expert, listed in lists.items():
                if type(listed) is not list and type(listed) is not dict:
                    raise Problem(
                        422, f"expert {expert!r:.80}: a list must be [id, …], {{id: score}} or [[id, score], …]"
                    )
                entries += len(listed)
        if entries > limits.max_items:
            raise Problem(413, f"a request may have {limits.max_items} entries in its lists, got {entries}")
        return entries

    def _choose(self, request: FuseRequest) -> tuple[Fuser, ModelInUse | None, str]:
        """The Fuser of the model or the method that is asked for."""
        if request.method is not None:
            if request.model is not None:
                raise ParameterError("give model or method, not both")
            params = {**(request.params or {}), **({} if request.weights is None else {"weights": request.weights})}
            if params:
                return make_fuser(request.method, params), None, request.method
            return plain_fuser(request.method), None, request.method
        if request.weights is not None or request.params is not None:
            raise ParameterError("a model has its weights and parameters; give them with a method, such as rrf")
        name = request.model or self.default_model()
        served = self._registry.get(name)
        return served.fuser, ModelInUse(served.name, served.version), served.model.name

    def default_model(self) -> str:
        """The model for requests that name none."""
        if self._settings.default_model is not None:
            return self._settings.default_model
        names = self._registry.names()
        if len(names) == 1:
            return names[0]
        raise ParameterError(
            f"there are {len(names)} models: name one with model, or a method: {', '.join(names[:10])}"
        )

    def _fuse(self, fuser: Fuser, request: FuseRequest, explain: bool) -> Any:
        if request.queries is None:
            assert request.lists is not None
            return fuse_one(fuser, request.lists, request.top, explain)
        return {query: fuse_one(fuser, lists, request.top, explain) for query, lists in request.queries.items()}


def fuse_one(fuser: Fuser, lists: Lists, top: int | None, explain: bool) -> list[Any]:
    """The items of one query, best first."""
    named = {expert: _pairs(listed) for expert, listed in lists.items()}
    if text := fuser.expert_warning(named):
        warnings.warn(text, JuryrankWarning, stacklevel=2)
    if explain:
        return [ExplainedItem(*found) for found in fuser.detailed(named, top=top)]
    fused = fuser(named, top=top)
    return list(map(Item, fused, fused.values()))


def _pairs(listed: Any) -> Any:
    """A list of pairs in the form that is read fastest; others as they are."""
    if (
        type(listed) is list
        and listed
        and type(listed[0]) is list
        and all(type(p) is list and len(p) == 2 for p in listed)
    ):
        return list(map(tuple, listed))
    return listed


@lru_cache(maxsize=64)
def plain_fuser(name: str) -> Fuser:
    """The Fuser of a method with its default parameters."""
    return make_fuser(name, {})


def make_fuser(name: str, params: Mapping[str, Any]) -> Fuser:
    """The Fuser of a method that takes no longer than sorting its lists."""
    if name not in METHODS:
        raise UnknownNameError.of("method", name, METHODS)
    if METHODS[name].supervised:
        raise ParameterError(f"{name} learns from labels: fit it, and serve the model")
    fuser = Fuser(name, **params)
    if not fuser.is_plain:
        raise DataError(
            f"{name} can take long, so that the service does not offer it; those that sum points or scores are fast, "
            "such as rrf, borda and combsum"
        )
    return fuser
