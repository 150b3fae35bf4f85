"""Held-out values of experts: chosen on some queries, evaluated on others; sums that merge; old model files."""

from copy import copy
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import stdtrit

from conftest import held_out_unjudged, random_dataset
from juryrank.data.build import from_dicts
from juryrank.data.long_table import labels_from_dict
from juryrank.errors import DataError
from juryrank.evaluation.evaluate import evaluate
from juryrank.io import read
from juryrank.learning.expert_lists import experts_alone
from juryrank.learning.held_out import PARTS, SPLITS, HeldOutValues
from juryrank.learning.label_survey import POSITIVES_ONLY
from juryrank.learning.verdict_rule import t_quantile
from juryrank.methods import method
from juryrank.models import from_json, to_json

OLD_MODEL = (  # written by version 0.1: 4 queries, good ranks a b c, bad c b a, labels 2 1 0
    '{"format":"juryrank-model","version":1,"method":"jury","params":{"target":"nDCG@10","experts":"individual",'
    '"threshold":500,"unjudged":"irrelevant","shrink":20.0,"anchor":5.0},"learned":{"dict":{"own_":["bad","good"],'
    '"pooled_":[],"curves_":{"array":{"dtype":"float64","shape":[2,3],"values":[570.9711382800951,-0.4921450266644714,'
    '0.0,575.3887266727096,0.49194688049241064,0.0]}},"stranger_":{"array":{"dtype":"float64","shape":[3],"values":['
    '573.1799324764024,-9.907308603038234e-05,0.0]}},"n_queries_":4,"seen_":{"array":{"dtype":"int64","shape":[2],'
    '"values":[4,4]}},"gram_":{"array":{"dtype":"float64","shape":[28],"values":[0.00137903211225467,'
    "0.006178945297762195,0.0,-0.001378792966826377,-0.006173411087911983,0.0,-0.08831934815757042,"
    "0.027727266954444454,0.0,-0.006173411087911983,-0.027599196437333856,0.0,-0.3955842132512151,0.0,0.0,0.0,0.0,0.0,"
    "0.00137903211225467,0.006178945297762195,0.0,0.08831934815757042,0.027727266954444454,0.0,0.3955842132512151,0.0,"
    '0.0,5.65685424949238]}},"held_out_":{"array":{"dtype":"float64","shape":[5],"values":[4.0,1.1222504011824221,'
    "0.3148614907385269,3.8009376671593422,2.67868726597692]}}}}}"
)


def old_data(n_queries=4):
    queries = [f"q{n}" for n in range(n_queries)]
    runs = {name: {q: list(order) for q in queries} for name, order in (("good", "abc"), ("bad", "cba"))}
    return from_dicts(runs, labels={q: {"a": 2, "b": 1, "c": 0} for q in queries})


def values_by_expert(data, metric="nDCG@10", unjudged="irrelevant"):
    """The metric of each expert in each query, by evaluate; 0 where it ranks nothing."""
    with pytest.warns():
        found = evaluate(data, data, metric, unjudged=unjudged)
    return {name: found.per_query[name][metric] for name in data.experts}


def trec_covid_demo():
    folder = files("juryrank") / "demo" / "trec-covid"
    return read(str(folder / "runs.parquet"), labels=str(folder / "qrels.parquet"))


def judged_by_rrf(data, depth):
    """The data with the labels of the first ``depth`` items of RRF in each query alone."""
    first = method("rrf").fit(data).predict(data).top(depth)
    known = {q: dict(zip(items, labels, strict=True)) for q, (items, labels) in labels_by_query(data).items()}
    labels = {q: {item: known[q].get(item, 0.0) for item in items} for q, items in first.items()}
    return replace(data, labels=from_dicts({"rrf": first}, labels=labels).labels)


def labels_by_query(data):
    ptr, labels = data.labels.label_ptr, data.labels
    return {
        q: (labels.items[labels.label_item[ptr[n] : ptr[n + 1]]].tolist(), labels.label_value[ptr[n] : ptr[n + 1]])
        for n, q in enumerate(labels.queries)
    }


