"""Lists in the shapes that Python programs have, for ``fuse`` and ``from_dicts``."""

from __future__ import annotations

import random
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf, nan
from types import SimpleNamespace
from typing import Any

import numpy as np

import juryrank
from everyday import oracle
from everyday.cases import Case, Expected
from everyday.names import EXPERTS, some_ids, some_queries
from juryrank.data.build import from_dicts

NUMBERS = [0.5, 1.25, 2.0, -3.5, 10.0, 7.0, 0.125, 1e-3, 3.0]
RANKS = [1, 2, 3, 4, 7, 10]
BROKEN = {"nan": nan, "inf": inf, "-inf": -inf, "none": None}
MIXED = [1, "1", 2, "2", 3, "a", "b", 10, "10", "07", 7]
Pairs = list[tuple[Any, Any]]


@dataclass
class Hit:
    """As search clients return it."""

    id: Any
    score: Any = None


@dataclass
class Document:
    """As frameworks have it: no id of its own."""

    page: Any
    text: str = "…"


Point = namedtuple("Point", ["score", "id"])
SCORED: dict[str, Callable[[Pairs], Any]] = {
    "dict": dict,
    "tuples": list,
    "tuple of tuples": tuple,
    "lists of two": lambda pairs: [list(pair) for pair in pairs],
    "generator of tuples": lambda pairs: (pair for pair in pairs),
    "zip": lambda pairs: zip([i for i, _ in pairs], [s for _, s in pairs], strict=True),
    "objects": lambda pairs: [Hit(*pair) for pair in pairs],
    "named tuples": lambda pairs: [Point(s, i) for i, s in pairs],
    "records": lambda pairs: [{"id": i, "score": s, "text": "…"} for i, s in pairs],
    "hits": lambda pairs: [{"_id": i, "_score": s} for i, s in pairs],
    "numpy scores": lambda pairs: [(i, s if s is None else np.float64(s)) for i, s in pairs],
}
ORDERED: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "generator": lambda ids: (i for i in ids),
    "iterator": iter,
    "map": lambda ids: map(ids.__getitem__, range(len(ids))),
    "array": lambda ids: np.array(ids, object),
    "objects": lambda ids: [Hit(i) for i in ids],
    "bare objects": lambda ids: [SimpleNamespace(id=i) for i in ids],
    "records": lambda ids: [{"id": i} for i in ids],
}
WRONG: dict[str, Any] = {
    "text": "abc",
    "set": {"a", "b"},
    "number": 3.5,
    "none": None,
    "mixed shapes": ["a", ("b", 0.5)],
    "half pairs": [("a", 0.5), "b"],
    "fractions as ids": [0.93, 0.5],
    "none among ids": ["a", None],
    "booleans": [True, False],
    "bytes": [b"a"],
    "nan among ids": [nan],
    "text for a score": {"a": "high", "b": "low"},
    "text in pairs": [["a", "high"]],
    "a list for a score": {"a": 1.0, "b": [1.0, 2.0]},
    "objects without an id": [object(), object()],
    "dicts without an id": [{"text": "x"}],
    "lists of three": [["a", "b", "c"]],
}


@dataclass
class Call:
    """A call on its way: what is given, what it means, and what is special about it."""

    rng: random.Random
    ids: list[Any]
    style: str  # "", "key", "mixed ids", "unnamed", "ranks"
    many: bool
    method: str
    notes: list[str]
    given: dict[Any, dict[Any, Any]] = field(default_factory=dict)  # query -> expert -> list
    plain: dict[Any, dict[Any, Pairs]] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)
    expected: Expected = field(default_factory=lambda: Expected(tie=oracle.natural))

    @property
    def values(self) -> str:
        return "rank" if self.style == "ranks" else "score"

    @property
    def experts(self) -> list[str]:
        return sorted({expert for of in self.given.values() for expert in of})


def case(seed: int) -> Case:
    """The case of a seed."""
    rng = random.Random(f"python {seed}")
    style = rng.choice(["key", "mixed ids", "unnamed", "ranks", *[""] * 12])
    kind, ids = ("mixed", MIXED) if style == "mixed ids" else some_ids(rng)
    many = rng.random() < 0.35 and style != "unnamed"
    method = "rrf" if style == "ranks" else rng.choice(["rrf", "rrf", "rrf", "dowdall", "combsum"])
    call = Call(rng, ids, style, many, method, [f"{kind} ids", method, style])
    experts = (
        [str(n + 1) for n in range(rng.randint(1, 4))] if style == "unnamed" else rng.sample(EXPERTS, rng.randint(1, 4))
    )
    scored = {expert: method == "combsum" or rng.random() < 0.6 for expert in experts}
    for query in some_queries(rng) if many else ["one"]:
        for expert in experts:
            if not many or rng.random() < 0.8:
                _add_list(call, query, expert, scored=scored[expert])
    _add_params(call)
    if rng.random() < 0.06 and call.given and not many and style in ("", "ranks"):
        wrong, expert = rng.choice(list(WRONG)), rng.choice(call.experts)
        call.given["one"][expert] = WRONG[wrong]
        call.notes.append(f"{expert} is {wrong}")
        call.expected.refused = (expert, "weight", "bm52")
    return _finished(call, seed)


