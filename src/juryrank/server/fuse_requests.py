"""The body of ``/v1/fuse`` and ``/v1/explain``: its shape, and what is wrong with one that does not have it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from juryrank.server.problems import Problem
from juryrank.server.settings import Settings

MOST_CHARACTERS = 200  # of a name, other than of items and queries
MOST_PARAMS = 20
EXPLAINED_BYTES = 64 << 20  # of an answer with explanations, which name every expert for every item
SECOND_LOOK_BYTES = 1 << 20  # a larger body that does not fit is not read again for a better message
Id = str | int


class Hit(msgspec.Struct, rename={"underscored_id": "_id", "underscored_score": "_score"}):
    """An item as search engines and ``/v1/fuse`` itself give it; what else it has does not matter."""

    id: Id | None = None
    score: float | None = None
    underscored_id: Id | None = None
    underscored_score: float | None = None

    def __post_init__(self) -> None:
        """One name for each."""
        self.id = self.underscored_id if self.id is None else self.id
        self.score = self.underscored_score if self.score is None else self.score
        if self.id is None:
            raise ValueError("an object needs id, or _id")

    def __repr__(self) -> str:
        """As JSON, for messages."""
        return msgspec.json.encode({"id": self.id, "score": self.score}).decode()


Element = Id | tuple[Id, float] | Hit
List = list[Element] | dict[str, float]
Lists = dict[str, List]
Param = str | int | float | bool | dict[str, float] | None
SHAPES = 'a list is [id, …], {id: score}, [[id, score], …] or [{"id": id, "score": score}, …]'


class FuseRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Lists per expert of one query, or ``queries`` for a batch; how they are fused, and what is returned."""

    lists: Lists | None = None
    queries: dict[str, Lists] | None = None
    model: str | None = None
    method: str | None = None
    weights: dict[str, float] | None = None
    params: dict[str, Param] | None = None
    top: int | None = None
    explain: bool = False


_decoder = msgspec.json.Decoder(FuseRequest)


def decode(body: bytes) -> FuseRequest:
    """The request; a Problem says what is wrong with it. The last of several equal names counts, as in most readers."""
    try:
        return _decoder.decode(body)
    except msgspec.ValidationError as error:
        raise Problem(422, f"the request does not fit: {_misfit(body) or error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Problem(400, f"the body must be JSON in UTF-8: {error}") from None


def _misfit(body: bytes) -> str | None:
    """The first list that does not have one of the shapes, with its expert, which errors of the decoder do not name."""
    if len(body) > SECOND_LOOK_BYTES:
        return None
    try:
        found = msgspec.json.decode(body)
        queries = [found.get("lists"), *(found.get("queries") or {}).values()]
        lists = [(expert, listed) for query in queries if query for expert, listed in query.items()]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, AttributeError):
        return None
    return next(filter(None, (misfit_of_list(expert, listed) for expert, listed in lists)), None)


def misfit_of_list(expert: str, listed: object) -> str | None:
    """What is wrong with a list that does not have one of the shapes, with the expert and the position."""
    where = f"expert {expert!r:.80}"
    try:
        for n, element in enumerate(listed if isinstance(listed, list) else (), 1):
            where = f"expert {expert!r:.80}: position {n}"
            msgspec.convert(element, Element)
        msgspec.convert(listed, List)
    except msgspec.ValidationError as error:
        return f"{where}: {error}; {SHAPES}"
    return None


def count_entries(request: FuseRequest, limits: Settings) -> int:
    """The number of entries of all lists; a Problem if there are too many of anything, or nothing."""
    if (request.lists is None) == (request.queries is None):
        raise Problem(422, "give lists, {expert: list} of one query, or queries, {query: {expert: list}} of several")
    if request.top is not None and request.top < 1:
        raise Problem(422, f"top must be a whole number >= 1, got {request.top}")
    if request.method is not None or request.model is not None or request.weights or request.params:
        _check_choice(request, limits)
    if request.lists is not None:
        entries = _count_one(request.lists, limits.max_experts)
    else:
        assert request.queries is not None
        if len(request.queries) > limits.max_queries:
            raise Problem(413, f"a batch may have {limits.max_queries} queries, got {len(request.queries)}")
        entries = sum(_count_one(lists, limits.max_experts) for lists in request.queries.values())
    if entries > limits.max_items:
        raise Problem(413, f"a request may have {limits.max_items} entries in its lists, got {entries}")
    return entries


def _count_one(lists: Lists, most: int) -> int:
    if len(lists) > most:
        raise Problem(413, f"a query may have {most} experts, got {len(lists)}")
    if lists and max(map(len, lists)) > MOST_CHARACTERS:
        raise Problem(422, f"the name of an expert may have {MOST_CHARACTERS} characters, got {max(map(len, lists))}")
    return sum(map(len, lists.values()))


def _check_choice(request: FuseRequest, limits: Settings) -> None:
    weights, params = request.weights or {}, request.params or {}
    names = [request.model or "", request.method or "", *weights, *params]
    if (longest := max(map(len, names))) > MOST_CHARACTERS:
        raise Problem(
            422,
            f"names of models, methods, experts and parameters may have {MOST_CHARACTERS} characters, got {longest}",
        )
    if len(weights) > limits.max_experts or len(params) > MOST_PARAMS:
        raise Problem(
            413,
            f"a request may have weights of {limits.max_experts} experts and {MOST_PARAMS} parameters, "
            f"got {len(weights)} and {len(params)}",
        )


def check_explained(queries: Iterable[Lists], top: int | None) -> None:
    """A Problem if explanations would take too much room: they may have numbers of each expert for each item."""
    size = 0
    for lists in queries:
        entries = sum(map(len, lists.values()))
        items = entries if top is None else min(entries, top)
        size += items * sum(2 * len(expert) + 50 for expert in lists)
    if size > EXPLAINED_BYTES:
        raise Problem(
            413, f"the explanations could have {size} bytes, and may have {EXPLAINED_BYTES}; give a smaller top"
        )
