"""fuse and from_dicts over the shapes that lists have in Python programs, beside slow and obvious versions."""

import random
import subprocess
import sys
import uuid
import warnings
from collections import namedtuple
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import inf, nan
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from juryrank import fuse
from juryrank.data.build import from_dicts, from_orders
from juryrank.errors import DataError, DataWarning, ParameterError, UnknownNameError
from juryrank.methods import METHODS, method
from juryrank.models import save


class Hit:
    def __init__(self, id, score=None):  # noqa: A002
        self.id, self.score = id, score


@dataclass
class Document:  # as LangChain's: cannot be a key of a dict, and its id may be None
    page_content: str
    id: str | None = None


Point = namedtuple("Point", ["score", "id"])


# Lists with scores as a program may have them, each from pairs of an id and a score.
SCORED = {
    "dict": dict,
    "tuples": list,
    "shuffled tuples": lambda pairs: random.Random(1).sample(pairs, len(pairs)),
    "tuple of tuples": tuple,
    "lists of two": lambda pairs: [list(pair) for pair in pairs],
    "generator of tuples": lambda pairs: (pair for pair in pairs),
    "zip": lambda pairs: zip([i for i, _ in pairs], [s for _, s in pairs], strict=True),
    "objects": lambda pairs: [Hit(*pair) for pair in pairs],
    "named tuples": lambda pairs: [Point(s, i) for i, s in pairs],
    "dicts": lambda pairs: [{"id": i, "score": s, "text": "…"} for i, s in pairs],
    "hits of Elasticsearch": lambda pairs: [{"_id": i, "_score": s} for i, s in pairs],
    "numpy scores": lambda pairs: [(i, np.float64(s)) for i, s in pairs],
    "decimals": lambda pairs: [(i, Decimal(s)) for i, s in pairs],
    "fractions": lambda pairs: {i: Fraction(s) for i, s in pairs},
    "text": lambda pairs: {i: repr(s) for i, s in pairs},
    "pandas": lambda pairs: pd.Series([s for _, s in pairs], index=[i for i, _ in pairs], dtype=float),
    "polars": lambda pairs: dict(zip(pl.Series([i for i, _ in pairs]), pl.Series([s for _, s in pairs]), strict=True)),
}
# Lists in order, each from ids.
ORDERED = {
    "list": list,
    "tuple": tuple,
    "generator": lambda ids: (i for i in ids),
    "map": lambda ids: map(type(ids[0]) if ids else str, ids),
    "dict keys": lambda ids: dict.fromkeys(ids).keys(),
    "numpy": np.array,
    "objects array": lambda ids: np.array(ids, object),
    "pandas": lambda ids: pd.Series(ids, dtype=None if ids else object),
    "pandas, filtered": lambda ids: pd.Series([*ids[:1], *ids])[1:],
    "polars": pl.Series,
    "objects": lambda ids: [Hit(i) for i in ids],
    "objects without a score": lambda ids: [SimpleNamespace(id=i) for i in ids],
    "dicts": lambda ids: [{"id": i} for i in ids],
    "whole floats": lambda ids: [float(i) if isinstance(i, int) else i for i in ids],
    "numpy integers": lambda ids: [np.int32(i) if isinstance(i, int) else i for i in ids],
}


def natural(item):
    text = str(item)
    return (0, int(text), "") if text.isdigit() and str(int(text)) == text else (1, 0, text)


def slow_rrf(lists, weights, k=60):
    """From {expert: [(item, score or None)]}: exact sums, so that ties are ties."""
    total = {}
    for expert, pairs in lists.items():
        for place, (item, score) in enumerate(pairs):
            rank = place + 1 if score is None else 1 + sum(other > score for _, other in pairs)
            total[item] = total.get(item, 0) + Fraction(weights.get(expert, 1)) / (k + rank)
    return total


def slow_combsum(lists, weights):
    """The sum of the scores as they are."""
    total = {}
    for expert, pairs in lists.items():
        for item, score in pairs:
            total[item] = total.get(item, 0) + Fraction(weights.get(expert, 1)) * Fraction(score)
    return total


def agree(fused, slow):
    assert set(fused) == set(slow)
    assert {type(item) for item in fused} == {type(item) for item in slow}
    for item, score in slow.items():
        assert fused[item] == pytest.approx(float(score), rel=1e-12)
    assert list(fused) == sorted(slow, key=lambda item: (-slow[item], natural(item)))