def test_if_few_of_the_first_items_are_judged_the_values_are_those_of_condensed_lists():
    data = judged_by_rrf(trec_covid_demo(), 3)
    found = method("jury").fit(data).verdict()
    fused = method("rrf").fit(data).predict(data)
    judged = evaluate(fused, data, "nDCG@10", unjudged="ignore").per_query["nDCG@10"]
    learned_from = [max(labels) > 0 for _, labels in labels_by_query(data).values()]
    assert found.n_condensed == found.n_queries == sum(learned_from) < len(data)
    assert found.means["rrf"] == pytest.approx(np.mean(np.array(judged)[learned_from]))
    assert "unjudged items were removed" in found.text


def test_judgements_of_the_first_items_of_rrf_do_not_make_rrf_the_verdict():
    whole = trec_covid_demo()
    assert method("jury").fit(whole).verdict().choice == "learned"  # by all labels, and these are the first of RRF:
    shallow = method("jury").fit(judged_by_rrf(whole, 3))
    assert shallow.verdict().choice == "learned"
    models = (shallow, method("rrf").fit(whole))
    plain = [evaluate(m.predict(whole), judged_by_rrf(whole, 3), "nDCG@10")["nDCG@10"] for m in models]
    assert plain[0] < plain[1]  # what would be compared with unjudged items as not relevant


def test_with_deep_judgements_unjudged_items_are_not_relevant():
    found = method("jury").fit(trec_covid_demo()).verdict()
    assert found.n_condensed == 0
    assert "removed" not in found.text


def test_merged_models_count_the_queries_with_condensed_lists():
    whole = trec_covid_demo()
    jury = method("jury", unjudged="irrelevant")
    shallow, deep = copy(jury).fit(judged_by_rrf(whole[:10], 3)), copy(jury).fit(whole[10:])
    both = from_json(to_json(shallow.merge(deep))).verdict()
    assert both.n_condensed == shallow.verdict().n_queries > 0
    assert f"in {both.n_condensed} queries" in both.text


@pytest.mark.parametrize("name", ["jury", "ridge"])
def test_a_model_of_relevant_items_only_has_values_of_whole_lists_and_shows_nothing(name):
    """Without unjudged items, every list that has a labelled item would be perfect."""
    data = random_dataset(3, n_queries=12, n_items=40, judged=1.0)
    gold = {query: {items[0]: (1.0, 1.0)} for query, (items, _) in labels_by_query(data).items()}
    some = replace(data, labels=labels_from_dict(gold))
    model = method(name).fit(some)
    assert model.verdict().labels == POSITIVES_ONLY
    assert model.verdict().evidence == "none"
    assert model.condensed_ == 0
    assert model.held_out_[4] / model.held_out_[0] < 1.0
    halves = method(name).fit(some[:6]), method(name).fit(some[6:])
    for other in (
        halves[0].merge(halves[1]),
        method(name).fit(some[:6]).partial_fit(some[6:]),
        from_json(to_json(model)),
    ):
        assert other.labels_.tolist() == model.labels_.tolist()
        assert other.verdict().evidence == "none"


@pytest.mark.parametrize("name", ["jury", "ridge"])
def test_rows_are_the_values_of_a_refit_without_the_query_of_rrf_and_of_each_expert(name):
    data = random_dataset(5, n_queries=7)
    model = method(name).fit(data)
    unjudged = held_out_unjudged(model)
    alone = values_by_expert(data, unjudged=unjudged)
    assert model.row_counts_.tolist() == [1.0] * 7
    for q in range(7):
        refitted = method(name).fit(data[[p for p in range(7) if p != q]])
        fused = [
            evaluate(m.predict(data[q]), data[q], "nDCG@10", unjudged=unjudged)["nDCG@10"]
            for m in (refitted, method("rrf").fit(data))
        ]
        assert_allclose(
            model.row_values_[q], [*fused, *(alone[e][q] for e in (*model.own_, *model.pooled_))], atol=1e-12
        )


