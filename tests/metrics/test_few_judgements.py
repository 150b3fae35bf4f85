"""Metrics for incomplete judgements, against pytrec_eval and ir_measures."""

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from juryrank.data import Dataset
from juryrank.data.build import from_dicts
from juryrank.errors import UnknownNameError
from juryrank.evaluation.evaluate import evaluate

ITEMS = [f"i{i}" for i in range(12)]
SCORES = st.sampled_from([0.0, 1.0, 2.0]) | st.floats(-1e3, 1e3)
RUNS = st.dictionaries(st.sampled_from(ITEMS), SCORES, min_size=1)
GRADES = st.dictionaries(st.sampled_from(ITEMS), st.integers(-2, 3), min_size=1)
LABELS = GRADES.map(lambda judged: {**judged, "never ranked": 1})  # trec_eval crashes without a label of 0 or more


def by_trec_eval(run, labels, names, rel=1, condensed=False):
    asked = {name.replace("_cut_", "_cut.").replace("P_", "P.") for name in names}
    evaluator = pytrec_eval.RelevanceEvaluator(
        {"q": labels}, asked, relevance_level=rel, judged_docs_only_flag=condensed
    )
    return [evaluator.evaluate({"q": run})["q"][name] for name in names]


@settings(deadline=None, max_examples=200)
@pytest.mark.filterwarnings("ignore::juryrank.errors.DataWarning")
@given(run=RUNS, labels=LABELS, rel=st.integers(1, 3))
def test_bpref_and_inferred_ap_are_those_of_trec_eval(run, labels, rel):
    found = evaluate({"q": run}, {"q": labels}, [f"Bpref(rel={rel})", f"infAP(rel={rel})"])
    assert list(found.means().values()) == pytest.approx(by_trec_eval(run, labels, ["bpref", "infAP"], rel), abs=1e-9)


def random_case(seed, n_queries=15, n_items=40):
    rng = np.random.default_rng(seed)
    run = {f"q{q}": {f"i{i}": float(s) for i, s in enumerate(rng.random(n_items))} for q in range(n_queries)}
    labels = {q: {i: int(rng.integers(0, 3)) for i in run[q] if rng.random() < 0.3} | {"x": 1} for q in run}
    return run, labels


@pytest.mark.parametrize("text", ["Judged@5", "Judged@100", "Judged"])
def test_the_share_of_judged_items_is_that_of_ir_measures(text):
    run, labels = random_case(1)
    wanted = {v.query_id: v.value for v in ir_measures.iter_calc([ir_measures.parse_measure(text)], labels, run)}
    found = evaluate(run, labels, text)
    assert dict(zip(found.queries, found.per_query[text], strict=True)) == pytest.approx(wanted)


def test_a_label_below_zero_is_of_an_item_that_is_not_judged():
    found = evaluate({"q": ["a", "b", "c", "d"]}, {"q": {"a": 1, "b": -1, "c": 0}}, ["Judged@2", "Judged@4"])
    assert found.means() == {"Judged@2": 0.5, "Judged@4": 0.5}


def test_inferred_ap_of_the_example_of_its_definition():
    # Above the second relevant item (place 5): 1 relevant, 1 irrelevant, 1 in the pool and not judged, 1 elsewhere.
    labels = {"a": 1, "b": 0, "c": -1, "e": 1}
    eps = 1e-5
    wanted = (1.0 + (1 / 5 + 4 / 5 * 3 / 4 * (1 + eps) / (2 + 2 * eps))) / 2
    assert evaluate({"q": ["a", "b", "c", "d", "e"]}, {"q": labels}, "infAP")["infAP"] == pytest.approx(wanted)


def test_with_all_items_judged_inferred_ap_is_average_precision():
    run, labels = random_case(2)
    whole = {query: {item: labels[query].get(item, 0) for item in run[query]} for query in run}
    found = evaluate(run, whole, ["AP", "infAP"])
    assert found["infAP"] == pytest.approx(found["AP"], abs=1e-4)  # up to the epsilon of its definition


def test_queries_without_relevant_items_have_the_value_zero():
    found = evaluate({"q": ["a", "b"]}, {"q": {"a": 0, "b": 0}}, ["Bpref", "infAP"])
    assert found.means() == {"Bpref": 0.0, "infAP": 0.0}


