"""``/v1/fuse`` and ``/v1/explain``: from the bytes of a request to the bytes of the answer."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import msgspec

from juryrank.errors import (
    DataError,
    JuryrankError,
    JuryrankWarning,
    ParameterError,
    UnknownNameError,
    unknown_names,
)
from juryrank.methods import METHODS
from juryrank.params import parameters
from juryrank.server.fuse_requests import FuseRequest, Lists, check_explained, count_entries, decode
from juryrank.server.problems import Problem, problem_of
from juryrank.server.registry import Registry
from juryrank.server.served_fuser import ServedFuser
from juryrank.server.settings import Settings

MOST_WARNINGS = 20  # in one answer


class Item(msgspec.Struct, gc=False):
    """An item of the answer."""

    id: Any
    score: float


class ExplainedItem(msgspec.Struct):
    """An item with its rank in the list of each expert, and what each expert adds to its score."""

    id: Any
    score: float
    ranks: dict[str, float]
    contributions: dict[str, float] | None


class ModelInUse(msgspec.Struct, frozen=True):
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


class Fusing:
    """Answers requests by the models of a registry."""

    def __init__(self, registry: Registry, settings: Settings) -> None:
        self._registry, self._settings = registry, settings

    def answer(self, body: bytes, *, explain: bool = False) -> tuple[bytes, int, bool, ModelInUse | None]:
        """The answer, the number of entries, whether it has warnings, and the model."""
        request = decode(body)
        if explain and request.queries is not None:
            raise Problem(422, "explain takes the lists of one query; send one request for each query")
        explain = explain or request.explain
        entries = count_entries(request, self._settings)
        if explain:
            check_explained(
                [request.lists] if request.lists is not None else (request.queries or {}).values(), request.top
            )
        try:
            fuser, used, method = self._choose(request.model, request.method, params_of(request))
            with hearing() as texts:
                fused = self._fuse(fuser, request, explain)
        except UnknownNameError as error:
            raise Problem(404 if str(error).startswith("no model") else 422, str(error)) from None
        except JuryrankError as error:
            raise problem_of(error) from None
        found = list(dict.fromkeys(texts))
        if len(found) > MOST_WARNINGS:
            found = [*found[:MOST_WARNINGS], f"and {len(found) - MOST_WARNINGS} more warnings"]
        answer = Fused(method, used, found)
        if request.queries is None:
            answer.items = fused
        else:
            answer.queries = fused
        return encode(answer), entries, bool(found), used

    def _choose(
        self, model: str | None, method: str | None, params: Mapping[str, Any]
    ) -> tuple[ServedFuser, ModelInUse | None, str]:
        """The fuser of the model or the method that is asked for."""
        if method is not None:
            if model is not None:
                raise ParameterError("give model or method, not both")
            return fuser_of(method, encode(params)), None, method
        if params:
            raise ParameterError("a model has its weights and parameters; give them with a method, such as rrf")
        served = self._registry.get(self.default_model() if model is None else model)
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

    def _fuse(self, fuser: ServedFuser, request: FuseRequest, explain: bool) -> Any:
        if request.lists is not None:
            _warn_of_experts(fuser, request.lists)
            return fuse_one(fuser, request.lists, request.top, explain)
        queries = request.queries or {}
        _warn_of_experts(fuser, {expert: () for lists in queries.values() for expert in lists})
        return {query: fuse_one(fuser, lists, request.top, explain) for query, lists in queries.items()}


def params_of(request: FuseRequest) -> dict[str, Any]:
    """The parameters of the method, with the weights among them."""
    params: dict[str, Any] = dict(request.params or {})
    return params if request.weights is None else {**params, "weights": request.weights}


def _warn_of_experts(fuser: ServedFuser, experts: Mapping[str, Any]) -> None:
    if text := fuser.expert_warning(experts):
        warnings.warn(text, JuryrankWarning, stacklevel=3)


def fuse_one(fuser: ServedFuser, lists: Lists, top: int | None, explain: bool) -> list[Any]:
    """The items of one query, best first."""
    if explain:
        return [ExplainedItem(*found) for found in fuser.detailed(lists, top=top)]
    fused = fuser(lists, top=top)
    return list(map(Item, fused, fused.values()))


@lru_cache(maxsize=64)
def fuser_of(name: str, params: bytes) -> ServedFuser:
    """The fuser of a method with parameters, which are JSON."""
    return make_fuser(name, msgspec.json.decode(params))


def make_fuser(name: str, params: Mapping[str, Any]) -> ServedFuser:
    """The fuser of a method that takes no longer than sorting its lists."""
    if name not in METHODS:
        raise UnknownNameError.of("method", name, METHODS)
    if METHODS[name].supervised:
        raise ParameterError(f"{name} learns from labels: fit it, and serve the model")
    known = [each.name for each in parameters(METHODS[name])]
    if unknown := params.keys() - known:
        raise ParameterError(f"{name} has no parameter {unknown_names(unknown, known)}")
    fuser = ServedFuser(METHODS[name](**params))
    if not fuser.is_plain:
        raise DataError(
            f"{name} can take long, so that the service does not offer it; those that sum points or scores are fast, "
            "such as rrf, borda and combsum"
        )
    return fuser