def test_the_expert_of_a_held_out_query_is_chosen_on_the_other_queries():
    rng = np.random.default_rng(3)
    values = rng.random((8, 5))
    held_out = HeldOutValues(experts=("c", "a", "b"), counts=np.ones(8), values=values, judged=np.zeros(5))
    found = held_out.expert_chosen_on_others()
    # The slow version: all splits of the rows, sorted by the first two columns, with the same random numbers.
    order = sorted(range(8), key=lambda q: (values[q, 0], values[q, 1]))
    same, expected = np.random.default_rng(0), np.zeros(8)
    for _ in range(SPLITS):
        shuffled = [order[n] for n in same.permutation(8)]
        for part in (shuffled[:3], shuffled[3:6], shuffled[6:]):
            others = [q for q in range(8) if q not in part]
            best = max(range(2, 5), key=lambda k: sum(values[q, k] for q in others))
            for q in part:
                expected[q] += values[q, best] / SPLITS
    assert PARTS == 3
    assert_allclose(found, expected)
    assert found.mean() < values[:, 2:].mean(axis=0).max()  # the best of all on these queries would be optimistic


def test_choosing_on_other_queries_is_not_optimistic_and_choosing_on_the_same_is():
    rng = np.random.default_rng(0)
    on_others, on_same = [], []
    for _ in range(300):  # ten experts that are equally good: the mean of any choice on new queries is 0.5
        values = rng.random((12, 12))
        held_out = HeldOutValues(experts=tuple("abcdefghij"), counts=np.ones(12), values=values, judged=np.zeros(12))
        on_others.append(held_out.expert_chosen_on_others().mean())
        on_same.append(values[:, 2:].mean(axis=0).max())
    assert np.mean(on_others) == pytest.approx(0.5, abs=0.015)
    assert np.mean(on_same) > 0.6


def test_equal_experts_are_chosen_by_name_whatever_their_order():
    for names in (("b", "a"), ("a", "b")):
        values = np.column_stack([np.linspace(0, 1, 6)] * 4)
        held_out = HeldOutValues(experts=names, counts=np.ones(6), values=values, judged=np.zeros(4))
        assert held_out.experts[held_out.best_expert()] == "a"
        assert_allclose(held_out.expert_chosen_on_others(), values[:, 0])


@pytest.mark.parametrize("name", ["jury", "ridge"])
@pytest.mark.parametrize("experts", ["individual", "shared", "hybrid"])
def test_merged_and_stepwise_models_have_the_experts_values_of_one_fit(name, experts):
    data = random_dataset(3, n_queries=12)
    params = {"experts": experts, "threshold": 1}
    fitted = method(name, **params).fit(data)
    parts = [method(name, **params).fit(data[some]) for some in (slice(0, 5), slice(5, 12))]
    stepped = method(name, **params)
    for first in (0, 4, 8):
        stepped.partial_fit(data[slice(first, first + 4)])
    expected = dict(zip((*fitted.own_, *fitted.pooled_), fitted.row_values_[:, 2:].T, strict=True))
    for model, order in ((parts[0].merge(parts[1]), range(12)), (parts[1].merge(parts[0]), [*range(5, 12), *range(5)])):
        found = dict(zip((*model.own_, *model.pooled_), model.row_values_[:, 2:].T, strict=True))
        assert found.keys() == expected.keys()
        for expert, values in found.items():
            assert_allclose(values, expected[expert][list(order)], atol=1e-12)
        judged = dict(zip((*fitted.own_, *fitted.pooled_), fitted.judged_[2:], strict=True))
        assert_allclose(model.judged_[2:], [judged[e] for e in (*model.own_, *model.pooled_)])
    for model in (parts[0].merge(parts[1]), stepped):
        assert model.verdict().n_queries == 12
        assert model.verdict().expert == fitted.verdict().expert
        assert model.verdict().means["rrf"] == pytest.approx(fitted.verdict().means["rrf"])