CONDENSED = {"nDCG@3": "ndcg_cut_3", "nDCG": "ndcg", "AP": "map", "P@5": "P_5", "RR": "recip_rank", "Bpref": "bpref"}


@settings(deadline=None, max_examples=100)
@pytest.mark.filterwarnings("ignore::juryrank.errors.DataWarning")
@given(run=RUNS, labels=LABELS)
def test_condensed_lists_are_those_of_trec_eval_with_judged_documents_only(run, labels):
    data = from_dicts({"run": {"q": run}})
    wanted = by_trec_eval(run, labels, list(CONDENSED.values()), condensed=True)
    for thing in ({"q": run}, data):  # by plain dicts, and by a Dataset
        found = evaluate(thing, {"q": labels}, list(CONDENSED), unjudged="ignore")
        assert found.values.ravel() == pytest.approx(wanted, abs=1e-9)


def test_the_share_of_judged_items_is_that_before_their_removal():
    found = evaluate({"q": ["a", "b", "c"]}, {"q": {"c": 1}}, ["RR", "Judged@2", "Judged@3"], unjudged="ignore")
    assert found.means() == {"RR": 1.0, "Judged@2": 0.0, "Judged@3": pytest.approx(1 / 3)}


def test_the_share_of_judged_items_is_beside_metrics_with_a_cutoff():
    runs = {"x": {"q": ["a", "b"]}, "y": {"q": ["b", "c"]}}
    found = evaluate(runs, {"q": {"a": 1, "b": 0}}, ["nDCG@2", "AP", "P@1"])
    assert [row["judged"] for row in found.rows()] == [1.0, None, 1.0, 0.5, None, 1.0]
    (table,) = found.tables()
    assert table.columns == ("name", "nDCG@2", "AP", "P@1", "Judged@2")  # Judged@1 is complete
    assert [row[-1] for row in table.rows] == ["1.0000", "0.5000"]
    assert "Judged@2: share of the first items that have labels" in table.note
    assert "judge the first items of every row" in table.note
    assert found.to_dict()["judged"] == {
        "x": {"Judged@2": 1.0, "Judged@1": 1.0},
        "y": {"Judged@2": 0.5, "Judged@1": 1.0},
    }
    assert set(found.means()["x"]) == {"nDCG@2", "AP", "P@1"}


def test_shares_that_are_complete_or_the_same_need_no_advice():
    complete = evaluate({"q": ["a", "b"]}, {"q": {"a": 1, "b": 0}}, "nDCG@10")
    assert complete.tables()[0].columns == ("name", "nDCG@10")
    assert complete.tables()[0].note == "1 queries, convention trec."
    same = evaluate({"x": {"q": ["a", "c"]}, "y": {"q": ["c", "a"]}}, {"q": {"a": 1}}, "nDCG@10")
    assert same.tables()[0].note.endswith("the others count as not relevant.")


def test_the_share_is_left_out_when_it_is_not_wanted_or_given_or_has_no_labels():
    labels = {"q": {"a": 1}}
    assert evaluate({"q": ["a", "c"]}, labels, "P@2", judged_share=False).tables()[0].columns == ("name", "P@2")
    named = evaluate({"q": ["a", "c"]}, labels, ["P@2", "Judged@2"])
    assert named.tables()[0].columns == ("name", "P@2", "Judged@2")
    assert named.to_dict()["judged"] == {"run": {}}
    data = from_dicts({"run": {"q": ["a", "c"]}})
    ranks = Dataset(rankings=data.rankings, reference=np.array([1.0, 2.0]))
    for unjudged in ("irrelevant", "ignore"):
        found = evaluate(data, ranks, "KendallTau", unjudged=unjudged)
        assert (found["KendallTau"], found.to_dict()["judged"]) == ({"run": 1.0}, {"run": {}})


def test_a_table_of_condensed_lists_says_what_it_is_for():
    found = evaluate({"q": ["b", "a"]}, {"q": {"a": 1}}, "RR@5", unjudged="ignore")
    assert found["RR@5"] == 1.0
    assert found.to_dict()["unjudged"] == "ignore"
    assert "for choosing between rows, not for reporting" in found.tables()[0].note


def test_an_unknown_treatment_of_unjudged_items_is_refused():
    with pytest.raises(UnknownNameError, match="no treatment of unjudged items 'drop'"):
        evaluate({"q": ["a"]}, {"q": {"a": 1}}, "RR", unjudged="drop")