def some_ids(rng):
    pool = rng.choice([[f"d{n}" for n in range(12)], list(range(12)), [str(n) for n in range(5, 17)]])
    return rng.sample(pool, rng.randrange(0, 9))


def in_some_shape(rng, scored):
    """A list in a random shape, and the same as plain pairs."""
    items = some_ids(rng)
    if not scored:
        return rng.choice(list(ORDERED.values()))(items), [(item, None) for item in items]
    pairs = [(item, rng.choice([0.5, 1.25, 2.0, -3.5, 10.0])) for item in items]
    return rng.choice(list(SCORED.values()))(pairs), pairs


@pytest.mark.parametrize("seed", range(60))
def test_rrf_over_every_shape_is_what_a_slow_loop_gives(seed):
    rng = random.Random(seed)
    for _ in range(5):
        kind = rng.choice(["text", "numbers"])  # ids of one type in one call
        shapes = {}
        while len(shapes) < rng.randrange(1, 5):
            given, plain = in_some_shape(rng, rng.random() < 0.5)
            if all((kind == "numbers") == isinstance(item, int) for item, _ in plain):
                shapes[f"e{len(shapes)}"] = (given, plain)
        weights = {expert: rng.choice([0.0, 0.5, 2.0]) for expert in shapes if rng.random() < 0.3}
        if len(weights) == len(shapes) and not any(weights.values()):
            weights = {}
        fused = fuse({expert: given for expert, (given, _) in shapes.items()}, weights=weights)
        agree(fused, slow_rrf({expert: plain for expert, (_, plain) in shapes.items()}, weights))


@pytest.mark.parametrize("seed", range(20))
def test_combsum_over_every_shape_and_many_queries_is_what_a_slow_loop_gives(seed):
    rng = random.Random(seed)
    shapes = {}
    while len(shapes) < 6:
        given, plain = in_some_shape(rng, scored=True)
        if all(isinstance(item, str) for item, _ in plain):
            shapes[f"e{len(shapes) % 3}", f"q{len(shapes) // 3}"] = (given, plain)
    weights = {"e0": 0.5, "e2": 4.0}
    runs, slow = {}, {}
    for (expert, query), (given, plain) in shapes.items():
        runs.setdefault(expert, {})[query] = given
        slow.setdefault(query, {})[expert] = plain
    fused = fuse(runs, "combsum", norm="none", weights=weights)
    assert set(fused) == set(slow)
    for query, lists in slow.items():
        agree(fused[query], slow_combsum(lists, weights))


@pytest.mark.parametrize("shape", SCORED)
@pytest.mark.parametrize("name", ["rrf", "borda", "combsum", "copeland"])
def test_lists_with_scores_are_the_same_in_every_shape(shape, name):
    first, second = [("a", 0.5), ("b", 2.0), ("c", 1.0)], [("c", 3.0), ("a", 1.0)]
    expected = fuse({"x": dict(first), "y": dict(second)}, name)
    make = SCORED[shape]
    assert list(fuse({"x": make(first), "y": make(second)}, name).items()) == list(expected.items())
    assert list(fuse(iter([make(first), make(second)]), name).items()) == list(expected.items())
    many = fuse({"x": {"q": make(first)}, "y": {"q": make(second)}}, name)
    assert list(many["q"].items()) == list(expected.items())
    data = from_dicts({"x": {"q": make(first)}, "y": {"q": make(second)}})
    assert method(name).fit_predict(data).to_dict() == {"q": expected}


@pytest.mark.parametrize("shape", ORDERED)
@pytest.mark.parametrize("name", ["rrf", "borda"])
def test_lists_in_order_are_the_same_in_every_shape(shape, name):
    for first, second in ((["b", "c", "a"], ["c", "a"]), ([12, 7, 3], [7, 3])):
        expected = fuse({"x": first, "y": second}, name)
        make = ORDERED[shape]
        assert list(fuse({"x": make(first), "y": make(second)}, name).items()) == list(expected.items())
        many = fuse({"x": {"q": make(first)}, "y": {"q": make(second)}}, name)
        assert list(many["q"].items()) == list(expected.items())
        assert {type(item) for item in many["q"]} == {type(item) for item in expected} == {type(first[0])}


