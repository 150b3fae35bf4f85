"""Labels joined to lists: matches are counted; none is an error with a cause, few are a warning, many are quiet."""

import random
import warnings
from collections.abc import Mapping
from pathlib import Path

import pytest

import juryrank
from juryrank.data import Dataset
from juryrank.data.build import from_dicts
from juryrank.data.label_matching import find_cause
from juryrank.errors import DataError, DataWarning

Judged = Mapping[str, Mapping[str, float]]
QUERIES = [f"q{n}" for n in range(1, 13)]
ITEMS = ["D1", "D2", "D3"]
SOME = {"D1": 1.0, "D2": 0.0}


def lists(queries: list[str] = QUERIES, items: list[str] = ITEMS) -> Dataset:
    return from_dicts({"a": dict.fromkeys(queries, items), "b": dict.fromkeys(queries, items[::-1])})


def joined(labels: Judged, data: Dataset | None = None) -> Dataset:
    return (data or lists()).with_labels(from_dicts({}, labels=labels))


def for_all(name: str, judged: Mapping[str, float] = SOME) -> Judged:
    """Labels for queries named by a pattern with the number n."""
    return {name.format(n=n): judged for n in range(1, 13)}


@pytest.mark.parametrize(
    ("pattern", "cause"),
    [
        ("{n}", "all would match without the prefix 'q' in the data"),
        ("topic-q{n}", "all would match without the prefix 'topic-' in the labels"),
        ("q{n}.txt", "all would match without the suffix '.txt' in the labels"),
        ("Q{n}", "all would match if case were ignored"),
        (" q{n} ", "all would match without the spaces around them"),
        ("topic {n:03d}", "all would match by the numbers in them alone"),
        ("d{n}x{n}", ""),
    ],
)
def test_no_shared_query_is_an_error_with_its_cause(pattern: str, cause: str) -> None:
    with pytest.raises(DataError, match="none of the 12 queries with labels is in the data, which has 12") as told:
        joined(for_all(pattern))
    assert "queries are named like 'q1' in the data and" in str(told.value)
    assert str(told.value).endswith(cause)
    assert ("would match" in str(told.value)) == bool(cause)


@pytest.mark.parametrize(
    ("ours", "theirs", "cause"),
    [
        (["1", "2"], ["1.0", "2.0"], "with whole numbers as '1', not '1.0'"),
        (["001", "002"], ["1", "2"], "without leading zeros"),
        (["doc-1", "doc-2"], ["doc_1", "doc_2"], "with the same signs between their parts"),
        (["Doc1 ", "Doc2 "], ["doc1", "doc2"], "without spaces around them, and if case were ignored"),
        (["a", "b"], ["x", "y"], None),
        ([], ["x"], None),
    ],
)
def test_the_cause_is_found_by_trying(ours: list[str], theirs: list[str], cause: str | None) -> None:
    found = find_cause(ours, theirs)
    assert (found and found.text) == cause


def test_swapped_columns_are_named() -> None:
    labels = {item: dict.fromkeys(QUERIES, 1.0) for item in ITEMS}
    with pytest.raises(DataError, match=r"the columns of queries and items look swapped$"):
        joined(labels)


def test_items_in_the_wrong_case_are_an_error() -> None:
    with pytest.raises(
        DataError, match=r"in any of the 12 queries with labels; .* 'D1' .* 'd1' .* if case were ignored"
    ):
        joined(for_all("q{n}", {"d1": 1.0, "d2": 0.0}))


def test_judged_items_that_are_ranked_in_other_queries_are_an_error() -> None:
    data = from_dicts({"a": {"q1": ["x"], "q2": ["y"]}})
    with pytest.raises(DataError, match="the judged items are ranked in other queries"):
        joined({"q1": {"y": 1.0}, "q2": {"x": 1.0}}, data)


def test_fewer_than_half_of_the_queries_are_a_warning_that_counts() -> None:
    labels = {**dict.fromkeys(QUERIES[:5], SOME), **{f"x{n}": SOME for n in range(7)}}
    with pytest.warns(DataWarning, match="only 5 of the 12 queries with labels are in the data, which has 12 queries"):
        joined(labels)


