"""What can be evaluated, which queries count, and what comes out."""

import json

import numpy as np
import pytest

import juryrank
from conftest import random_dataset
from juryrank.data import Consensus, Dataset
from juryrank.data.build import from_dicts, from_orders
from juryrank.errors import DataError, DataWarning, ParameterError, UnknownNameError
from juryrank.evaluation.evaluate import evaluate
from juryrank.metrics import NDCG, judge

RUN = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"x": 1.0, "y": 2.0}}
LABELS = {"q1": {"b": 1}, "q2": {"y": 2, "z": 1}}


def test_one_thing_gives_means_by_metric():
    found = evaluate(RUN, LABELS, ["RR", "R@2"])
    assert found.means() == {"RR": 0.75, "R@2": 0.75}
    assert found["rr"] == 0.75
    assert {k: v.tolist() for k, v in found.per_query.items()} == {"RR": [0.5, 1.0], "R@2": [1.0, 0.5]}
    assert found.queries == ("q1", "q2")


def test_several_things_give_means_by_name():
    found = evaluate({"ours": RUN, "theirs": {"q1": ["b", "a"], "q2": ["z"]}}, LABELS, "P@1")
    assert found.names == ("ours", "theirs")
    assert found.means() == {"ours": {"P@1": 0.5}, "theirs": {"P@1": 1.0}}
    assert found["P@1"] == {"ours": 0.5, "theirs": 1.0}
    assert found["ours"] == {"P@1": 0.5}


def test_labels_may_be_a_mapping_labels_or_a_dataset():
    data = from_dicts({"e": RUN}, labels=LABELS)
    wanted = evaluate(RUN, LABELS, "nDCG").means()
    assert evaluate(RUN, data, "nDCG").means() == evaluate(RUN, data.labels, "nDCG").means() == wanted


@pytest.mark.filterwarnings("ignore:.* ranks nothing in")
def test_each_expert_of_a_dataset_is_evaluated_by_what_it_ranked():
    data = random_dataset(2)
    found = evaluate(data, data, ["nDCG@5", "AP"])
    r = data.rankings
    for n, expert in enumerate(found.names):
        run = {}
        for m in np.flatnonzero(r.list_expert == n):
            entries = slice(r.entry_ptr[m], r.entry_ptr[m + 1])
            names = r.items[r.slot_item[r.entry_slot[entries]]]
            run[r.queries[r.list_query[m]]] = dict(zip(names, -r.entry_rank[entries], strict=True))
        assert found.means()[expert] == evaluate(run, data, ["nDCG@5", "AP"]).means()


def test_items_that_an_expert_did_not_rank_are_not_retrieved():
    data = from_dicts({"a": {"q": ["x"]}, "b": {"q": ["y", "x"]}}, labels={"q": {"x": 1, "y": 1}})
    assert evaluate(data, data, "R@5")["R@5"] == {"a": 0.5, "b": 1.0}


def test_all_slots_of_a_consensus_are_retrieved():
    data = from_dicts({"a": {"q": ["x"]}, "b": {"q": ["y"]}}, labels={"q": {"x": 1, "y": 1}})
    consensus = juryrank.method("rrf").fit_predict(data)
    assert evaluate(consensus, data, "R@5")["R@5"] == 1.0


def test_a_labelled_query_that_is_not_ranked_counts_zero_with_a_warning():
    with pytest.warns(DataWarning, match="run ranks nothing in 1 of 2 queries that have labels; they count as 0"):
        found = evaluate({"q1": RUN["q1"]}, LABELS, "RR")
    assert found["RR"] == 0.25


def test_a_query_without_labels_is_left_out_with_a_warning():
    with pytest.warns(DataWarning, match="run: 1 of 2 queries have no labels; left out"):
        found = evaluate(RUN, {"q1": LABELS["q1"]}, "RR")
    assert (found["RR"], found.queries) == (0.5, ("q1",))