def test_a_jury_learns_from_lists_of_pairs():
    runs = {
        "good": {f"q{n}": [("a", 3.0), ("b", 2.0), ("c", 1.0)] for n in range(20)},
        "bad": {f"q{n}": [("c", 3.0), ("b", 2.0), ("a", 1.0)] for n in range(20)},
    }
    model = method("jury").fit(from_dicts(runs, labels={f"q{n}": {"a": 1, "c": 0} for n in range(20)}))
    assert model.n_queries_ == 20
    assert next(iter(fuse({"good": [("x", 2.0), ("y", 1.0)], "bad": [("y", 2.0), ("x", 1.0)]}, model=model))) == "x"


def test_documents_with_scores_are_keyed_by_key():
    found = [(Document("tea"), 0.9), (Document("milk"), 0.4)]
    other = [(Document("milk"), 12.0), (Document("water"), 11.0)]
    expected = fuse({"x": {"tea": 0.9, "milk": 0.4}, "y": {"milk": 12.0, "water": 11.0}})
    assert fuse({"x": found, "y": other}, key="page_content") == expected
    assert fuse({"x": found, "y": other}, key=lambda document: document.page_content) == expected
    plain = {"x": [document for document, _ in found], "y": [document for document, _ in other]}
    assert fuse(plain, key="page_content") == expected
    assert (
        fuse({"x": [{"doc": "tea"}, {"doc": "milk"}], "y": [{"doc": "milk"}, {"doc": "water"}]}, key="doc") == expected
    )
    with pytest.raises(DataError, match=r"expert 'x': position 1: .* got None; key= says"):
        fuse(plain)
    with pytest.raises(DataError, match=r"expert 'x': position 1 has no 'doc_id', which key= names"):
        fuse(plain, key="doc_id")
    data = from_dicts({"x": {"q": found}, "y": {"q": other}}, key="page_content")
    assert method("rrf").fit_predict(data).to_dict()["q"] == expected


def test_ids_that_are_pairs_need_key():
    passages = [("d1", 3), ("d2", 1), ("d1", 7)]
    with pytest.warns(DataWarning) as told:
        assert list(fuse({"x": passages})) == ["d1", "d2"]
    assert "read as (id, score), and ids repeat; use key=lambda pair: pair" in str(told[0].message)
    assert list(fuse({"x": passages}, key=lambda pair: pair)) == passages
    assert list(fuse({"x": [("d1", "b"), ("d1", "a")]})) == [("d1", "b"), ("d1", "a")]
    assert list(fuse({"x": [("d1", 2, 0.5)]})) == [("d1", 2, 0.5)]
    with pytest.raises(DataError, match="may be an id, or an id and a score as text"):
        fuse({"x": [("d1", "0.5"), ("d2", "0.4")]})


def test_other_things_that_can_be_keys_are_ids():
    one, two = uuid.UUID(int=1), uuid.UUID(int=2)
    assert fuse({"x": [two, one], "y": [one]}) == {one: 1 / 61 + 1 / 62, two: 1 / 61}
    assert list(fuse({"x": [two, one], "y": [one]}, "borda")) == [one, two]


@pytest.mark.parametrize("name", ["rrf", "borda"])
@pytest.mark.parametrize(
    ("listed", "message"),
    [
        ("abc", "got the text 'abc', which would be split into letters"),
        ({"a", "b"}, "got a set, which has no order"),
        (3.5, "a list of items is needed, got float"),
        (None, "a list of items is needed, got NoneType"),
        (np.array(7), "a list of items is needed, got ndarray"),
        (pl.DataFrame({"id": ["a"]}), "got a table"),
        (["a", ("b", 0.5)], r"position 1 is an id, but position 2 is an \(id, score\) pair: \('b', 0.5\)"),
        ([("a", 0.5), "b"], r"position 1 is an \(id, score\) pair, but position 2 is an id: 'b'"),
        ([Hit("a"), {"id": "b"}], "position 1 is an object with .id, but position 2 is a dict with 'id'"),
        ([{"doc": "a"}], "dict"),
        ([SimpleNamespace(name="a")], "cannot be an id; .*key="),
        ([object()], "cannot be an id; .*key="),
        ([["a", "b", "c"]], "list .* cannot be an id"),
        ([0.93, 0.5], "an id is text or a whole number, got 0.93"),
        ([None, "a"], "an id is text or a whole number, got None"),
        ([True, False], "an id is text or a whole number, got True"),
        ([b"a"], "an id is text or a whole number, got b'a'"),
        ([nan], "an id is text or a whole number, got nan"),
        ({"a": "high"}, "the score of item 'a' must be a number, got 'high'"),
        ([["a", "high"]], "the score of item 'a' must be a number, got 'high'"),
        ([{"id": "a", "score": "high"}], "the score of item 'a' must be a number, got 'high'"),
        ({"a": 1.0, "b": [1.0]}, "the score of item 'b' must be a number"),
    ],
)
def test_what_is_no_list_is_refused_with_the_name_of_the_expert(name, listed, message):
    with pytest.raises(DataError, match=f"expert 'x': .*{message}|expert 'x': {message}"):
        fuse({"w": ["a"], "x": listed}, name)
    if name == "rrf":
        with pytest.raises(DataError, match=f"expert 'x', query 'q': .*{message}"):
            from_dicts({"x": {"q": listed}})