def test_queries_without_any_judged_item_are_a_warning_when_they_are_the_most() -> None:
    labels = {query: SOME if n < 5 else {"d1": 1.0} for n, query in enumerate(QUERIES)}
    with pytest.warns(
        DataWarning, match="in 7 of the 12 queries with labels no ranked item is judged; .* if case were"
    ):
        joined(labels)


def test_a_cause_that_explains_what_is_lost_is_a_warning_even_above_half() -> None:
    data = lists([str(n) for n in range(1, 151)])
    with pytest.warns(DataWarning, match=r"only 51 of the 150 .*like '1' .* '001' .*; all would match without leading"):
        joined({f"{n:03d}": SOME for n in range(1, 151)}, data)


ORDINARY: dict[str, Judged] = {
    "labels for few of many queries": dict.fromkeys(QUERIES[:2], SOME),
    "qrels with more topics than the runs": dict.fromkeys([*QUERIES, *(f"q{n}" for n in range(100, 400))], SOME),
    "many judged items that nobody ranked": for_all("q{n}", {"D1": 1.0, **{f"D{n}": 0.0 for n in range(9, 300)}}),
    "half of the queries": dict.fromkeys([*QUERIES[:6], *(f"x{n}" for n in range(6))], SOME),
    "nothing found in half of the queries": {q: SOME if n % 2 else {"z": 1.0} for n, q in enumerate(QUERIES)},
    "no labels at all": {},
}


@pytest.mark.parametrize("labels", ORDINARY.values(), ids=ORDINARY)
def test_ordinary_labels_are_joined_without_a_word(labels: Judged) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = joined(labels)
    asked = {(q, item): value for q in QUERIES for item, value in labels.get(q, {}).items() if item in ITEMS}
    found = data.slot_labels
    names = [(q, item) for q in data.queries for item in ITEMS]
    assert {name: value for name, value in zip(names, found.tolist(), strict=True) if value == value} == asked


def test_every_way_of_joining_checks(tmp_path: Path) -> None:
    labels = for_all("{n}")
    data, judged = lists(), from_dicts({}, labels=labels)
    juryrank.write(data, tmp_path / "runs")
    juryrank.write(judged, tmp_path / "labels.qrels")
    for join in (
        lambda: data.with_labels(judged),
        lambda: data.with_labels(judged.labels),  # type: ignore[arg-type]
        lambda: juryrank.read(tmp_path / "runs", labels=tmp_path / "labels.qrels"),
        lambda: juryrank.read(tmp_path / "runs", labels=labels),
        lambda: from_dicts({"a": dict.fromkeys(QUERIES, ITEMS)}, labels=labels),
        lambda: juryrank.evaluate(data, labels, "AP"),
        lambda: juryrank.evaluate(juryrank.method("rrf").fit_predict(data), judged, "AP"),
    ):
        with pytest.raises(DataError, match=r"none of the 12 queries with labels is in .*without the prefix 'q'"):
            join()


def test_the_counts_are_those_of_a_loop_over_names() -> None:
    rng = random.Random(0)
    warned = 0
    for _ in range(300):
        ours, theirs = (rng.sample(range(12), rng.randint(1, 12)) for _ in range(2))
        runs = {f"q{q}": [f"d{i}" for i in rng.sample(range(8), rng.randint(1, 4))] for q in ours}
        labels = {f"q{q}": {f"d{i}": 1.0 for i in rng.sample(range(8), rng.randint(1, 3))} for q in theirs}
        shared = runs.keys() & labels.keys()
        hits = [query for query in shared if set(runs[query]) & set(labels[query])]
        few = [2 * len(shared) < min(len(runs), len(labels)), 2 * len(hits) < len(shared)]
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                joined(labels, from_dicts({"a": runs}))
            except DataError:
                assert not hits
                continue
        assert hits
        assert [str(w.message).startswith("only") for w in told] == [True] * few[0] + [False] * few[1]
        warned += len(told)
    assert warned > 20


def test_a_part_of_a_number_is_no_prefix() -> None:
    assert find_cause([f"6{n:02}" for n in range(40)], [str(n) for n in range(10, 40)]) is None
    assert find_cause([f"{n}6" for n in range(10, 40)], [str(n) for n in range(10, 40)]) is None
