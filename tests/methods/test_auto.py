"""Auto never chooses a method that is worse on held-out queries, and reports what it chose."""

from dataclasses import dataclass

import numpy as np
import pytest

from conftest import random_dataset
from juryrank.data.build import from_dicts
from juryrank.data.dataset import Dataset, Pairs
from juryrank.errors import DataError, UnknownNameError
from juryrank.methods import METHODS, PLUGINS, method, register
from juryrank.methods.learned._members import fit_member, share_fits
from juryrank.methods.learned.jury import Jury
from juryrank.params import param


def trusting(n_queries: int = 12, good: int = 1, bad: int = 3):
    """A few experts who are right and more who agree on something wrong."""
    queries = [f"q{n}" for n in range(n_queries)]
    right, wrong = list("abcdef"), list("fedcba")
    runs = {f"good{k}": dict.fromkeys(queries, right) for k in range(good)}
    runs |= {f"bad{k}": dict.fromkeys(queries, wrong) for k in range(bad)}
    return from_dicts(runs, labels={q: {"a": 2, "b": 1, "c": 0, "d": 0, "e": 0, "f": 0} for q in queries})


def test_labels_that_help_are_used_and_the_gain_is_told():
    model = method("auto").fit(trusting())
    assert model.chosen_["name"] in ("jury", "ridge")
    best = model.trials_[model.chosen_["name"]]
    assert best[1] > 0.1
    assert model.chosen_["name"] in model.report()
    assert f"{best[1]:+.4f}" in model.report()


@pytest.mark.parametrize("seed", range(12))
def test_nothing_is_chosen_that_validation_says_is_worse_than_rrf(seed):
    data = random_dataset(seed, n_queries=7)
    model = method("auto", seed=seed).fit(data[:5], valid=data[5:] if seed % 2 else None)
    assert model.trials_[model.chosen_["name"]][0] >= model.trials_["rrf"][0]
    assert model.trials_[model.chosen_["name"]][1] >= 0


def test_a_method_that_only_harms_is_never_chosen(monkeypatch):
    monkeypatch.setattr(PLUGINS, "registered", {})

    @register
    @dataclass(kw_only=True)
    class Contrary(Jury):
        name = "contrary"

        def _scores(self, rankings, out):
            out -= method("rrf").fit(rankings).predict(rankings).scores

    data = trusting(good=3, bad=1)
    model = method("auto", among="contrary").fit(data)
    assert model.trials_["contrary"][1] < 0
    assert model.chosen_["name"] == "rrf"
    np.testing.assert_array_equal(model.predict(data).scores, method("rrf").fit_predict(data).scores)


RUNS = {"x": {"q0": ["a", "b"], "q1": ["b", "c"]}, "y": {"q0": ["c"], "q1": ["a"]}}


def test_with_one_query_to_learn_from_it_is_rrf_and_says_so():
    model = method("auto").fit(from_dicts(RUNS, labels={"q0": {"a": 1.0}}))
    assert model.chosen_["name"] == "rrf"
    assert "fewer than two" in model.report()


def test_with_no_query_to_learn_from_it_is_an_error():
    with pytest.raises(DataError, match="auto: no query has lists and labels that differ"):
        method("auto").fit(from_dicts(RUNS, labels={"q0": {"a": 1.0, "b": 1.0, "c": 1.0}}))


def test_the_candidates_are_tested_on_queries_they_have_not_seen():
    data = random_dataset(1, n_queries=10, judged=1.0)  # with unjudged items jury would look at condensed lists
    model = method("auto", among="jury", parts=10).fit(data)
    count, gain, error = method("jury").fit(data).gain_over_rrf()
    assert model.n_queries_ == count == 10
    assert model.trials_["jury"][1:] == pytest.approx([gain, error], abs=1e-9)


def test_parameters_reach_the_candidates():
    model = method("auto", among="jury", experts="hybrid", unjudged="ignore").fit(trusting(n_queries=60))
    assert model.chosen_["name"] == "jury"
    assert (model.chosen_["params"]["experts"], model.chosen_["params"]["unjudged"]) == ("hybrid", "ignore")


def test_pairs_teach_too():
    data = trusting(n_queries=6)
    n = data.rankings.n_slots
    first = np.arange(0, n, 6, dtype=np.int32)
    better, worse = np.repeat(first, 5), (np.repeat(first, 5) + np.tile(np.arange(1, 6), 6)).astype(np.int32)
    pairs = Pairs(pair_ptr=np.arange(7) * 5, better=better, worse=worse, weight=np.ones(30))
    model = method("auto").fit(Dataset(rankings=data.rankings, pairs=pairs))
    assert model.trials_[model.chosen_["name"]][1] > 0


def test_an_unknown_candidate_is_named(dataset):
    with pytest.raises(UnknownNameError, match="juri"):
        method("auto", among="juri").fit(dataset)


def test_a_member_that_would_be_the_same_is_fitted_once():
    data, other = random_dataset(1, n_queries=10), random_dataset(2)
    with share_fits():
        jury, kernel, crf = (fit_member(name, {"epochs": 2}, data, None) for name in ("jury", "kernel", "crf"))
        assert fit_member("jury", {"epochs": 7}, data, None) is jury  # it has no epochs
        assert fit_member("kernel", {}, data, other) is kernel  # it does not use validation queries
        assert fit_member("kernel", {"landmarks": 5}, data, None) is not kernel
        assert fit_member("crf", {"epochs": 2}, data, other) is not crf
        assert fit_member("crf", {"epochs": 3}, data, None) is not crf
        assert fit_member("jury", {}, other, None) is not jury
    assert fit_member("jury", {}, data, None) is not fit_member("jury", {}, data, None)


@pytest.mark.parametrize("name", [name for name, cls in METHODS.items() if cls.supervised and not cls.validates])
def test_methods_that_say_so_do_not_use_validation_queries(name):
    data, other = random_dataset(1, n_queries=10), random_dataset(2, n_queries=10)
    alone, with_others = (method(name).fit(data, valid=valid).learned() for valid in (None, other))
    for key, value in alone.items():
        np.testing.assert_array_equal(value, with_others[key])


@pytest.mark.parametrize("valid", [None, random_dataset(3)])
def test_what_is_chosen_is_the_method_fitted_on_all_queries(valid):
    data = random_dataset(4, n_queries=12)
    model = method("auto", among="blend").fit(data, valid=valid)
    chosen = method(model.chosen_["name"], **model.chosen_["params"]).fit(data, valid=valid)
    np.testing.assert_array_equal(model.predict(data).scores, chosen.predict(data).scores)


def test_trials_have_fewer_passes_and_the_chosen_method_has_all(monkeypatch):
    monkeypatch.setattr(PLUGINS, "registered", {})
    passes = []

    @register
    @dataclass(kw_only=True)
    class Patient(Jury):
        name = "patient"
        epochs: int = param(250, "passes")

        def _learn(self, data, valid):
            passes.append(self.epochs)
            super()._learn(data, valid)

    model = method("auto", among="patient", parts=3).fit(trusting())
    assert model.chosen_["name"] == "patient"
    assert model.chosen_["params"]["epochs"] == 250
    assert passes == [100, 100, 100, 250]