@pytest.mark.parametrize("lists", ["abc", 5, {"a", "b"}, None, pl.DataFrame({"a": [1]})])
def test_what_is_no_lists_is_refused(lists):
    with pytest.raises(DataError, match=r"lists: \{expert: list\} or a sequence of lists is needed, got"):
        fuse(lists)


def test_experts_with_queries_and_without_do_not_mix():
    with pytest.raises(DataError, match=r"expert 'y': other experts have \{query: list\}"):
        fuse({"x": {"q": ["a"]}, "y": ["a"]})
    with pytest.raises(DataError, match=r"expert 'x': \{query: list\} is needed, got list"):
        from_dicts({"x": ["a"]})
    with pytest.raises(DataError, match="runs must be"):
        from_dicts([["a"]])


def test_names_that_are_the_same_as_text_are_refused():
    with pytest.raises(DataError, match="expert '1' is given twice"):
        fuse({1: ["a"], "1": ["b"]})
    with pytest.raises(DataError, match="query '1' is given twice"):
        fuse({"x": {1: ["a"], "1": ["b"]}})
    assert fuse({1: ["a"], 2: ["b"]}, weights={1: 3.0}) == {"a": 3 / 61, "b": 1 / 61}
    assert fuse({1: ["a"], 2: ["b"]}, "borda", weights={"2": 3.0}) == {"a": 0.0, "b": 0.0} | fuse(
        {"1": ["a"], "2": ["b"]}, "borda", weights={"2": 3.0}
    )


def test_an_empty_list_leaves_the_scores_of_the_others():
    for empty in ([], (), {}, iter([])):
        assert fuse({"x": {"a": 5.0, "b": 2.5}, "y": empty}, "combsum", norm="none") == {"a": 5.0, "b": 2.5}


@pytest.mark.filterwarnings("ignore:.* lists have no scores")
@pytest.mark.parametrize("name", ["rrf", "combsum", "borda"])
@pytest.mark.parametrize("bad", [nan, inf, -inf, None, "nan"])
@pytest.mark.parametrize("shape", ["dict", "tuples", "objects", "dicts"])
def test_an_entry_without_a_finite_score_is_dropped_and_counted(name, bad, shape):
    pairs = [("a", 2.0), ("bad", bad), ("b", 1.0)]
    if bad == "nan" and shape == "tuples":
        pairs = [list(pair) for pair in pairs]
    for others in ({}, {"y": ["b", "a"]}):  # with a list in order, scores become ranks
        with pytest.warns(DataWarning, match="1 entries without a score are dropped"):
            fused = fuse({"x": SCORED[shape](pairs), **others}, name)
        assert list(fused.items()) == list(fuse({"x": {"a": 2.0, "b": 1.0}, **others}, name).items())


def test_numbers_and_text_of_the_same_name_are_one_item_and_a_warning_says_so():
    for name in ("rrf", "borda", "copeland"):
        with pytest.warns(DataWarning, match="1 ids are given in several types .*'1'"):
            fused = fuse({"x": [1, 2], "y": ["1", "b"]}, name)
        assert list(fused) == [1, 2, "b"]
    with pytest.warns(DataWarning, match="1 ids are given in several types"):
        assert from_dicts({"x": {"q": [1, 2]}, "y": {"q": ["1", "b"]}}).rankings.n_slots == 3
    with pytest.raises(DataError, match="got True"):
        fuse({"x": [1, 2], "y": [True]})
    assert list(fuse({"x": [1, 2], "y": [1.0]}).items()) == [(1, 2 / 61), (2, 1 / 62)]
    assert [type(item) for item in fuse({"y": [1.0], "x": [2, 1]})] == [int, int]