def _add_list(call: Call, query: Any, expert: str, *, scored: bool) -> None:
    rng = call.rng
    items = rng.sample(call.ids, rng.choice([0, 1, 2, 3, 5, 8]))
    twice = bool(items) and rng.random() < 0.12
    if twice:
        items.insert(rng.randrange(len(items) + 1), rng.choice(items))
    pairs: Pairs = [(item, None) for item in items]
    damage = ""
    if scored:
        pairs = [(item, rng.choice(RANKS if call.style == "ranks" else NUMBERS)) for item in items]
        damage = rng.choice(list(BROKEN)[: 3 if len(pairs) < 2 else 4]) if rng.random() < 0.12 and pairs else ""
        if damage:
            at = rng.randrange(len(pairs))
            pairs[at] = pairs[at][0], BROKEN[damage]
    shape = rng.choice([s for s in (SCORED if scored else ORDERED) if s != "dict" or not twice])
    if call.style == "key":
        shape = "documents"
        listed = [(Document(i), s) for i, s in pairs] if scored else [Document(i) for i in items]
    else:
        listed = SCORED[shape](pairs) if scored else ORDERED[shape](items)
    call.notes.append(f"{query}/{expert}: {shape}{' twice' * twice} {damage} of {len(items)}")
    call.expected.maybe |= {"again"} if twice else set()  # of two entries one may be lost for its number
    call.given.setdefault(query, {})[expert] = listed
    call.plain.setdefault(query, {})[expert] = pairs


def _add_params(call: Call) -> None:
    rng, params, expected = call.rng, call.params, call.expected
    if call.method == "combsum":
        params["norm"] = "none"
    if call.method == "rrf" and rng.random() < 0.3:
        params["k"] = rng.choice([1, 10, 60])
    if call.style == "key":
        params["key"] = rng.choice(["page", lambda document: document.page])
    if call.style == "ranks":
        params["values"] = "rank"
    if call.style == "unnamed" or not call.experts or rng.random() > 0.25:
        return
    some = rng.sample(call.experts, rng.randint(1, len(call.experts)))
    call.weights = {e: rng.choice([0.5, 2.0, 3, 0.0][: 3 if call.method == "combsum" else 4]) for e in some}
    params["weights"] = dict(call.weights)
    odd = rng.choice(["", "", "unknown", "strict", "negative", "nan", "text"])
    call.notes.append(f"weights {call.weights} {odd}")
    if odd in ("unknown", "strict"):
        params["weights"]["bm52"] = 2.0
        expected.told.add("unknown weights")
    if odd == "strict":
        params["strict"] = True
        expected.refused = ("bm52",)
    if odd in ("negative", "nan", "text"):
        params["weights"][call.experts[0]] = {"negative": -1.0, "nan": nan, "text": "high"}[odd]
        expected.refused = (call.experts[0], "weight")


def _finished(call: Call, seed: int) -> Case:
    expected, params = call.expected, call.params
    plain = call.plain
    if call.style == "mixed ids":  # the same text is the same item
        types: dict[str, set[type]] = {}
        for item, _ in (pair for of in plain.values() for pairs in of.values() for pair in pairs):
            types.setdefault(str(item), set()).add(type(item))
        if any(len(kinds) > 1 for kinds in types.values()):
            expected.told.add("types")
            expected.maybe.add("again")
        plain = {q: {e: [(str(i), n) for i, n in pairs] for e, pairs in of.items()} for q, of in plain.items()}
    listed = {q: [(e, oracle.ranked(pairs, call.values)) for e, pairs in of.items()] for q, of in plain.items()}
    everything = [one for of in listed.values() for _, one in of]
    expected.told |= {"dropped"} if any(one.dropped for one in everything) else set()
    expected.told |= {"again"} if any(one.again for one in everything) else set()
    answer = {q: oracle.fused(of, call.method, call.weights, params.get("k", 60)) for q, of in listed.items()}
    if call.many:  # a query in which nobody ranks anything
        expected.may_lack = {query for query, scores in answer.items() if not scores}
    top = call.rng.choice([None, None, None, 1, 3])
    free = call.many and top is None and "strict" not in params
    way = call.rng.choice(["fuse", "fuse", "from_dicts"]) if free else "fuse"
    if way == "from_dicts" and not set(call.weights) <= {e for of in listed.values() for e, one in of if one.ranks}:
        expected.maybe.add("unknown weights")  # who ranks nothing is not in the data
    call.notes += [way, f"top {top}"]
    expected.answer = (
        None if expected.refused else _cut(answer, top, text=way == "from_dicts" or call.style == "mixed ids")
    )
    if top is not None:
        params["top"] = top
    return Case("python", seed, ", ".join(filter(None, call.notes)), _act(call, way), expected)


def _cut(answer: Any, top: int | None, *, text: bool) -> Any:
    """The first few items, of equals by name; with ``text`` all ids as text."""
    cut = {
        q: sorted(scores.items(), key=lambda pair: (-pair[1], oracle.natural(pair[0])))[:top]
        for q, scores in answer.items()
    }
    return {q: {str(item) if text else item: score for item, score in pairs} for q, pairs in cut.items()}


def _act(call: Call, way: str) -> Callable[[], Any]:
    given: Any = {}
    for query, of in call.given.items():
        for expert, listed in of.items():
            if call.many:
                given.setdefault(expert, {})[query] = listed
            else:
                given[expert] = listed
    if call.style == "unnamed":
        given = list(given.values())

    def act() -> Any:
        if way == "from_dicts":
            shape = {name: value for name, value in call.params.items() if name in ("key", "values")}
            params = {name: value for name, value in call.params.items() if name not in shape}
            return juryrank.method(call.method, **params).fit_predict(from_dicts(given, **shape)).to_dict()
        found = juryrank.fuse(given, call.method, **call.params)
        found = found if call.many else {"one": found} if given else {}
        return (
            {q: {str(i): s for i, s in of.items()} for q, of in found.items()} if call.style == "mixed ids" else found
        )

    return act
