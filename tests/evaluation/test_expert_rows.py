"""Experts as rows and baselines of comparisons, the verdict of a comparison, and differences between runs."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import sem, t

import juryrank
from conftest import random_dataset
from juryrank.data.build import from_dicts
from juryrank.errors import DataError, DataWarning, ParameterError, UnknownNameError
from juryrank.evaluation.compare import compare
from juryrank.evaluation.evaluate import evaluate
from juryrank.evaluation.folds import seeded_folds
from juryrank.evaluation.verdict import verdict
from juryrank.methods import method

DEMO = Path(juryrank.__file__).parent / "demo" / "cooking.csv"


@pytest.fixture(scope="module")
def demo():
    return juryrank.read(DEMO)


def alone(data, metric="nDCG@10"):
    """Each expert in each query, by evaluate; 0 where it ranks nothing."""
    with pytest.warns(DataWarning):
        found = evaluate(data, data, metric)
    return dict(zip(found.queries, found.values[:, 0].T, strict=True))


def test_each_expert_alone_is_a_row_with_the_values_of_evaluate(demo):
    found = compare(["rrf", "borda"], demo, "nDCG@10", experts=True)
    assert found.names == ("rrf", "borda", *(f"expert:{name}" for name in demo.experts))
    values = alone(demo)
    assert np.allclose(found.values[2:, 0], np.array([values[q] for q in found.queries]).T)
    assert found.verdict is None  # nothing is held out


def test_the_best_expert_of_a_fold_is_chosen_on_its_training_queries(demo):
    folds = seeded_folds(4, demo, 0)
    found = compare(["rrf"], demo, "nDCG@10", folds=folds, experts=True)
    values, expected = alone(demo), []
    for fold in folds:
        best = int(np.argmax(sum(values[demo.queries[q]] for q in fold.train)))
        expected += [values[demo.queries[q]][best] for q in sorted(fold.test)]
    assert np.allclose(found.values[found.names.index("best-expert"), 0], expected)


@pytest.mark.parametrize("baseline", ["expert:bm25", "best-expert"])
def test_an_expert_may_be_the_baseline_with_or_without_the_others(demo, baseline):
    few, many = (compare(["rrf"], demo, "AP", folds=4, baseline=baseline, experts=more) for more in (False, True))
    assert few.names == ("rrf", baseline)
    assert (few.baseline, many.baseline) == (baseline, baseline)
    assert few.versus["rrf", "AP"].difference == many.versus["rrf", "AP"].difference
    assert few.versus["rrf", "AP"].difference == pytest.approx(few.mean("rrf", "AP") - few.mean(baseline, "AP"))


def test_a_baseline_may_have_any_characters():
    name = "a:b=c, d|é "
    data = from_dicts({name: {"q": ["x", "y"]}, "other": {"q": ["y", "x"]}}, labels={"q": {"x": 1, "y": 0}})
    assert compare(["rrf"], data, "RR", baseline=f"expert:{name}").mean(f"expert:{name}", "RR") == 1.0


@pytest.mark.parametrize("baseline", ["expert:bm52", "expert:", "nobody"])
def test_an_unknown_baseline_is_refused(demo, baseline):
    with pytest.raises(UnknownNameError, match=baseline):
        compare(["rrf"], demo, "AP", baseline=baseline)


def test_the_best_expert_needs_folds(demo):
    with pytest.raises(DataError, match="best-expert is chosen on training queries: give folds"):
        compare(["rrf"], demo, "AP", baseline="best-expert")


def test_the_verdict_of_a_comparison_has_its_means(demo):
    found = compare(["rrf", "jury", "borda"], demo, ["nDCG@10", "AP"], folds=6, experts=True)
    over_queries = found.values[:, 0].mean(axis=1)
    for alternative, row in (("learned", "jury"), ("rrf", "rrf"), ("expert", "best-expert")):
        assert found.verdict.means[alternative] == pytest.approx(over_queries[found.names.index(row)])
    assert found.verdict.method == "jury"
    assert found.tables()[-1].note == found.verdict.text
    assert json.loads(found.render("json"))["verdict"]["choice"] == found.verdict.choice


def test_the_verdict_is_about_the_learned_method_with_the_highest_mean(demo):
    found = compare(["jury", "ridge", "borda-fuse"], demo, "nDCG@10", folds=4)
    assert found.verdict.method == max(found.names, key=lambda name: found.mean(name, "nDCG@10"))
    assert "rrf" in found.verdict.means  # although it is no row


def test_a_comparison_of_one_learned_method_shows_the_verdict(demo):
    found = compare(["jury"], demo, "nDCG@10", folds=4)
    assert found.verdict.text in found.tables()[-1].note


def test_methods_with_held_out_values_give_their_own_verdict(demo):
    assert verdict(demo).to_dict() == method("jury").fit(demo).verdict().to_dict()
    assert verdict(demo, "ridge").method == "ridge"


def test_folds_another_metric_and_other_methods_mean_cross_validation(demo):
    by_folds = verdict(demo, "jury", folds=24)
    assert by_folds.n_queries == 24
    assert by_folds.means["learned"] == pytest.approx(verdict(demo).means["learned"])  # 24 folds leave one query out
    assert verdict(demo, "jury", "AP").metric == "AP"
    assert (
        verdict(demo, method("jury", target="AP"), "AP").means == method("jury", target="AP").fit(demo).verdict().means
    )
    assert verdict(demo, "borda-fuse", folds=3).method == "borda-fuse"


def test_a_verdict_needs_a_method_that_learns_from_labels(demo):
    with pytest.raises(ParameterError, match="a verdict is about a method that learns from labels"):
        verdict(demo, "rrf")


def test_a_verdict_needs_labels():
    with pytest.raises(juryrank.JuryrankError, match="labels"):
        verdict(juryrank.Dataset(rankings=random_dataset(0).rankings), "kernel")


def test_differences_between_runs_are_those_of_the_t_test(demo):
    with pytest.warns(DataWarning):
        found = evaluate(demo, demo, ["nDCG@10", "AP"], baseline="bm25")
    by_name = found.per_query
    for (name, metric), one in found.versus.items():
        apart = by_name[name][metric] - by_name["bm25"][metric]
        mean, error = apart.mean(), sem(apart)
        assert one.p_t == pytest.approx(2 * t.sf(abs(mean / error), 23))
        assert (one.low, one.high) == pytest.approx(t.interval(0.95, 23, mean, error))
        assert one.difference == pytest.approx(found[name][metric] - found["bm25"][metric])
    assert len(found.versus) == 10
    assert [row["difference"] is None for row in found.rows()] == [row["name"] == "bm25" for row in found.rows()]
    assert found.tables()[1].title == "Against bm25"
    assert json.loads(found.render("json"))["baseline"] == "bm25"


def test_differences_are_those_of_compare(demo):
    with pytest.warns(DataWarning):
        one = evaluate(demo, demo, "AP", baseline="bm25").versus["dense", "AP"]
    assert (
        one.p_t == compare(["rrf"], demo, "AP", baseline="expert:bm25", experts=True).versus["expert:dense", "AP"].p_t
    )


def test_a_baseline_must_be_one_of_several_rankings():
    runs = {"a": {"q": {"x": 1.0}}, "b": {"q": {"y": 1.0}}}
    with pytest.raises(UnknownNameError, match="no ranking for the baseline 'c'"):
        evaluate(runs, {"q": {"x": 1}}, "RR", baseline="c")
    with pytest.raises(ParameterError, match="'run' is the only ranking"):
        evaluate(runs["a"], {"q": {"x": 1}}, "RR", baseline="run")