@pytest.mark.parametrize("name", [name for name, cls in METHODS.items() if not cls.supervised])
def test_tied_integers_come_out_in_their_own_order_under_every_method(name):
    if METHODS[name].needs_features or METHODS[name].needs_scores:
        pytest.skip("needs item features, or scores")
    for lists in ({"x": [9], "y": [10]}, {"x": ["9"], "y": ["10"]}, {"x": [10, 9], "y": [9, 10]}):
        fused = fuse(lists, name)
        many = fuse({expert: {"q": listed} for expert, listed in lists.items()}, name)["q"]
        assert list(many.items()) == list(fused.items())
        assert [int(item) for item in fused] == [9, 10]


@pytest.mark.parametrize("name", ["rrf", "copeland", "kemeny", "borda"])
def test_ties_stand_in_natural_order_whatever_the_names(name):
    items = ["10", "9", "07", "b", "-1", "a", "1" * 20, "²", "é", "0"]
    lists = {f"e{n}": [item] for n, item in enumerate(items)}
    expected = ["0", "9", "10", "-1", "07", "1" * 20, "a", "b", "²", "é"]
    assert list(fuse(lists, name)) == expected
    data = from_dicts({expert: {"q": listed} for expert, listed in lists.items()})
    assert method(name).fit_predict(data).top() == {"q": expected}
    numbers = [3, -2, 10**19, 10, 0]
    assert list(fuse({f"e{n}": [item] for n, item in enumerate(numbers)}, name)) == [0, 3, 10, -2, 10**19]


def test_queries_come_back_as_they_are_named():
    assert fuse({"x": {10: [5], 9: [5]}}) == {9: {5: 1 / 61}, 10: {5: 1 / 61}}
    assert list(fuse({"x": {10: [5], 9: [5]}}, "borda")) == [9, 10]


@pytest.mark.parametrize("name", ["rrf", "borda"])
def test_only_the_best_are_returned_with_top(name):
    lists = {"x": ["a", "b", "c"], "y": ["b", "c", "a"]}
    whole = fuse(lists, name)
    for n in (1, 2, np.int64(2), 3, 99):
        assert list(fuse(lists, name, top=n).items()) == list(whole.items())[:n]
    by_query = {expert: {"q": listed, "r": listed} for expert, listed in lists.items()}
    assert fuse(by_query, name, top=2) == {query: dict(list(whole.items())[:2]) for query in "qr"}
    for bad in (0, -1, 2.5, "3"):
        with pytest.raises(ParameterError, match="top must be a whole number >= 1"):
            fuse(lists, name, top=bad)


@pytest.mark.parametrize("name", ["rrf", "borda"])
@pytest.mark.parametrize("many", [False, True])
def test_weights_of_unknown_experts_are_named_and_strict_refuses_them(name, many):
    lists = {"bm25": ["a", "b"], "dense": ["b"], "empty": []}
    lists = {expert: {"q": listed} for expert, listed in lists.items()} if many else lists
    with pytest.warns(DataWarning) as told:
        fused = fuse(lists, name, weights={"bm52": 3.0, "dense": 2.0})
    assert len(told) == 1
    assert str(told[0].message) == (
        f"{name}: weights for experts that are not in the data: bm52 (did you mean 'bm25'?); known: bm25, dense, empty"
    )
    assert fused == fuse(lists, name, weights={"dense": 2.0, "empty": 5.0}, strict=True)
    with pytest.raises(UnknownNameError, match=r"bm52 \(did you mean 'bm25'\?\); known: bm25, dense, empty"):
        fuse(lists, name, weights={"bm52": 3.0}, strict=True)


def learned(name):
    rng = random.Random(0)
    items = list("abcdef")
    runs = {e: {f"q{q}": rng.sample(items, 6) for q in range(12)} for e in ("bm25", "dense")}
    return method(name).fit(from_dicts(runs, labels={f"q{q}": {"a": 1, "b": 0} for q in range(12)}))