def test_unlabelled_queries_of_a_dataset_are_left_out_with_a_warning():
    data = from_dicts({"e": RUN}, labels={"q1": {"b": 1}})
    consensus = juryrank.method("rrf").fit_predict(data)
    with pytest.warns(DataWarning) as caught:
        assert evaluate(consensus, data, "RR")["RR"] == 0.5
    assert any("1 of 2 queries have no labels; left out" in str(w.message) for w in caught)


def test_queries_that_do_not_match_at_all_are_an_error():
    told = "none of the 1 queries with labels is in run, .* like 'q1' in run and '1' in the labels; .*prefix 'q'"
    with pytest.raises(DataError, match=told):
        evaluate(RUN, {"1": {"b": 1}}, "RR")


def test_data_without_a_single_labelled_query_is_an_error():
    data = from_dicts({"e": RUN})
    for labels in ({}, {"q1": {}}):
        with pytest.raises(DataError, match="no query has labels"):
            evaluate(data, labels, "RR")


def test_items_in_the_wrong_case_are_an_error():
    labels = {"q1": {"A": 1, "B": 0}, "q2": {"X": 2}}
    with pytest.raises(DataError, match=r"no ranked item is judged .* all would match if case were ignored"):
        evaluate(RUN, labels, "RR")


def test_two_items_in_the_wrong_case_may_be_right_and_are_a_warning():
    with pytest.warns(DataWarning, match=r"no ranked item is judged .* all would match if case were ignored"):
        assert evaluate(RUN, {"q1": {"A": 1}, "q2": {"X": 2}}, "RR")["RR"] == 0.0


def test_a_run_that_finds_nothing_has_the_value_zero_with_a_warning():
    with pytest.warns(DataWarning, match="no ranked item is judged in any of the 2 queries with labels"):
        assert evaluate(RUN, {"q1": {"z": 1}, "q2": {"w": 1}}, "RR")["RR"] == 0.0


def test_an_expert_without_a_list_in_the_labelled_queries_counts_zero():
    data = from_dicts({"x": {"q1": ["a"], "q2": ["b"]}, "y": {"q2": ["b"]}}, labels={"q1": {"a": 1}})
    with pytest.warns(DataWarning) as told:
        assert evaluate(data, data, "RR")["RR"] == {"x": 1.0, "y": 0.0}
    assert sorted(str(w.message) for w in told) == [
        "1 of 2 queries have no labels; left out",
        "x: 1 of 2 queries have no labels; left out",
        "y ranks nothing in 1 of 1 queries that have labels; they count as 0",
        "y: 1 of 2 queries have no labels; left out",
    ]


def test_one_run_that_finds_something_is_enough_to_be_quiet():
    runs = {"ours": {"q1": ["k"], "q2": ["l"]}, "theirs": RUN}
    assert evaluate(runs, LABELS, "RR")["RR"] == {"ours": 0.0, "theirs": 0.75}


def test_queries_may_stand_in_any_order():
    data = random_dataset(3)
    consensus = juryrank.method("rrf").fit_predict(data)
    mixed = np.array([4, 0, 5, 2, 1, 3])
    wanted = evaluate(consensus, data, "nDCG@5").per_query["nDCG@5"]
    assert np.array_equal(evaluate(consensus[mixed], data, "nDCG@5").per_query["nDCG@5"], wanted)
    assert np.array_equal(evaluate(consensus, data[mixed], "nDCG@5").per_query["nDCG@5"], wanted[mixed])


def test_a_query_scores_the_same_alone():
    data = random_dataset(4)
    consensus = juryrank.method("rrf").fit_predict(data)
    together = evaluate(consensus, data, "AP").per_query["AP"]
    alone = [evaluate(consensus[q], data[q], "AP")["AP"] for q in range(len(data))]
    assert together.tolist() == alone


