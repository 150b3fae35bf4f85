"""Compiled code gives for lists of Python what Python itself gives, bit for bit, or leaves the lists to it."""

import copy
import gc
import pickle
import signal
import sys
import threading
import warnings
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from math import inf, nan
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juryrank
from juryrank.data.plain_lists import Dropped
from juryrank.errors import DataError, DataWarning, JuryrankError
from juryrank.tasks.fuse.exploration import Exploration, Weighting
from juryrank.tasks.fuse.formula_sums import DEPTH
from juryrank.tasks.fuse.fuser import sums_of
from tasks.fuse.plain_loop import by_loop, sums_by_loop

METHODS = [
    juryrank.RRF(), juryrank.RRF(k=1, weights={"e1": 2.5, "e3": 0.0}), juryrank.RRF(dialect="langchain"),
    juryrank.Dowdall(), juryrank.RRF(ranks="dense"),
]  # fmt: skip
NORMS = ("min-max", "max", "sum", "z-score", "rank", "borda", "dbsf", "none")
COMBINATIONS = [
    *(juryrank.CombSUM(norm=norm) for norm in NORMS),
    *(juryrank.CombMNZ(norm=norm, weights={"e1": 2.5, "e3": 0.3}) for norm in NORMS),
    juryrank.CombSUM(weights={"e1": 0.0}), juryrank.CombSUM(missing="last"), juryrank.CombANZ(missing="ignore"),
    juryrank.CombANZ(), juryrank.CombGMNZ(gamma=0.5), juryrank.CombMAX(), juryrank.CombMED(),
]  # fmt: skip
NAMES = st.sampled_from(
    ["a", "b", "c", "d10", "d9", "9", "10", "007", "", " x", '"', "é", "e\u0301", "漢", "😀", "\0", "a\0"]
)
EXPERTS = st.sampled_from(["e0", "e1", "e3", "e10", "unseen"])


class Text(str):
    """Not the type of other ids, but text."""


class Pair(NamedTuple):
    """Not the type of other pairs, but a tuple of two."""

    item: str
    score: float


def outcome(method: Any, lists: Any, top: int | None = None, weighting: Weighting | None = None) -> Any:
    """Items with their types and scores, in order, and what is said, by compiled code; None where it leaves them."""
    way = sums_of(method, weighting)
    assert way is not None
    dropped = Dropped()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fused = way.compiled(lists, dropped, top)
        dropped.warn()
    if fused is None:
        return None
    return [(i, s, type(i)) for i, s in fused.items()], [str(w.message) for w in caught]


def agree(method: Any, lists: Any, top: int | None = None, weighting: Weighting | None = None) -> None:
    """Compiled code leaves the lists, or gives what the loop gives."""
    found = outcome(method, lists, top, weighting)
    assert found is None or found == by_loop(method, lists, top, weighting)


def is_compiled(lists: Any, method: Any = None, top: int | None = None) -> bool:
    """Whether compiled code adds up the lists of RRF, or combines those of another method."""
    return outcome(method or juryrank.RRF(), lists, top) is not None


@pytest.mark.parametrize("method", METHODS, ids=repr)
@given(lists=st.dictionaries(EXPERTS, st.lists(NAMES, max_size=8), max_size=4), top=st.sampled_from([None, 1, 3]))
def test_names_are_added_up_as_by_the_loop(method: Any, lists: dict[str, list[str]], top: int | None) -> None:
    agree(method, lists, top)


WHOLE = st.sampled_from([0, 1, 2, 9, 10, 255, 256, 10**6, 10**17, 10**18 - 1])
ODD = st.sampled_from([-1, 10**18, 2**63, 2**70, True, False, 1.0, "1", "a", None, Text("a"), b"a", (), "\ud800"])


@given(lists=st.dictionaries(EXPERTS, st.lists(WHOLE, max_size=8), max_size=4), top=st.sampled_from([None, 2]))
def test_whole_numbers_are_ids_as_for_the_loop(lists: dict[str, list[int]], top: int | None) -> None:
    agree(juryrank.RRF(), lists, top)
    assert is_compiled(lists) is any(lists.values())


