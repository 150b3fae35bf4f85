"""Comparisons: folds, baseline, tests of significance."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import random_dataset
from juryrank.compare import compare
from juryrank.compare.folds import seeded_folds
from juryrank.compare.significance import holm, randomisation, randomisations, t_test, win_tie_loss
from juryrank.data import Dataset, Fold
from juryrank.errors import DataError, ParameterError, UnknownNameError
from juryrank.evaluate import evaluate
from juryrank.methods import RRF, Aggregator, method
from juryrank.params import param


@dataclass(kw_only=True)
class Popular(Aggregator):
    """Knows which items were relevant in the queries it learned from."""

    name = "popular"
    supervised = True
    power: float = param(1.0, "of the count", above=0)

    def _learn(self, data, valid):
        good = data.rankings.items[data.rankings.slot_item[data.slot_labels >= 1]]
        self.names_, self.counts_ = np.unique(good.astype(str), return_counts=True)
        self.seen_ = (len(data), None if valid is None else len(valid))

    def _scores(self, rankings, out):
        count = dict(zip(self.names_, self.counts_**self.power, strict=True))
        out[:] = [count.get(name, 0) for name in rankings.items[rankings.slot_item]]


@pytest.fixture
def data():
    return random_dataset(7, n_queries=25)


def test_without_folds_a_comparison_is_an_evaluation_of_all_queries(data):
    found = compare({"rrf": "rrf", "steep": RRF(k=1)}, data, ["nDCG@5", "AP"])
    for label, model in {"rrf": RRF(), "steep": RRF(k=1)}.items():
        wanted = evaluate(model.fit_predict(data), data, ["nDCG@5", "AP"])
        assert {m: found.mean(label, m) for m in ("nDCG@5", "AP")} == pytest.approx(wanted.means())
    assert found.baseline == "rrf"
    assert found.queries == data.queries


def test_means_are_over_the_queries_of_a_fold_then_over_folds(data):
    uneven = [Fold("a", tuple(range(5, 25)), (), tuple(range(5))), Fold("b", tuple(range(5)), (), tuple(range(5, 25)))]
    found = compare(["rrf"], data, "AP", folds=uneven)
    values = evaluate(RRF().fit_predict(data), data, "AP").per_query["AP"]
    assert found.mean("rrf", "AP") == pytest.approx((values[:5].mean() + values[5:].mean()) / 2)
    assert found.values[0, 0] == pytest.approx(values)
    assert found.folds == ("a", "b")


def test_a_method_that_learns_never_sees_the_queries_it_is_tested_on(data):
    given = Popular()
    found = compare([given, "rrf"], data, "AP", folds=5, seed=3)
    wanted = {}
    for fold in seeded_folds(5, data, 3):
        test = data[list(fold.test)]
        model = Popular().fit(data[list(fold.train)])
        wanted.update(zip(test.queries, evaluate(model.predict(test), test, "AP").per_query["AP"], strict=True))
    assert dict(zip(found.queries, found.values[0, 0], strict=True)) == wanted
    assert not hasattr(given, "seen_"), "what was given is not fitted"


def test_seeded_folds_test_every_query_once_and_keep_parts_apart(data):
    folds = seeded_folds(5, data, 0)
    assert sorted(q for fold in folds for q in fold.test) == list(range(25))
    assert sorted(q for fold in folds for q in fold.valid) == list(range(25))
    for fold in folds:
        assert sorted((*fold.train, *fold.valid, *fold.test)) == list(range(25))
    assert seeded_folds(5, data, 0) == folds != seeded_folds(5, data, 1)
    assert [fold.valid for fold in seeded_folds(2, data, 0)] == [(), ()]


def test_the_folds_of_the_data_are_used(data):
    folds = seeded_folds(3, data, 0)
    with_folds = Dataset(rankings=data.rankings, labels=data.labels, folds=folds)
    assert compare(["rrf"], with_folds, "AP").folds == ("1", "2", "3")


def test_a_comparison_is_the_same_every_time(data):
    first, again = (compare(["rrf", Popular()], data, ["AP", "P@3"], folds=4, seed=5) for _ in range(2))
    assert first.versus == again.versus
    assert np.array_equal(first.values, again.values)


def test_tests_of_significance_are_of_the_differences_to_the_baseline(data):
    methods = {"rrf": RRF(), "steep": RRF(k=1), "dense": RRF(ranks="dense")}
    found = compare(methods, data, ["AP", "nDCG@3"], baseline="steep", seed=9)
    per_query = {label: evaluate(m.fit_predict(data), data, "AP").per_query["AP"] for label, m in methods.items()}
    for label in ("rrf", "dense"):
        versus = found.versus[label, "AP"]
        difference = per_query[label] - per_query["steep"]
        assert versus.difference == pytest.approx(difference.mean())
        assert versus.p_t == pytest.approx(p_of_t(difference))
        assert versus.p_random == randomisation(difference, seed=9)
        assert (versus.win, versus.tie, versus.loss) == win_tie_loss(difference)
    corrected = holm(np.array([found.versus[label, "AP"].p_t for label in ("rrf", "dense")]))
    assert [found.versus[label, "AP"].p_t_holm for label in ("rrf", "dense")] == corrected.tolist()
    assert ("steep", "AP") not in found.versus


def test_progress_is_wrapped_around_the_work(data):
    seen = []
    compare(["rrf", Popular()], data, "AP", folds=3, progress=lambda work: (seen.append(len(work)), iter(work))[1])
    assert seen == [6]


def test_times_are_measured_for_every_method(data):
    found = compare(["rrf", Popular()], data, "AP", folds=3)
    assert set(found.seconds) == {"rrf", "popular"}
    assert all(fit >= 0 and predict > 0 for fit, predict in found.seconds.values())


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ({"methods": [Popular()]}, DataError, "learns from labels, and must be tested on other queries: give folds=5"),
        ({"methods": []}, ParameterError, "at least one method"),
        ({"methods": ["rrf", RRF(k=1)]}, ParameterError, "a label of its own, got 'rrf' twice"),
        ({"baseline": "borda"}, UnknownNameError, "no method in this comparison 'borda'"),
        ({"methods": ["rff"]}, UnknownNameError, "did you mean 'rrf'"),
        ({"folds": 1}, ParameterError, "folds must be from 2 to 25, the number of queries with labels, got 1"),
        ({"folds": "somewhere"}, ParameterError, "folds must be a number of parts or a list of Fold"),
        ({"folds": [Fold("a", (1,), (), (0,)), Fold("b", (1,), (), (0,))]}, DataError, "a query must be tested once"),
    ],
)  # fmt: skip
def test_mistakes_are_clear_errors(data, call, error, message):
    with pytest.raises(error) as caught:
        compare(**{"methods": ["rrf"], "data": data, "metrics": "AP", **call})
    assert message in str(caught.value)


def test_a_method_that_learns_says_when_there_are_no_labels(data):
    with pytest.raises(DataError, match="neither labels nor a reference"):
        compare([Popular()], Dataset(rankings=data.rankings, folds=seeded_folds(3, data, 0)), "AP")


def test_json_says_how_the_numbers_came_about(data):
    found = compare({"a": method("rrf", k=7), "b": "rrf"}, data, ["AP"], folds=3, seed=4, convention="letor")
    told = json.loads(found.render("json"))
    assert told["methods"]["a"] == {"name": "rrf", "params": RRF(k=7).params()}
    assert (told["seed"], told["convention"], told["folds"], told["baseline"]) == (4, "letor", ["1", "2", "3"], "a")
    assert set(told["versions"]) == {"juryrank", "numpy", "python"}
    assert len(told["per_query"]["b"]["AP"]) == len(told["queries"]) == 25


differences = st.lists(st.integers(-3, 3), min_size=2, max_size=9).map(lambda d: np.array(d, float) / 5)


def p_of_t(difference):
    """Two-sided p of a mean over its standard error, from the parts that scipy has."""
    return 2 * scipy.stats.t.sf(abs(difference.mean()) / scipy.stats.sem(difference), len(difference) - 1)


@settings(deadline=None, max_examples=40)
@given(differences)
def test_randomisation_of_few_pairs_is_exact(difference):
    every = np.array(np.meshgrid(*[[-1, 1]] * len(difference))).reshape(len(difference), -1).T
    as_far = np.abs(every @ difference) >= abs(difference.sum()) - 1e-9
    assert randomisation(difference) == pytest.approx(as_far.mean(), abs=1e-12)
    whole = np.round(5 * difference)  # sums that scipy does not round
    found = scipy.stats.permutation_test((whole,), np.sum, permutation_type="samples", n_resamples=np.inf)
    assert randomisation(whole) == pytest.approx(found.pvalue, abs=1e-12)


def test_randomisation_of_many_pairs_is_near_the_exact_value():
    difference = np.random.default_rng(1).normal(0.25, 1, 18)
    every = (np.arange(2**18)[:, None] >> np.arange(18) & 1) * 2.0 - 1
    exact = (np.abs(every @ difference) >= abs(difference.sum()) - 1e-9).mean()
    assert randomisation(difference) == pytest.approx(exact, abs=5 * np.sqrt(exact / 100_000))
    assert randomisation(difference, seed=1) != randomisation(difference, seed=2)


def test_queries_without_a_value_or_a_difference_change_nothing():
    difference = np.array([0.5, -0.2, 0.3, 0.4])
    padded = np.array([0.5, np.nan, -0.2, 0.0, 0.3, 0.4])
    assert randomisation(padded) == randomisation(difference)
    assert win_tie_loss(padded) == (3, 1, 1)
    assert t_test(padded) == t_test(np.array([0.5, -0.2, 0.0, 0.3, 0.4]))


def test_columns_are_tested_as_if_alone():
    columns = np.random.default_rng(2).normal(0.1, 1, (40, 3))
    assert randomisations(columns, seed=3).tolist() == pytest.approx([randomisation(c, seed=3) for c in columns.T])


@settings(deadline=None)
@given(differences)
def test_the_t_test_follows_the_distribution_of_scipy(difference):
    if len(set(difference)) == 1:
        assert t_test(difference) == (1.0 if difference[0] == 0 else 0.0)
    else:
        assert t_test(difference) == pytest.approx(p_of_t(difference), abs=1e-12)


def test_holm_worked_by_hand():
    # Sorted .005 .01 .03 .04, times 4 3 2 1: .02 .03 .06 .04, and no value below the one before it.
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm(np.array([0.6, np.nan, 0.7]))[[0, 2]].tolist() == [1.0, 1.0]