def test_nothing_that_is_given_is_written_to():
    run, labels = {q: dict(r) for q, r in RUN.items()}, {q: dict(r) for q, r in LABELS.items()}
    first = evaluate(run, labels, ["nDCG", "AP", "RBO"])
    assert (run, labels) == (RUN, LABELS)
    with pytest.raises(ValueError, match="read-only"):
        first.values[0] = 0
    assert evaluate(run, labels, ["nDCG", "AP", "RBO"]).means() == first.means()


def test_scores_that_contradict_ranks_are_not_used():
    import polars as pl

    from juryrank.data.long_table import from_long

    rows = {"query": ["q"] * 2, "item": ["a", "b"], "expert": ["e"] * 2, "rank": [1.0, 2.0], "score": [0.1, 0.9]}
    data = from_long(pl.DataFrame(rows))
    with pytest.warns(DataWarning, match="1 entries have a higher score than the entry ranked above them"):
        assert evaluate(data, {"q": {"a": 1}}, "RR")["RR"] == {"e": 1.0}


def test_an_expert_with_several_lists_in_a_query_is_an_error():
    rankings = from_orders([["a", "b"], ["b", "a"]]).rankings
    twice = juryrank.Rankings(**{**vars(rankings), "experts": ("e",), "list_expert": np.zeros(2, np.int32)})
    with pytest.raises(DataError, match="one list per query, but expert 'e' has several in query 'all'"):
        evaluate(Dataset(rankings=twice), {"all": {"a": 1}}, "RR")


@pytest.mark.parametrize(
    ("metrics", "error"), [([], ParameterError), ("nope", UnknownNameError), (["AP", "P"], ParameterError)]
)
def test_metrics_must_be_metrics(metrics, error):
    with pytest.raises(error):
        evaluate(RUN, LABELS, metrics)


def test_other_mistakes_are_clear_errors():
    with pytest.raises(UnknownNameError, match="no convention 'terc'; did you mean 'trec'"):
        evaluate(RUN, LABELS, "AP", convention="terc")
    with pytest.raises(UnknownNameError, match="no metric or name here 'P@5'"):
        evaluate(RUN, LABELS, "AP")["P@5"]
    with pytest.raises(DataError, match="neither labels nor a reference ranking"):
        evaluate(RUN, from_dicts({"e": RUN}), "AP")
    with pytest.raises(DataError, match=r"read takes a path, an open file, .*, got int;"):
        evaluate(3, LABELS, "AP")
    with pytest.raises(DataError, match=r"got list"):
        evaluate(RUN, [1], "AP")
    with pytest.raises(DataError, match=r"labels of ERR@5 must be at most 4, got 7; use ERR\(max_rel=7\)@5"):
        evaluate(RUN, {"q1": {"a": 7}, "q2": {"x": 1}}, "ERR@5")


def test_an_evaluation_reads_well_and_keeps_everything():
    found = evaluate(RUN, LABELS, ["RR", "P@1"])
    assert repr(found) == "Evaluation(RR 0.7500, P@1 0.5000)"
    assert "| run  | 0.7500 | 0.5000 |" in str(found)
    frame = found.to_frame()
    assert frame.columns == ["name", "query", "RR", "P@1"]
    assert frame.row(1) == ("run", "q2", 1.0, 1.0)
    told = json.loads(found.render("json"))
    assert told["means"] == {"run": {"RR": 0.75, "P@1": 0.5}}
    assert told["per_query"]["run"]["RR"] == [0.5, 1.0]
    assert (told["convention"], told["queries"]) == ("trec", ["q1", "q2"])


def test_a_metric_can_be_asked_without_evaluate():
    data = random_dataset(5)
    consensus = Consensus(data.rankings, np.arange(data.rankings.n_slots, dtype=float))
    mean = NDCG(cutoff=5).per_query(judge(consensus, data)).mean()
    assert mean == pytest.approx(evaluate(consensus, data, "nDCG@5")["nDCG@5"], abs=1e-15)
