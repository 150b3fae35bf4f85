"""Comparisons: folds, baseline, tests of significance."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import random_dataset
from juryrank.data import Dataset, Fold
from juryrank.data.build import from_dicts
from juryrank.errors import DataError, DataWarning, ParameterError, UnknownNameError
from juryrank.evaluation.compare import compare
from juryrank.evaluation.evaluate import as_metrics, evaluate
from juryrank.evaluation.experiment import Experiment
from juryrank.evaluation.folds import seeded_folds, splits_of
from juryrank.evaluation.method_specs import parse_method, split_methods
from juryrank.evaluation.selection import select_methods
from juryrank.evaluation.significance import half_width, holm, randomisation, randomisations, t_test, win_tie_loss
from juryrank.evaluation.time_budget import estimate
from juryrank.methods import METHODS, RRF, Aggregator, consensus_methods, method
from juryrank.methods.cost import Cost
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


@dataclass(kw_only=True)
class Refusing(Aggregator):
    """Takes no data at all."""

    name = "refusing"

    def _scores(self, rankings, out):
        raise DataError("these lists are not for me")


@dataclass(kw_only=True)
class Broken(Aggregator):
    """Has a bug in its second fold."""

    name = "broken"

    def _scores(self, rankings, out):
        raise RuntimeError("one over none")


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
        ({"methods": [Popular()]}, DataError, "must be evaluated on held-out queries: give folds (folds=5 in Python"),
        ({"methods": []}, ParameterError, "at least one method"),
        ({"methods": ["rrf", RRF(k=1)]}, ParameterError, "must be unique, got 'rrf' twice"),
        ({"baseline": "borda"}, UnknownNameError, "no method in this comparison 'borda'"),
        ({"methods": ["rff"]}, UnknownNameError, "did you mean 'rrf'"),
        ({"folds": 1}, ParameterError, "folds must be from 2 to 25, the number of queries with labels, got 1"),
        ({"folds": "somewhere"}, ParameterError, "folds must be a number of folds or a list of Fold"),
        ({"folds": [Fold("a", (1,), (), (0,)), Fold("b", (1,), (), (0,))]}, DataError, "must be tested only once"),
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


def test_a_method_that_fails_is_skipped_by_name_and_the_others_are_compared(data):
    with pytest.warns(DataWarning) as told:
        found = compare(["borda", Refusing(), "rrf", Broken()], data, "AP", folds=3)
    assert found.names == ("borda", "rrf")
    assert found.skipped == {"refusing": "these lists are not for me", "broken": "RuntimeError: one over none"}
    assert {str(w.message) for w in told} == {f"{name} is skipped: {why}" for name, why in found.skipped.items()}
    alone = compare(["borda", "rrf"], data, "AP", folds=3)
    assert (found.versus, alone.skipped) == (alone.versus, {})
    assert json.loads(found.render("json"))["skipped"] == found.skipped
    assert "Not compared: refusing, broken." in found.render("markdown")
    assert "Not compared" not in alone.render("markdown")


def test_where_no_method_is_left_the_errors_are_raised(data):
    with pytest.warns(DataWarning, match="skipped"), pytest.raises(RuntimeError):
        compare([Broken()], data, "AP")
    with pytest.warns(DataWarning, match="skipped"), pytest.raises(DataError) as caught:
        compare([Broken(), Refusing()], data, "AP")
    assert "none of 2 methods could be compared; broken: RuntimeError: one over none; refusing: th" in str(caught)


def test_without_its_baseline_a_comparison_says_what_differences_are_to(data):
    with pytest.warns(DataWarning) as told:
        found = compare(["borda", "rrf", Refusing()], data, "AP", baseline="refusing")
    assert found.baseline == "rrf"
    assert "the baseline refusing is not among the results; differences are to rrf" in [str(w.message) for w in told]


def test_a_mistake_in_the_metrics_is_no_fault_of_the_methods(data):
    with pytest.raises(UnknownNameError, match="no convention 'tREC'"):
        compare(["rrf", "borda"], data, "AP", convention="tREC")


def test_parameters_are_given_as_text(data):
    found = compare(["rrf:k=10", "borda", "rrf:k=10,ranks=dense"], data, "AP", baseline="borda")
    assert found.names == ("rrf:k=10", "borda", "rrf:k=10,ranks=dense")
    assert found.methods["rrf:k=10,ranks=dense"]["params"] == RRF(k=10, ranks="dense").params()
    assert found.mean("rrf:k=10", "AP") == evaluate(RRF(k=10).fit_predict(data), data, "AP").means()["AP"]


@pytest.mark.parametrize(
    ("text", "methods"),
    [
        ("rrf", ["rrf"]),
        (" rrf , borda,", ["rrf", "borda"]),
        ("rrf:k=10,borda", ["rrf:k=10", "borda"]),
        ("rrf:k=10,ranks=dense,borda:missing=last", ["rrf:k=10,ranks=dense", "borda:missing=last"]),
        ('rrf:weights={"a": 2, "b,c": 1},borda', ['rrf:weights={"a": 2, "b,c": 1}', "borda"]),
    ],
)
def test_commas_separate_methods_and_their_parameters(text, methods):
    assert split_methods(text) == methods


def test_text_of_a_method_may_hold_json():
    assert parse_method('rrf:weights={"a": 2, "b,c": 1}, k=7').params()["weights"] == {"a": 2, "b,c": 1}


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("rrf:k", ParameterError, "written name:parameter=value, for example rrf:k=10; got 'rrf:k'"),
        ("rrf:z=1", ParameterError, "rrf has no parameter 'z'"),
        ("rrf:k=-1", ParameterError, "k of RRF must be > 0, got -1"),
        ("rff:k=1", UnknownNameError, "no method 'rff'"),
    ],
)
def test_mistakes_in_the_text_of_a_method_are_errors_before_any_work(data, text, error, message):
    with pytest.raises(error) as caught:
        compare(["borda", text], data, "AP", progress=lambda work: pytest.fail("started"))
    assert message in str(caught.value)
    with pytest.raises(ParameterError, match="written name:parameter=value"):
        split_methods("k=10,rrf")


def test_costs_are_counted_by_hand():
    data = from_dicts({"a": {"q": ["x", "y", "z"], "p": ["x"]}, "b": {"q": ["x", "u"]}})  # q: 4 items, p: 1
    seconds = {
        "entries": 3 + 2 + 1,
        "pairs of items": (4**2 + 1) / 2,
        "triples of items": (4**3 + 1) / 6,
        "pairs in lists": (3**2 + 2**2 + 1) / 2,
    }
    for unit, expected in seconds.items():
        assert Cost(unit, 1e9).seconds(data.rankings) == pytest.approx(expected)
        assert Cost(unit, 1e9, per_query=3e9).seconds(data.rankings, 8) == pytest.approx((expected + 2 * 3) / 2)
        assert Cost(unit, 1e9, threaded=False).seconds(data.rankings, 8) == pytest.approx(expected)


def test_an_estimate_counts_fits_and_folds_and_threads(data, monkeypatch):
    monkeypatch.setenv("JURYRANK_THREADS", "1")
    one_pass = METHODS["cps"].cost.seconds(data.rankings)
    folds = seeded_folds(5, data, 0)  # each learns from 15 of 25 queries
    assert estimate(method("cps"), data, ()) == pytest.approx(2 * one_pass)
    assert estimate(method("cps"), data, folds) == pytest.approx((1 + 5 * 15 / 25) * one_pass)
    assert estimate(method("rrf"), data, folds) == pytest.approx(RRF.cost.seconds(data.rankings))
    assert estimate(method("jury"), data, folds) is None
    monkeypatch.setenv("JURYRANK_THREADS", "4")
    assert estimate(method("cps"), data, ()) == pytest.approx(2 * one_pass / 4)


def test_a_budget_takes_the_quick_methods_and_names_the_others(data):
    seconds = {name: estimate(method(name), data, ()) for name in consensus_methods()}
    budget = sum(sorted(seconds.values())[:20])
    with pytest.warns(DataWarning, match=r"left out, beyond the budget of .*crowd-bt \(under a second\)"):
        found = compare(None, data, "AP", budget=budget)
    assert {*found.names, *found.skipped} == set(consensus_methods())
    assert sum(seconds[name] for name in found.names) <= budget * (1 + 1e-9)
    assert max(seconds[name] for name in found.names) <= min(seconds[name] for name in found.skipped)
    with pytest.raises(ParameterError, match="cannot be combined with named methods"):
        compare(["rrf"], data, "AP", budget=5)
    with pytest.raises(ParameterError, match="above 0, got 0"):
        compare(None, data, "AP", budget=0)


def test_a_baseline_takes_part_whatever_it_costs(data):
    assert list(select_methods(None, data, (), budget=1e-12).methods) == ["rrf"]
    assert list(select_methods(None, data, (), budget=1e-12, baseline="kemeny").methods) == ["kemeny"]
    assert list(select_methods(None, data, ()).methods) == consensus_methods()


def experiment(names, data, *, folds, baseline=None):
    """A comparison by AP that is ready to run."""
    splits = splits_of(folds, data, seed=0)
    selection = select_methods(names, data, splits, baseline=baseline)
    return Experiment(selection, data, splits, as_metrics("AP"), convention="trec", seed=0)


def test_the_baseline_runs_first_and_slow_methods_last(data):
    running, finished = experiment(["crowd-bt", Popular(), "mc4", "rrf", "borda"], data, folds=2, baseline="mc4"), []
    running.run(on_finished=finished.append)
    assert finished == ["mc4", "rrf", "borda", "crowd-bt", "popular"]
    assert running.result().names == ("crowd-bt", "popular", "mc4", "rrf", "borda"), "tables keep the order given"


def test_an_interrupted_comparison_has_the_methods_that_finished(data):
    running = experiment(["borda", "rrf", "copeland"], data, folds=2)

    def stop_before_the_last(work):
        yield from work[:3]  # rrf in both folds, borda in one
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        running.run(stop_before_the_last)
    found = running.result()
    assert found.names == ("rrf",)
    assert found.skipped == dict.fromkeys(["borda", "copeland"], "interrupted before it was finished")
    assert found.mean("rrf", "AP") == compare(["rrf"], data, "AP", folds=2).mean("rrf", "AP")


def test_queries_without_labels_are_left_out_with_one_warning(data):
    judged = [q for q in range(25) if q % 2]
    labels = {q: dict.fromkeys("abc", 1) for q in np.array(data.queries)[judged]}
    runs = {"x": {q: ["a", "b", "c"] for q in data.queries}, "y": {q: ["c", "d"] for q in data.queries}}
    with pytest.warns(DataWarning) as told:
        found = compare(["rrf", "borda"], from_dicts(runs, labels=labels), "AP")
    assert [str(w.message) for w in told] == ["13 of 25 queries have no labels; left out"]
    assert found.queries == tuple(labels)


def test_labels_of_no_query_are_an_error_that_shows_how_queries_are_named():
    lists = {"x": {"301": ["a", "b"], "302": ["a"], "303": ["b"]}}
    data = from_dicts(lists, labels={"301": {"a": 1}})
    others = data[[1, 2]]
    with pytest.warns(DataWarning), pytest.raises(DataError, match="needs queries with labels, and none of 2 has any"):
        compare(["rrf"], others, "AP")
    with pytest.raises(DataError, match=r"at least 2 queries with labels, and none of 2 has any; .* like '302'"):
        compare(["rrf"], others, "AP", folds=2)
    with pytest.raises(DataError, match="folds need at least 2 queries with labels, and 1 of 3 has any"):
        compare(["rrf"], data, "AP", folds=2)


def test_a_frame_has_a_row_for_every_method_and_metric(data):
    found = compare(["rrf", "borda"], data, ["AP", "P@3"])
    frame = found.to_frame()
    assert frame.to_dicts() == found.rows()
    assert frame["method"].to_list() == ["rrf", "rrf", "borda", "borda"]
    assert frame["p_random_holm"].null_count() == 2, "the baseline is not tested against itself"


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_a_comparison_is_drawn(data, tmp_path, ending):
    pytest.importorskip("matplotlib")
    found = compare(["rrf", "borda", "copeland"], data, ["AP", "P@3"])
    found.plot(tmp_path / f"picture.{ending}")
    drawn = (tmp_path / f"picture.{ending}").read_bytes()
    assert drawn.startswith(b"<?xml" if ending == "svg" else b"\x89PNG")
    with pytest.raises(UnknownNameError, match="no picture format 'doc'"):
        found.plot(tmp_path / "picture.doc")


def test_the_interval_of_a_difference_is_that_of_scipy(data):
    found = compare(["rrf", "borda"], data, "AP")
    difference = found.values[1, 0] - found.values[0, 0]
    low, high = scipy.stats.t.interval(0.95, 24, difference.mean(), scipy.stats.sem(difference))
    assert (found.versus["borda", "AP"].low, found.versus["borda", "AP"].high) == pytest.approx((low, high))
    assert np.isnan(half_width(np.array([0.3])))


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


def test_the_observed_signs_count_as_one_of_the_draws():
    # Only 2 of 2^60 sign patterns are as far from 0 as all ones: no draw is, but the observed signs are.
    assert randomisation(np.ones(60)) == 1 / 100_001
    # Every pattern of two differences that cancel is as far from 0 as 0 is.
    assert randomisation(np.tile([1.0, -1.0], 30)) == 1.0


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


def test_a_query_without_a_reference_is_in_no_fold():
    lists = {"e": {f"q{n}": ["a", "b"] for n in range(4)}}
    rankings = from_dicts(lists).rankings
    known = Dataset(rankings=rankings, reference=np.array([1.0, 2.0, np.nan, np.nan, 1.0, 2.0, np.nan, 2.0]))
    assert sorted(q for fold in seeded_folds(3, known, 0) for q in fold.test) == [0, 2, 3]
