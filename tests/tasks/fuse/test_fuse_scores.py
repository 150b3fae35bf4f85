"""fuse with combinations of scores: plain Python gives what a Dataset gives, bit for bit, with the same messages."""

import random
import warnings
from math import inf, nan

import numpy as np
import pytest

from juryrank.data.build import from_dicts
from juryrank.data.shapes import as_item_list
from juryrank.errors import DataError, DataWarning, JuryrankError, ParameterError
from juryrank.methods import METHODS, method
from juryrank.methods.formula import Formula, ListNumbers, QueryItems, QueryList
from juryrank.tasks.fuse import Fuser, fuse
from juryrank.tasks.fuse.by_dataset import rank_by_dataset

NORMS = ["min-max", "max", "sum", "z-score", "rank", "borda", "dbsf", "none"]
COMBINED = sorted(name for name, cls in METHODS.items() if "norm" in cls().params() and not cls.supervised)
IDS = ["a", "b", "c", "d10", "d9", "9", "10", "007", "é", "z"]
SCORES = {
    "few": lambda rng: float(rng.randint(-2, 2)),
    "unit": lambda rng: rng.random(),
    "normal": lambda rng: rng.gauss(3.0, 10.0),
    "equal": lambda rng: 0.1,
    "huge": lambda rng: rng.choice([1e308, -1e308, 1e200, 1.0]),
    "tiny": lambda rng: rng.random() * 1e-310,
    "odd": lambda rng: rng.choice([nan, inf, -inf, None, 1, True, "0.5", 2.5]),
}


def random_list(rng: random.Random, kind: str):
    """One list in one of the shapes that programs have; ids repeat in some."""
    ids = IDS if rng.random() < 0.9 else [*range(12), "7"]
    items = [rng.choice(ids) for _ in range(rng.choice([0, 1, 2, 5, 12]))]
    shape = rng.choice(["dict", "dict", "dict", "pairs", "generator", "records", "order"])
    if shape == "order":
        return lambda: list(items)
    pairs = [(item, SCORES[kind](rng)) for item in items]
    if shape == "dict":
        return lambda: dict(pairs)
    if shape == "records":
        return lambda: [{"id": item, "score": score} for item, score in pairs]
    return (lambda: list(pairs)) if shape == "pairs" else (lambda: (pair for pair in pairs))


