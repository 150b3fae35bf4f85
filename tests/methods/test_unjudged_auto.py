"""unjudged="auto": the weights of items follow from the kind of labels, in one fit and in several."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import rankdata

from conftest import random_dataset
from juryrank import METHODS, fit, from_dicts, method
from juryrank.errors import DataWarning
from juryrank.learning.label_survey import LabelSurvey
from juryrank.models import from_json, to_json
from juryrank.params import parameters

WITH_IT = sorted(name for name, cls in METHODS.items() if any(f.name == "unjudged" for f in parameters(cls)))
NAMES = [f"d{n:02}" for n in range(40)]


def lists(n_queries):
    """Three lists of 30 of 40 items each for every query."""
    rng = np.random.default_rng(3)
    return {e: {f"q{q}": rng.permutation(NAMES)[:30].tolist() for q in range(n_queries)} for e in "xyz"}


def labelled(share_of_zeros, n_queries=12):
    """Zero to nine labels of each query, of which that share is 0, but for one grade at least."""
    rng, runs = np.random.default_rng(4), lists(n_queries)
    labels = {}
    for q in range(n_queries):
        items = rng.choice(NAMES, q % 10, replace=False).tolist()
        labels[f"q{q}"] = {item: 0 if rng.random() < share_of_zeros else int(rng.integers(1, 3)) for item in items}
    return from_dicts(runs, labels=labels)


def complete(n_queries=8):
    rng, runs = np.random.default_rng(5), lists(n_queries)
    labels = {f"q{q}": dict(zip(NAMES, rng.integers(0, 3, 40).tolist(), strict=True)) for q in range(n_queries)}
    return from_dicts(runs, labels=labels)


def spelled_out(data):
    """The same data with a label and a weight for every item, by the words of the rule, and the factor of shrink."""
    judged = [value for value in data.slot_labels.tolist() if not np.isnan(value)]
    of_query = [sum(not np.isnan(v) for v in data.take(np.array([q])).slot_labels) for q in range(len(data))]
    positives_only = max(0.0, 1.0 - (sum(value <= 0 for value in judged) / len(judged)) / 0.05)
    labels, r = {}, data.rankings
    for q, query in enumerate(r.queries):
        if not of_query[q]:
            continue
        here = data.take(np.array([q]))
        items = [here.rankings.items[n] for n in here.rankings.slot_item]
        rrf = method("rrf").fit_predict(here).scores
        place = rankdata(-np.round(rrf, 12))  # ties have the mean place
        for item, p, label in zip(items, place.tolist(), here.slot_labels.tolist(), strict=True):
            h = 50 / (50 + p)
            unjudged = h * np.clip(of_query[q] / 100, 0.05 + 0.95 * positives_only, 1)
            known = (label, h**positives_only)
            labels.setdefault(query, {})[item] = (0.0, unjudged) if np.isnan(label) else known
    depth = np.mean([n for n in of_query if n])
    return data.with_labels(from_dicts(lists(len(data)), labels=labels).labels), 1 + 2 / depth


@pytest.mark.parametrize("share_of_zeros", [0.0, 0.03, 0.5])
def test_jury_learns_as_from_the_weights_of_the_rule(share_of_zeros):
    data = labelled(share_of_zeros)
    explicit, factor = spelled_out(data)
    wanted = method("jury", unjudged="ignore", shrink=20.0 * factor).fit(explicit)
    found = method("jury").fit(data)
    assert factor > 1.2
    assert_allclose(found.curves_, wanted.curves_, rtol=1e-6, atol=1e-9)
    assert (found.curves_ != method("jury", unjudged="irrelevant").fit(data).curves_).all()


@pytest.mark.parametrize("name", WITH_IT)
def test_it_is_the_default_of_all_methods(name):
    assert method(name).params()["unjudged"] == "auto"


@pytest.mark.parametrize("name", ["jury", "ridge", "kernel", "crf", "supervised-borda", "tuned-rrf"])
def test_complete_labels_give_exactly_what_the_old_default_gave(name):
    few = {"epochs": 3} if name == "crf" else {}
    for data in (complete(), random_dataset(1, judged=1.0)):
        old, new = (method(name, unjudged=u, **few).fit(data).predict(data).scores for u in ("irrelevant", "auto"))
        assert_array_equal(old, new)


def test_a_reference_ranking_is_learned_as_before():
    data = random_dataset(1)
    data = replace(data, labels=None, reference=np.arange(1.0, data.rankings.n_slots + 1))
    old, new = (method("jury", unjudged=u).fit(data) for u in ("irrelevant", "auto"))
    assert_array_equal(old.curves_, new.curves_)
    assert "Labels" not in new.report()


@pytest.mark.parametrize(
    ("data", "found", "done"),
    [
        (complete(), "complete (39.8 per query, ", "unjudged items count as not relevant"),
        (labelled(0.5), "few (", "unjudged items weigh less the fewer items of their query are judged"),
        (labelled(0.0), "positives only (", "judged items weigh less the lower RRF places them, as unjudged ones do"),
    ],
)
def test_report_and_saved_model_say_what_was_found_and_done(data, found, done):
    model = from_json(to_json(method("jury").fit(data)))
    assert f"Labels: {found}" in model.report()
    assert f", so {done}. " in model.report()
    assert model.survey == LabelSurvey.of(data)
    assert model.verdict().to_dict()["labels"] == LabelSurvey.of(data).kind
    assert "Labels:" not in method("jury", unjudged="irrelevant").fit(data).report()


def test_the_verdict_of_a_fit_to_positives_only_is_not_to_stay_with_rrf():
    found = fit(labelled(0.0), "jury").verdict()
    assert (found.choice, found.evidence) == ("learned", "none")


@pytest.mark.parametrize("share_of_zeros", [0.0, 0.5])
def test_several_fits_give_the_model_of_one_where_all_parts_have_labels_of_one_kind(share_of_zeros):
    data = labelled(share_of_zeros, 24)
    parts = [data[:8], data[8:]]
    assert LabelSurvey.of(parts[0]).mean_depth != LabelSurvey.of(data).mean_depth  # which decides about shrink
    wanted = method("jury").fit(data)
    merged = method("jury").fit(parts[0]).merge(method("jury").fit(parts[1]))
    for found in (merged, method("jury").fit(parts[0]).partial_fit(parts[1])):
        assert_allclose(found.curves_, wanted.curves_, rtol=1e-9, atol=1e-12)
        assert found.survey == wanted.survey
        assert found._summary().partition("On held")[0] == wanted._summary().partition("On held")[0]


def test_the_labels_of_the_first_fit_decide_about_weights_and_all_about_shrink():
    first, more = labelled(0.5), complete()
    renamed = from_dicts({e: {q.replace("q", "r"): v for q, v in runs.items()} for e, runs in lists(8).items()})
    more = renamed.with_labels(replace(more.labels, queries=renamed.queries))
    model = method("jury").fit(first).partial_fit(more)
    assert model.treatment == LabelSurvey.of(first).treatment
    assert model.survey == LabelSurvey.of(first).add(LabelSurvey.of(more))
    old = method("jury", unjudged="irrelevant").fit(more)
    with pytest.warns(DataWarning, match=r"of different kinds: few .* and complete .*fit one model to all data"):
        merged = method("jury").fit(first).merge(method("jury").fit(more))
    assert_allclose(merged.gram_, model.gram_)  # every item of the second part is judged
    assert old.merge(old).survey.n_labels == 2 * LabelSurvey.of(more).n_labels  # without a warning


def test_a_model_that_does_not_name_it_is_of_a_version_whose_default_was_irrelevant():
    model = method("jury").fit(labelled(0.5))
    params = {key: value for key, value in model.params().items() if key != "unjudged"}
    learned = {key: value for key, value in model.learned().items() if key not in ("labels_", "treatment_")}
    old = METHODS["jury"].from_learned(params, learned)
    assert old.unjudged == "irrelevant"
    assert "Labels" not in old.report()