@pytest.mark.parametrize("name", ["jury", "borda-fuse", "lambdarank", "supervised-mc2"])
def test_experts_that_a_model_has_not_learned_from_are_named_once_and_strict_refuses_them(name, tmp_path):
    model = learned(name)
    lists = {"bm25": ["a", "b"], "bm26": ["b"]}
    message = f"{name}: experts that the model has not learned from: bm26 .did you mean 'bm25'.*; known: bm25, dense"
    with pytest.raises(UnknownNameError, match=message):
        fuse(lists, model=model, strict=True)
    with pytest.warns(DataWarning, match=message):
        fused = fuse(lists, model=model)
    assert fuse(lists, model=model) == fused  # the second time in silence: warnings are errors here
    assert fuse({"bm25": ["a", "b"]}, model=learned(name), strict=True)
    save(model, tmp_path / "model.json")
    with pytest.warns(DataWarning, match=message):
        assert fuse(lists, model=tmp_path / "model.json") == fused


def test_a_model_whose_experts_share_their_weights_knows_everybody():
    data = from_dicts({"x": {"q": ["a", "b"]}, "y": {"q": ["b", "a"]}}, labels={"q": {"a": 1, "b": 0}})
    assert list(fuse({"new": ["c", "d"]}, model=method("jury", experts="shared").fit(data), strict=True)) == ["c", "d"]


def test_weights_changed_in_place_are_not_forgotten():
    weights = {"x": 2.0}
    model = method("rrf", weights=weights)
    assert fuse({"x": ["a"]}, model) == {"a": 2 / 61}
    weights["x"] = 3.0
    assert fuse({"x": ["a"]}, model) == {"a": 3 / 61}
    weights["x"] = nan
    with pytest.raises(ParameterError, match="weight of expert 'x'"):
        fuse({"x": ["a"]}, model)


@pytest.mark.parametrize("weight", [nan, inf, -inf, -1, True, "2", None, [1.0]])
def test_a_weight_that_is_no_finite_number_is_refused_with_the_name_of_the_expert(weight):
    for name in ("rrf", "copeland", "combsum"):
        with pytest.raises(ParameterError, match="weight of expert 'x' must be a finite number >= 0, got"):
            fuse({"x": ["a"], "y": ["b"]}, name, weights={"y": 1.0, "x": weight})
    with pytest.raises(ParameterError, match="weight of expert '2' must be a finite number >= 0, got"):
        from_orders([["a"], ["b"]], weights=[1.0, weight])


def test_orders_may_be_generators_and_must_be_orders():
    given = from_orders((i for i in order) for order in (["a", "b"], ["b", ("a", "c")]))
    assert given.rankings.entry_rank.tolist() == [1.0, 2.0, 1.0, 2.0, 2.0]
    assert from_orders(np.array([[3, 1], [1, 3]]), weights=np.array([2, 1])).rankings.list_weight.tolist() == [2.0, 1.0]
    assert from_orders([]).rankings.n_lists == from_orders([[]]).rankings.n_lists == 0
    with pytest.raises(DataError, match="order 2: a list of items is needed, got the text 'ab'"):
        from_orders([["a"], "ab"])
    with pytest.raises(DataError, match=r"order 1: .*got a set, which has no order"):
        from_orders([{"a", "b"}])
    with pytest.raises(DataError, match=r"order 1: items in order are needed, got \{item: score\}; from_dicts"):
        from_orders([{"a": 1.0}])
    with pytest.raises(DataError, match=r"a list of orders, got a dict; for \{order: count\} give list\(counts\)"):
        from_orders({("a", "b"): 3, ("b", "a"): 2})
    with pytest.raises(DataError, match=r"\{voter: \{election: order\}\} to from_dicts"):
        from_orders({"North": [["a", "b"]], "South": [["c"]]})
    with pytest.raises(DataError, match=r"order 1: \('a', 0.9\) looks like an item with its score"):
        from_orders([[("a", 0.9), ("b", 0.5)]])
    with pytest.raises(DataError, match="1 weights for 2 orders"):
        from_orders([["a"], ["b"]], weights=[1.0])


def appearance(lists, points):
    """As LangChain, LlamaIndex and Haystack do it: a dict filled list by list, sorted by score, ties as they came."""
    total = {}
    for listed in lists.values():
        for rank, item in enumerate(listed, 1):
            total[item] = total.get(item, 0.0) + points(rank)
    return sorted(total, key=total.__getitem__, reverse=True)