def outcome(call):
    """The items with their scores, or the error, and the texts of all warnings about data."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = list(call().items())
        except JuryrankError as error:
            result = type(error), str(error)
    return result, [str(w.message) for w in caught if issubclass(w.category, DataWarning)]


def by_dataset(lists, model):
    listed = {expert: as_item_list(of, f"expert {expert!r}") for expert, of in lists.items()}
    return rank_by_dataset({(expert, "one"): of for expert, of in listed.items()}, model, "score").get("one", {})


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", COMBINED)
def test_plain_python_gives_what_a_dataset_gives(name, norm):
    rng = random.Random(f"{name} {norm}")
    for _ in range(25):
        params = {"norm": norm, "missing": rng.choice(["ignore", "last"])}
        kind = rng.choice(sorted(SCORES))
        experts = rng.sample(["1", "2", "10", "bm25", "dense"], rng.randint(1, 5))
        if "weights" in METHODS[name]().params() and rng.random() < 0.5:
            weights = {expert: rng.choice([0.0, 0.1, 0.7, 1.0, 3.0, 1e50]) for expert in experts}
            params["weights"] = weights if any(weights.values()) else None
        if name == "combgmnz":
            params["gamma"] = rng.choice([0.0, 0.5, 1.0, 2.0, 2.7, 9.0])
        make = {expert: random_list(rng, kind) for expert in experts}

        def lists(make=make):
            return {expert: of() for expert, of in make.items()}

        plain = outcome(lambda lists=lists, params=params: Fuser(name, **params)(lists()))
        assert plain == outcome(lambda lists=lists, params=params: by_dataset(lists(), method(name, **params)))


@pytest.mark.parametrize("norm", NORMS)
def test_a_fitted_convex_combination_gives_what_a_dataset_gives(norm):
    rng = random.Random(norm)
    learned = {"experts_": ["1", "2", "bm25"], "norm_": norm, "n_queries_": 3, "means_": np.zeros(2)}
    for _ in range(60):
        weights = np.array([rng.choice([0.0, 0.1, 0.7]), rng.choice([0.0, 0.3]), 0.2])
        model = METHODS["convex"].from_learned({"norm": norm}, {**learned, "weights_": weights})
        kind = rng.choice(sorted(SCORES))
        make = {expert: random_list(rng, kind) for expert in rng.sample(["1", "2", "10", "bm25"], rng.randint(1, 4))}

        def lists(make=make):
            return {expert: of() for expert, of in make.items()}

        plain = outcome(lambda lists=lists, model=model: Fuser(model)(lists()))
        found, said = outcome(lambda lists=lists, model=model: by_dataset(lists(), model))
        assert (plain[0], [text for text in plain[1] if "not learned from" not in text]) == (found, said)


def test_methods_that_combine_scores_declare_how():
    assert COMBINED == ["combanz", "combgmnz", "combmax", "combmed", "combmin", "combmnz", "combsum"]
    declared = method("combmnz", norm="none", weights={"x": 2}).formula()
    listed = QueryList(2, [3.0, 1.0], None, 2.0, QueryItems([["a", "b"]], [2.0]))
    assert declared.numbers(listed) == ListNumbers([3.0, 1.0], None, 2.0)
    assert (declared.rule, declared.weights) == ("sum", {"x": 2.0})
    with pytest.raises(ValueError, match="rule must be one of sum, mean"):
        Formula("product", declared.numbers)


def test_items_of_lists_without_weight_come_last():
    lists = {"x": {"a": 3.0, "b": 1.0}, "y": {"c": 9.0, "a": 5.0}}
    assert fuse(lists, "combsum", weights={"y": 0.0}) == {"a": 1.0, "b": 0.0, "c": -1.0}
    some = Fuser("combsum", weights={"x": 1.0, "y": 0.0})
    with pytest.warns(DataWarning, match="not in the data: x"):
        assert some({"y": lists["y"]}) == {"a": 0.0, "c": 0.0}


@pytest.mark.parametrize("name", ["combsum", "rrf", "mc4"])
def test_the_weight_0_of_all_experts_is_an_error(name):
    lists, weights = {"x": {"a": 3.0, "b": 1.0}, "y": {"c": 9.0, "a": 5.0}}, {"x": 0.0, "y": 0}
    text = rf"{name}: weights: all experts have the weight 0 \(x, y\), so no list counts; give at least one"
    with pytest.raises(ParameterError, match=text):
        fuse(lists, name, weights=weights)
    with pytest.raises(ParameterError, match=text):
        Fuser(name, weights=weights).detailed(lists)
    with pytest.raises(ParameterError, match=text):
        method(name, weights=weights).fit_predict(from_dicts({expert: {"q": of} for expert, of in lists.items()}))


def test_a_score_that_is_too_large_is_an_error_that_names_the_item():
    lists = {"x": {"a": 1.5e308, "b": 1.0}, "y": {"a": 1.5e308, "c": 1.0}}
    with pytest.raises(DataError, match="scores must be finite numbers, but item 'a' of query 'one' gets inf"):
        fuse(lists, "combsum", norm="none")
    assert fuse(lists, "combsum") == {"a": 2.0, "b": 0.0, "c": 0.0}


def test_tied_scores_near_the_largest_number_have_ranks():
    assert fuse({"x": {"b": 1.7e308, "a": 1.7e308, "c": 1.0}}) == {"a": 1 / 61, "b": 1 / 61, "c": 1 / 63}


@pytest.mark.parametrize("ranks", ["given", "dense"])
def test_lists_in_order_with_repeated_ids_give_what_a_dataset_gives(ranks):
    rng = random.Random(ranks)
    model = method("rrf", ranks=ranks, weights={"1": 0.3, "2": 1.7, "10": 1.0})
    for _ in range(200):
        ids = IDS if rng.random() < 0.8 else [*range(9), "7"]
        lists = {expert: [rng.choice(ids) for _ in range(rng.randint(1, 8))] for expert in ("1", "2", "10")}
        plain = outcome(lambda lists=lists: Fuser(model)(lists))
        assert plain == outcome(lambda lists=lists: by_dataset(lists, model))