@given(lists=st.dictionaries(EXPERTS, st.lists(st.one_of(WHOLE, ODD, NAMES), max_size=4), max_size=3))
def test_ids_of_all_kinds_are_treated_as_by_the_loop(lists: dict[str, list[Any]]) -> None:
    agree(juryrank.RRF(), lists)


# Whole numbers that are equal as floats, and what is dropped or left to other code.
SCORES = st.one_of(
    st.integers(-2, 3).map(float),
    st.integers(-2, 3),
    st.sampled_from([nan, inf, -inf, np.float64(0.5), np.float32(0.1), np.float64(nan), -0.0]),
    st.sampled_from([2**53 - 1, 2**53, 2**53 + 1, 2**60, 2**60 + 1, 2**2000, True, False, Decimal("0.5"), None, "0.5"]),
)
SCORED = st.dictionaries(NAMES, SCORES, max_size=6)
PAIRS = st.lists(st.tuples(NAMES, SCORES), max_size=6)
LISTED_PAIRS = st.lists(st.tuples(NAMES, st.one_of(st.integers(-2, 3).map(float), st.just(nan))), max_size=8)


def falling(items: list[str]) -> list[tuple[str, float]]:
    return [(item, 0.5 - place) for place, item in enumerate(items)]


FALLING = st.lists(NAMES, max_size=8).map(falling)
SHAPES = st.one_of(
    SCORED, PAIRS, LISTED_PAIRS, FALLING, FALLING.map(dict), FALLING.map(tuple), st.lists(NAMES, max_size=6),
    st.builds(lambda one, other: one + other, FALLING, PAIRS), st.lists(NAMES, max_size=6).map(tuple),
)  # fmt: skip


@pytest.mark.parametrize("method", METHODS, ids=repr)
@given(lists=st.dictionaries(EXPERTS, SHAPES, max_size=4), top=st.sampled_from([None, 2]))
def test_scores_of_all_kinds_are_ranked_as_by_the_loop(method: Any, lists: dict[str, Any], top: int | None) -> None:
    agree(method, lists, top)


PLAIN_SCORES = st.one_of(st.floats(-3, 3), st.integers(-3, 3), st.sampled_from([nan, inf, 1e200, 1e-200, 1.0, 1.0]))
PLAIN_SCORED = st.one_of(st.dictionaries(NAMES, PLAIN_SCORES, max_size=9), SHAPES)


@pytest.mark.parametrize("method", COMBINATIONS, ids=repr)
@given(lists=st.dictionaries(EXPERTS, PLAIN_SCORED, max_size=4), top=st.sampled_from([None, 2]))
def test_scores_are_combined_as_in_python(method: Any, lists: dict[str, Any], top: int | None) -> None:
    agree(method, lists, top)


def test_weights_of_an_exploring_fuser_are_those_of_compiled_code() -> None:
    lists = {"e0": {"a": 3.0, "b": 1.0}, "e1": {"b": 2.0, "c": 1.5, "a": 0.5}}
    for method in (juryrank.CombSUM(), juryrank.CombMNZ(norm="z-score"), juryrank.RRF()):
        found = []
        for variant in range(3):
            weighting = Weighting(Exploration(spread=0.5), variant)
            agree(method, lists, None, weighting)
            found.append(str(outcome(method, lists, None, weighting)))
        assert len(set(found)) == 3


@pytest.mark.parametrize("method", COMBINATIONS[:16], ids=repr)
def test_every_norm_is_computed_without_a_loop_over_entries(method: Any) -> None:
    lists = {"e1": {f"d{n}": 5.0 / (n + 1) for n in range(9)}, "e2": [(f"d{n}", 20 - n * n) for n in range(3, 12)]}
    assert is_compiled(lists, method)
    agree(method, lists)