@pytest.mark.parametrize("seed", range(20))
def test_dialects_of_frameworks_leave_ties_in_the_order_of_appearance(seed):
    rng = random.Random(seed)
    names = [f"d{n}" for n in range(30)]
    lists = {expert: rng.sample(names, rng.choice([3, 10])) for expert in rng.sample(["z", "b", "10", "9"], 4)}
    pairs = {expert: [(item, -n) for n, item in enumerate(listed)] for expert, listed in lists.items()}
    langchain = appearance(lists, lambda rank: 1.0 / (rank + 60))
    for given in (lists, pairs):
        assert list(fuse(given, dialect="langchain")) == langchain
        by_query = fuse({expert: {"q": listed} for expert, listed in given.items()}, dialect="langchain")
        assert list(by_query["q"]) == langchain
    assert list(fuse(lists, dialect="llamaindex")) == appearance(lists, lambda rank: 1.0 / (rank - 1 + 60))
    few = dict(list(lists.items())[:2])  # of two summands, the order does not matter
    joined = appearance(few, lambda rank: 0.5 * 61 / (61 + rank - 1))
    assert list(fuse(few, dialect="haystack")) == joined
    assert list(fuse({e: {"q": listed} for e, listed in few.items()}, dialect="haystack")["q"]) == joined
    many = {expert: [f"{item}-{n}" for n in range(30) for item in listed] for expert, listed in lists.items()}
    assert list(fuse(many, dialect="langchain")) == appearance(many, lambda rank: 1.0 / (rank + 60))


def test_pairs_generators_and_repeated_items_do_not_load_polars():
    code = (
        "import warnings, juryrank; warnings.simplefilter('ignore');"
        "juryrank.fuse({'a': [('x', 2.0), ('y', 1.0)], 'b': (i for i in 'xyx'), 'c': {'x': float('nan')}});"
        "import sys; print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"polars", "scipy", "pandas"} & set(done.stdout.split())


def test_no_warning_for_everyday_lists():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(fuse({"x": [("a", 1), ("b", 0)], "y": [("a", 3.5)]})) == ["a", "b"]
        assert list(fuse([[1, 2], [2, 3]], weights={"1": 2, "2": 0})) == [1, 2, 3]


@pytest.mark.parametrize("many", [False, True], ids=["one query", "many queries"])
def test_an_item_twice_in_a_list_with_scores_leaves_no_gap_beside_lists_without(many):
    given = {"x": [("a", 3.0), ("a", 2.0), ("b", 1.0)], "y": ["c"]}
    with pytest.warns(DataWarning, match="repeat"):
        fused = fuse({name: {"q": listed} for name, listed in given.items()})["q"] if many else fuse(given)
    assert fused == pytest.approx({"a": 1 / 61, "c": 1 / 61, "b": 1 / 62}, rel=1e-12)


@pytest.mark.parametrize("name", ["rrf", "borda", "combsum", "copeland", "kemeny"])
def test_no_lists_give_no_items(name):
    assert fuse({}, name) == fuse({"x": []}, name) == {}


def test_scores_that_are_not_used_beside_lists_in_order_are_reported():
    mixed = {"a": ["x", "y"], "b": {"x": 0.2, "y": 0.9}, "c": []}
    with pytest.warns(DataWarning, match="1 of 2 lists have no scores, so methods that use scores fall back to ranks"):
        assert fuse(mixed, "combsum") == {"x": 1.0, "y": 1.0}
    assert fuse(mixed, "borda") == {"x": 1.0, "y": 1.0}  # which uses no scores, so nothing is lost


@pytest.mark.parametrize("method", ["rrf", "combsum", "mc4"])
def test_decimals_that_cannot_be_compared_are_missing_scores(method: str) -> None:
    for listed in ({"x": Decimal(1), "y": nan}, {"x": Decimal(1), "y": Decimal("nan")}):
        with pytest.warns(DataWarning, match="1 entries without a score are dropped"):
            assert list(fuse({"a": listed}, method)) == ["x"]
    with pytest.raises(DataError, match="the score of item 'x' must be a number, got Decimal"):
        fuse({"a": {"x": Decimal("snan"), "y": 1.0}}, method)
