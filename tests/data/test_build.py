"""Names become integers: orders, duplicates, weights, ways in from Python."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import random_dataset
from juryrank.data.build import from_array, from_dicts, from_orders
from juryrank.data.entries import ranks_from_scores
from juryrank.data.long_table import from_long, labels_from_dict
from juryrank.data.names import sort_naturally
from juryrank.errors import DataError, DataWarning
from juryrank.methods import method


def rows(*entries, columns=("query", "item", "expert", "rank")):
    return pl.DataFrame(entries, schema=list(columns), orient="row")


def lists_of(data):
    """{(query, expert): {item: rank}}, read back from the flat arrays."""
    r = data.rankings
    out = {}
    for m in range(r.n_lists):
        entries = range(r.entry_ptr[m], r.entry_ptr[m + 1])
        ranked = {r.items[r.slot_item[r.entry_slot[e]]]: r.entry_rank[e] for e in entries}
        out[r.queries[r.list_query[m]], r.experts[r.list_expert[m]]] = ranked
    return out


ENTRIES = st.dictionaries(
    st.tuples(
        st.sampled_from(["q1", "q2", "10", "9"]), st.sampled_from("abcd"), st.sampled_from(["x", "y", "2", "11"])
    ),
    st.integers(1, 9),
    min_size=1,
)


@given(ENTRIES)
def test_what_goes_in_comes_out(entries):
    data = from_long(rows(*[(q, i, e, float(rank)) for (q, i, e), rank in entries.items()]))
    expected = {}
    for (q, i, e), rank in entries.items():
        expected.setdefault((q, e), {})[i] = rank
    assert lists_of(data) == expected
    r = data.rankings
    assert (np.diff(r.entry_rank)[np.diff(np.repeat(np.arange(r.n_lists), r.list_size)) == 0] >= 0).all()


def test_names_stand_in_natural_order():
    assert sort_naturally(pl.Series(["b", "10", "9", "010", "a", "10"])).to_list() == ["9", "10", "010", "a", "b"]
    data = from_long(rows(("10", "x", "e10", 1.0), ("9", "x", "e9", 1.0)))
    assert data.queries == ("9", "10")


def test_a_repeated_item_keeps_its_best_entry_and_is_counted():
    with pytest.warns(DataWarning, match="2 entries repeat an item"):
        data = from_long(rows(("q", "a", "x", 3.0), ("q", "a", "x", 1.0), ("q", "a", "x", 2.0), ("q", "b", "x", 2.0)))
    assert lists_of(data) == {("q", "x"): {"a": 1.0, "b": 2.0}}


def test_entries_without_a_value_are_dropped_and_counted():
    with pytest.warns(DataWarning, match="2 entries without a rank"):
        data = from_long(rows(("q", "a", "x", None), ("q", "b", "x", 2.0), ("q", "c", "x", float("nan"))))
    assert lists_of(data) == {("q", "x"): {"b": 2.0}}


def test_ranks_start_at_one():
    with pytest.raises(DataError, match="ranks start at 1"):
        from_long(rows(("q", "a", "x", 0.0)))


def test_a_list_has_one_weight():
    columns = ("query", "item", "expert", "rank", "weight")
    with pytest.raises(DataError, match=r"a list has one weight.*'x' in query 'q'"):
        from_long(rows(("q", "a", "x", 1.0, 1.0), ("q", "b", "x", 2.0, 2.0), columns=columns))
    for weight in (-1.0, float("nan"), float("inf")):
        with pytest.raises(DataError, match=rf"finite number >= 0, but that of expert 'x' in query 'q' is {weight}"):
            from_long(rows(("q", "a", "x", 1.0, weight), ("q", "b", "x", 2.0, weight), columns=columns))


def test_candidates_get_slots_though_nobody_ranks_them():
    candidates = pl.DataFrame({"query": ["q", "q", "p"], "item": ["z", "a", "a"]})
    data = from_long(rows(("q", "a", "x", 1.0)), candidates=candidates)
    assert data.queries == ("p", "q")
    assert data["q"].rankings.n_slots == 2
    kept = from_long(rows(("q", "a", "x", 1.0)), candidates=candidates, keep_order=True)["q"].rankings
    assert kept.items[kept.slot_item].tolist() == ["z", "a"]


def test_labels_of_items_that_nobody_ranks_are_kept_apart():
    labels = pl.DataFrame({"query": ["q", "q"], "item": ["a", "unseen"], "label": [1.0, 2.0]})
    data = from_long(rows(("q", "a", "x", 1.0), ("q", "b", "x", 2.0)), labels=labels)
    assert data.rankings.n_slots == 2
    np.testing.assert_array_equal(data.slot_labels, [1.0, np.nan])
    assert data.labels.label_value.tolist() == [1.0, 2.0]


def test_contradicting_labels_keep_the_highest_and_are_counted():
    labels = pl.DataFrame({"query": ["q"] * 3, "item": ["a", "a", "b"], "label": [0.0, 2.0, 1.0]})
    with pytest.warns(DataWarning, match="1 items have several labels"):
        data = from_long(rows(("q", "a", "x", 1.0), ("q", "b", "x", 2.0)), labels=labels)
    assert data.slot_labels.tolist() == [2.0, 1.0]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), min_size=1, max_size=12))
def test_ranks_from_scores_are_competition_ranks(pairs):
    lists, scores = (np.array(column) for column in zip(*pairs, strict=True))
    out = ranks_from_scores(lists, scores.astype(float))
    for k, score, rank in zip(lists, scores, out, strict=True):
        assert rank == 1 + ((lists == k) & (scores > score)).sum()


def test_the_ways_in_from_python_agree():
    dicts = from_dicts({"1": {"all": {"a": 3, "b": 2, "c": 1}}, "2": {"all": {"b": 9}}})
    orders = from_orders([["a", "b", "c"], ["b"]])
    array = from_array(np.array([[1, 2, 3], [np.nan, 1, np.nan]]), items=["a", "b", "c"])
    assert lists_of(dicts) == lists_of(orders) == lists_of(array)
    ranked = from_dicts({"1": {"all": {"a": 1, "b": 2, "c": 3}}, "2": {"all": ["b"]}}, values="rank")
    assert lists_of(ranked) == lists_of(orders)


def test_tied_groups_of_an_order():
    assert lists_of(from_orders([["a", ("b", "c"), "d"]])) == {("all", "1"): {"a": 1, "b": 2, "c": 2, "d": 4}}


@pytest.mark.parametrize("ranks", [np.zeros(3), np.zeros((2, 2, 2))])
def test_an_array_of_ranks_has_two_dimensions(ranks):
    with pytest.raises(DataError, match="two dimensions"):
        from_array(ranks)


def test_names_must_fit_the_array():
    with pytest.raises(DataError, match="2 experts × 1 items named"):
        from_array(np.ones((2, 3)), items=["a"])


def test_nothing_makes_an_empty_data_set():
    empty = pl.DataFrame(schema={"query": pl.String, "item": pl.String, "expert": pl.String, "rank": pl.Float64})
    assert len(from_long(empty)) == 0
    assert len(from_dicts({})) == 0


def test_shuffled_rows_make_the_same_data():
    data = random_dataset(1)
    r = data.rankings
    lists = np.repeat(np.arange(r.n_lists), r.list_size)
    frame = pl.DataFrame(
        {
            "query": np.array(r.queries)[r.list_query[lists]],
            "item": r.items[r.slot_item[r.entry_slot]].astype(str),
            "expert": np.array(r.experts)[r.list_expert[lists]],
            "rank": r.entry_rank,
        }
    )
    one, other = from_long(frame).rankings, from_long(frame.sample(fraction=1, shuffle=True, seed=3)).rankings
    for field in ("slot_ptr", "slot_item", "list_expert", "entry_slot", "entry_rank"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))


def test_a_table_with_ranks_and_gaps_among_its_scores_goes_by_rank():
    rows = {"query": ["q"] * 4, "expert": ["a", "a", "b", "b"], "item": ["x", "y", "y", "x"], "rank": [1, 2, 1, 2]}
    with pytest.warns(DataWarning, match="1 of 2 lists have no scores"):
        data = from_long(pl.DataFrame({**rows, "score": [5.0, 1.0, None, None]}))
    assert method("combsum").fit_predict(data).to_dict() == {"q": {"x": 1.0, "y": 1.0}}
    without = pl.DataFrame({**rows, "score": [None] * 4}, schema_overrides={"score": pl.Float64})
    assert from_long(without).rankings.entry_score is None


def test_labels_from_a_dict_are_those_of_the_data_with_the_dict() -> None:
    labels = {"10": {"b": 1, 7: 0.5}, "9": {"a": 2}}
    alone, joined = labels_from_dict(labels), from_dicts({"x": {"9": ["a"], "10": ["b", "7"]}}, labels=labels).labels
    assert alone.queries == joined.queries == ("9", "10")
    for query in alone.queries:
        values = [
            dict(zip(of.items[of.label_item], of.label_value, strict=True)) for of in (alone[query], joined[query])
        ]
        assert values[0] == values[1] == {str(item): value for item, value in labels[query].items()}


@pytest.mark.parametrize("labels", [{"q": ["a"]}, {"q": {"a": "high"}}, {"q": {"a": None}}, {"q": 3}])
def test_labels_that_are_no_numbers_by_item_are_refused(labels: object) -> None:
    for build in (labels_from_dict, lambda given: from_dicts({"x": {"q": ["a"]}}, labels=given)):
        with pytest.raises(DataError, match=r"labels must be \{query: \{item: number\}\}"):
            build(labels)