def result_of(fuser: juryrank.Fuser, lists: Any) -> Any:
    """The items with their scores, or the error, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found: Any = list(fuser(lists).items())
        except JuryrankError as error:
            found = type(error), str(error)
    return found, [str(w.message) for w in caught]


@pytest.mark.parametrize("method", [*METHODS, juryrank.CombSUM(), juryrank.CombMNZ(norm="z-score")], ids=repr)
@given(lists=st.dictionaries(EXPERTS, SHAPES.filter(bool), max_size=4))
def test_dicts_give_what_the_same_in_other_shapes_gives(method: Any, lists: dict[str, Any]) -> None:
    fuser = juryrank.Fuser(method)
    others = {expert: MappingProxyType(of) if type(of) is dict else of for expert, of in lists.items()}
    assert result_of(fuser, lists) == result_of(fuser, others)


@pytest.mark.parametrize("others", [[], ["x"], ["x", "x"]], ids=repr)
def test_pairs_in_order_that_repeat_an_id_count_once_with_a_warning(others: list[str]) -> None:
    pairs = falling([f"d{n}" for n in range(30)])
    expected = {"d0": 1 / 61, **{f"d{n}": 1 / (61 + n) for n in range(1, 30)}}
    fuser = juryrank.Fuser("rrf")
    with pytest.warns(DataWarning) as caught:
        found = fuser({"a": [*pairs, ("d0", -99.0)], "b": others})
    assert {item: score for item, score in found.items() if item != "x"} == expected
    messages = [str(w.message) for w in caught]
    assert sum("are read as (id, score), and ids repeat" in text for text in messages) == 1
    assert sum(f"{max(1, len(others))} entries repeat an item of their list" in text for text in messages) == 1
    assert len(messages) == 2


USUAL: list[Any] = [
    ["a", "b"], ("a", "b"), ["éa", "漢", "\0"], [1, 2, 3], {"a": 2.0, "b": 1}, {"a": 1.0, "b": 2.0},
    {"a": 1.0, "b": 1.0}, [("a", 2.0), ("b", 1.0)], (("a", 2.0), ("b", np.float32(1.0))), ["a", "b", "a"],
    {"a": nan, "b": np.float64(1.0)}, [("a", nan), ("b", 1.0), ("c", inf)], [(1, nan), (2, 1.0)],
    {1: 0.5, 2: 0.25}, ["a" * 100_000, "b"],
]  # fmt: skip


@pytest.mark.parametrize("listed", USUAL, ids=lambda listed: repr(listed)[:40])
def test_usual_lists_do_not_leave_compiled_code(listed: Any) -> None:
    assert is_compiled({"e": listed, "f": []})
    agree(juryrank.RRF(), {"e": listed, "f": []})


@pytest.mark.parametrize("name", ["rrf", "combsum"])
def test_pairs_that_are_lists_are_read_as_tuples_are(name: str) -> None:
    pairs = [("a", 1.0), ("b", 2.0), ("c", nan), ("d", 2)]
    fuser, expected = juryrank.Fuser(name), result_of(juryrank.Fuser(name), {"e": pairs, "f": {"a": 0.5}})
    for made in ([list(pair) for pair in pairs], [list(pairs[0]), *pairs[1:]], tuple(map(list, pairs))):
        assert is_compiled({"e": made})
        assert result_of(fuser, {"e": made, "f": {"a": 0.5}}) == expected


def test_ids_that_are_pairs_are_not_read_as_ids_with_scores() -> None:
    pairs = [("a", 3.0), ("b", 4.0)]
    assert list(juryrank.fuse({"e": pairs}, key=lambda pair: pair)) == pairs
    assert list(juryrank.fuse({"e": pairs})) == ["b", "a"]


UNUSUAL: list[Any] = [
    [], {}, {"a": nan}, ["a", 1], [True], [None], [b"a"], [Text("a"), "b"], ["a", "\ud800"], [-1], [10**18], [2**70],
    {"a": None}, {"a": "1"}, {"a": Decimal(1)}, {"a": True}, {"a": 2**60}, [("a",)],
    [("a", nan), ("b", 1.0), ("a", 0.5)], [("a", nan), ("b", 1.0), ("".join("a"), nan)],
    [("b", 1.0)] + 5 * [("a", nan)],
    [("a", 1.0, 2)], [("a", 1.0), "b"], OrderedDict(a=1.0), [Pair("a", 1.0)], {1.0: 0.5},
    {("a",): 0.5}, [("a", 1.0), ("a", 0.5)], [(1, 1.0), (2, 3.0), (1, 3.0), (4, 3)],
]  # fmt: skip


@pytest.mark.parametrize("listed", UNUSUAL, ids=repr)
def test_what_is_not_usual_is_left_to_python(listed: Any) -> None:
    assert not is_compiled({"e": listed})
    agree(juryrank.RRF(), {"e": listed})


@pytest.mark.parametrize("large", [2**60, 10**400, -(10**400)], ids=["exact", "above", "below"])
def test_a_score_that_is_too_large_beside_an_id_that_is_no_text_is_one_error(large: int) -> None:
    """Python allows no second error while there is one."""
    for lists in ({"e": {"a": large, "b": 1}, "f": ["\ud800"]}, {"e": [("a", -1), ("\ud800", large)], "f": {"b": -1}}):
        assert not is_compiled(lists)
        if large == 2**60:
            agree(juryrank.RRF(), lists)
        else:
            with pytest.raises(DataError, match=r"the score of item .* must be a number, got "):
                juryrank.fuse(lists)
    assert is_compiled({"e": {"a": -1, "b": -1.0}})


def test_ids_of_one_type_in_each_list_but_not_in_all_are_left_to_python() -> None:
    assert not is_compiled({"e": ["a"], "f": [1]})
    assert not is_compiled({"e": ["1"], "f": {1: nan}})


def test_ids_of_every_length_and_beginning_are_told_apart() -> None:
    for size in range(1, 40):
        one, other = "x" * size, "x" * (size - 1) + "y"
        lists = {"a": [one, other, "x" * (size + 1)], "b": [other], "c": ["".join(list(one))]}
        assert is_compiled(lists)
        agree(juryrank.RRF(), lists)


@pytest.mark.parametrize("top", [2**63, 10**30, np.int64(2), np.int32(1)])
def test_any_whole_number_of_items_may_be_wanted(top: Any) -> None:
    for name in ("rrf", "combsum"):
        fused = juryrank.Fuser(name)({"e": {"a": 3.0, "b": 2.0, "c": 1.0}}, top=top)
        assert list(fused) == ["a", "b", "c"][: min(int(top), 3)]


def test_the_result_has_the_first_of_equal_ids() -> None:
    first, second = "".join(["a", "b"]), "".join(["a", "b"])
    (found,) = juryrank.Fuser("rrf")({"e": [first], "f": [second]})
    assert found is first


def test_points_that_are_kept_for_the_next_lists_are_those_of_their_method_and_experts() -> None:
    fusers = [juryrank.Fuser("rrf", k=k, weights={"e": w}) for k, w in ((1, 1.0), (60, 3.0))]
    for size in (40, DEPTH + 1, 40, 5 * DEPTH, 40):
        for (k, w), fuser in zip(((1, 1.0), (60, 3.0)), fusers, strict=True):
            for expert, weight in (("e", w), ("f", 1.0)):
                lists = {expert: [f"d{n}" for n in range(1, size + 1)], **({} if expert == "e" else {"e": []})}
                assert fuser(lists) == {f"d{n}": weight * (1 / (k + n)) for n in range(1, size + 1)}


MANY = 1 << 15


def test_more_than_there_is_room_for_is_added_up_all_the_same() -> None:
    items = [f"d{n}" for n in range(MANY + 1)]
    fused = juryrank.fuse({"e": items, "f": items[::-1]})
    assert len(fused) == len(items)
    assert fused["d0"] == 1 / 61 + 1 / (60 + len(items))
    many = {f"e{n}": {"a": 1.0, "b": 0.5} for n in range(1025)}
    assert juryrank.fuse(many)["a"] == pytest.approx(1025 / 61)
    for size in (MANY, MANY - 1, MANY // 2, MANY // 2 + 1):
        scored = {item: float(-n) for n, item in enumerate(items[:size])}
        agree(juryrank.RRF(), {"e": scored}, 3)
        agree(juryrank.RRF(), {"e": items[:size], "f": ["x"]}, 3)


def test_a_copy_of_a_fuser_has_points_of_its_own() -> None:
    lists = {"e": [f"d{n}" for n in range(50)], "f": {"d3": 2.0, "d1": 1.0}}
    for name in ("rrf", "combsum"):
        fuser = juryrank.Fuser(name)
        given = lists if name == "rrf" else {"f": lists["f"]}
        expected = fuser(given)
        for made in (copy.copy(fuser), copy.deepcopy(fuser), pickle.loads(pickle.dumps(fuser))):
            assert made(given) == expected
    kept = copy.deepcopy(juryrank.Fuser("rrf"))
    kept(lists)
    other = copy.deepcopy(kept)
    del kept
    gc.collect()
    assert other(lists) == juryrank.Fuser("rrf")(lists)


def test_no_reference_is_lost_or_kept() -> None:
    ids = ["".join(["id", str(n)]) for n in range(60)]
    scores = [float(60 - n) / 7 for n in range(60)]
    lists: Any = {"a": ids[:], "b": dict(zip(ids[::-1], scores, strict=True)), "c": list(zip(ids, scores, strict=True))}
    wrong: Any = {**lists, "d": ["x", 1]}
    rrf, combsum, scored = sums_of(juryrank.RRF()), sums_of(juryrank.CombSUM()), {"b": lists["b"], "c": lists["c"]}
    assert rrf is not None
    assert combsum is not None

    def work() -> None:
        for _ in range(50):
            assert rrf.compiled(lists, Dropped()) is not None
            assert rrf.detailed(lists, 7) is not None
            assert rrf.compiled(wrong, Dropped()) is None
            assert combsum.compiled(scored, Dropped(), 7) is not None

    def references() -> list[int]:
        things = [*ids, *scores, *lists.values(), *lists["c"], None, list, tuple, dict]
        return [sys.getrefcount(thing) for thing in things]

    work()
    before = references()
    work()
    assert references() == before
    found = rrf.compiled(lists, Dropped())
    assert found is not None
    assert {sys.getrefcount(score) for score in found.values()} == {3}  # the dict, the loop and the argument


def test_a_signal_in_the_middle_of_a_call_may_fuse_lists_too() -> None:
    fuser = juryrank.Fuser("rrf")
    lists = {"a": [f"d{n}" for n in range(99)], "b": [f"d{n}" for n in range(98, -1, -1)]}
    expected, inner = fuser(lists), fuser({"a": ["x", "y"]})
    seen = []

    def interrupt(*_: Any) -> None:
        seen.append(fuser({"a": ["x", "y"]}) == inner)

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        while len(seen) < 50:
            assert fuser(lists) == expected
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert all(seen)


def test_threads_do_not_disturb_each_other() -> None:
    fuser, start = juryrank.Fuser("rrf"), threading.Barrier(4)

    def work(seed: int) -> bool:
        random = np.random.default_rng(seed)
        queries = [
            {e: [f"{seed}-{n}" for n in random.permutation(90)[:60]] for e in ("a", "b", "c")} for _ in range(50)
        ]
        expected = [sums_by_loop(juryrank.RRF(), lists) for lists in queries]
        start.wait()
        return all(fuser(lists) == found for _ in range(20) for lists, found in zip(queries, expected, strict=True))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))


def test_infinities_of_numpy_are_dropped_without_a_warning_of_numpy() -> None:
    scored = {"a": np.float64(-inf), "b": np.float64(0.5), "c": np.float64(inf)}
    for method in (juryrank.RRF(), juryrank.CombSUM()):
        for listed in (scored, list(scored.items())):
            for found, messages in (result_of(juryrank.Fuser(method), {"e": listed}), by_loop(method, {"e": listed})):
                assert [item for item, *_ in found] == ["b"]
                assert messages == ["the data: 2 entries without a score are dropped"]