def test_a_saved_model_gives_the_same_verdict():
    model = method("jury").fit(random_dataset(3, n_queries=12))
    assert from_json(to_json(model)).verdict().to_dict() == model.verdict().to_dict()


def test_many_queries_share_rows_and_means_stay_exact():
    rng = np.random.default_rng(1)
    whole, every = HeldOutValues.empty(("a", "b")), []
    for _ in range(30):
        values = rng.random((11, 4))
        every.append(values)
        part = HeldOutValues(experts=("a", "b"), counts=np.ones(11), values=values, judged=np.ones(4))
        whole = whole.add(part, ("a", "b"), most_rows=50)
    assert len(whole.counts) <= 50
    assert whole.n_queries == 330
    assert_allclose(whole.counts @ whole.values / 330, np.vstack(every).mean(axis=0))
    exact = HeldOutValues(experts=("a", "b"), counts=np.ones(330), values=np.vstack(every), judged=np.ones(4))
    one, other = (h.verdict("jury", "nDCG@10").differences["learned - rrf"] for h in (whole, exact))
    assert one.mean == pytest.approx(other.mean)
    assert one.high - one.low == pytest.approx(other.high - other.low, rel=0.5)  # from fewer, larger groups


def test_an_expert_that_one_part_lacks_has_the_value_0_there():
    one = HeldOutValues(experts=("a",), counts=np.ones(1), values=np.array([[0.5, 0.4, 0.3]]), judged=np.ones(3))
    other = HeldOutValues(experts=("b",), counts=np.ones(1), values=np.array([[0.6, 0.5, 0.9]]), judged=np.ones(3))
    both = one.add(other, ("b", "a"))
    assert_allclose(both.values, [[0.5, 0.4, 0.0, 0.3], [0.6, 0.5, 0.9, 0.0]])
    assert_allclose(both.judged, [2.0, 2.0, 2.0, 2.0])  # which shows nothing unjudged there


def test_a_model_of_an_earlier_version_loads_and_says_that_it_has_no_verdict():
    old = from_json(OLD_MODEL)
    assert old.verdict() is None
    assert old.predict(old_data()).top(1)["q0"] == ["a"]
    summary, verdict = old.report().split("\n")
    assert summary.startswith("jury: learned from 4 queries and 2 experts. On held-out queries: nDCG@10 0.9502, RRF")
    assert verdict.startswith("No verdict: the model is of an earlier version")
    assert from_json(to_json(old)).verdict() is None


def test_a_model_of_an_earlier_version_learns_on_and_judges_by_the_new_queries():
    old = from_json(OLD_MODEL).partial_fit(old_data(3))
    assert (old.n_queries_, old.verdict().n_queries) == (7, 3)
    assert old.merge(from_json(OLD_MODEL)).verdict().n_queries == 3


def test_a_model_that_lacks_more_than_earlier_versions_do_is_refused():
    with pytest.raises(DataError, match="jury learns"):
        from_json(OLD_MODEL.replace('"n_queries_":4,', ""))


def test_an_expert_with_several_lists_in_a_query_is_rrf_of_them():
    two = from_dicts({"x": {"q": ["a", "b", "c"]}, "y": {"q": ["b", "d"]}, "z": {"q": ["d"]}}).rankings
    alone = experts_alone(replace(two, experts=("x", "z"), list_expert=np.array([0, 0, 1], np.int32)))
    assert alone["x"].to_dict() == {"q": pytest.approx({"b": 1 / 61 + 1 / 62, "a": 1 / 61, "d": 1 / 62, "c": 1 / 63})}
    assert list(alone["z"].to_dict()["q"]) == ["d"]


@pytest.mark.parametrize("freedom", [*range(1, 40), 99, 100, 999, 1000, 5000])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_quantiles_of_t_are_those_of_scipy(freedom, level):
    within = 1e-9 if freedom <= 1000 else 2e-3
    assert t_quantile(level, freedom) == pytest.approx(stdtrit(freedom, (1 + level) / 2), rel=within)


def test_without_degrees_of_freedom_the_quantile_is_infinite():
    assert t_quantile(0.95, 0) == np.inf
