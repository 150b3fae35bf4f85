"""The conditional random field: what its weights mean, and its row on MQ2008-agg."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import juryrank
from conftest import random_dataset
from juryrank.data.build import from_dicts
from juryrank.learning.columns import expert_columns, missing_columns
from juryrank.methods import method
from juryrank.methods.learned.preferences import win_values
from juryrank.metrics import judge, parse_metric


def taught(seed: int = 0):
    """Expert "good" has the order of the labels, "bad" its opposite, "half" leaves out what is irrelevant."""
    rng = np.random.default_rng(seed)
    runs: dict = {"good": {}, "bad": {}, "half": {}}
    labels = {}
    for q in range(15):
        order = [f"i{i}" for i in rng.permutation(8)]
        runs["good"][f"q{q}"], runs["bad"][f"q{q}"] = order, order[::-1]
        runs["half"][f"q{q}"] = rng.permutation(order[:4]).tolist()
        labels[f"q{q}"] = {item: 2 - place // 3 for place, item in enumerate(order)}
    return from_dicts(runs, labels=labels)


@pytest.mark.parametrize("target", ["nDCG@3", "AP", "ERR", "RR", "P@2", "KendallTau"])
def test_weights_say_whom_to_trust_and_what_missing_means(target):
    model = method("crf", target=target, epochs=60).fit(taught())
    weights = model.expert_weights()
    assert weights["good"]["beta+"] + weights["good"]["beta-"] > 0
    assert weights["bad"]["beta+"] + weights["bad"]["beta-"] < 0
    assert weights["half"]["alpha"] < 0
    test, ndcg = taught(1), parse_metric("nDCG")
    learned, rrf = (m.fit(taught()).predict(test) for m in (method("crf", target=target), method("rrf")))
    assert ndcg.per_query(judge(learned, test)).mean() > ndcg.per_query(judge(rrf, test)).mean()


@pytest.mark.parametrize("potentials", ["mean", "sum"])
@pytest.mark.parametrize("form", ["binary", "rank", "log-rank"])
def test_scores_are_sums_of_missing_wins_and_losses(potentials, form):
    data = random_dataset(0)
    model = method("crf", potentials=potentials, form=form, epochs=5).fit(data)
    r, weights = data.rankings, model.expert_weights()
    expected = np.zeros(r.n_slots)
    wins = np.stack([expert_columns(r, r.experts, value) for value in win_values(r, form)[:, 1:].T], 2)
    over = 8 if potentials == "mean" else 1
    ranked = 1 - missing_columns(r, r.experts)
    for k, name in enumerate(r.experts):
        alpha, plus, minus = weights[name].values()
        expected += -alpha * ranked[:, k] + plus * wins[:, k, 0] / over - minus * wins[:, k, 1] / over
    assert_allclose(model.predict(data).scores, expected, atol=1e-10)


def test_experts_absent_at_test_time_just_drop_out():
    model = method("crf", epochs=60).fit(taught())
    alone = from_dicts({"good": {"q": ["a", "b", "c"]}})
    assert model.predict(alone).top() == {"q": ["a", "b", "c"]}


@pytest.mark.filterwarnings("ignore:.*none of the experts was")
def test_shared_weights_serve_strangers():
    runs = {"a": {f"q{q}": ["x", "y", "z"] for q in range(6)}, "b": {f"q{q}": ["x", "z", "y"] for q in range(6)}}
    data = from_dicts(runs, labels={f"q{q}": {"x": 2, "y": 1, "z": 0} for q in range(6)})
    stranger = from_dicts({"s": {"q": ["u", "v", "w"]}})
    for experts in ("individual", "shared", "hybrid"):
        assert method("crf", experts=experts, epochs=60).fit(data).predict(stranger).top() == {"q": ["u", "v", "w"]}


@pytest.mark.parametrize("name", ["crf", "lambdarank", "svd-lambdarank"])
def test_one_fold_of_mq2008_is_well_above_rrf(name, shared_data):
    data = juryrank.read(shared_data / "MQ2008-agg")
    found = juryrank.compare(["rrf", name], data, ["nDCG@5", "AP"], folds=data.folds[:1], convention="letor")
    (rrf_ndcg, rrf_ap), (ndcg, ap) = found.means
    assert ndcg > rrf_ndcg + 0.01
    assert ap > rrf_ap + 0.01


@pytest.mark.parametrize(("potentials", "rate"), [("mean", 10_000.0), ("sum", 2.0)])
def test_the_default_step_is_the_documented_one(potentials, rate):
    default, given = (method("crf", potentials=potentials, epochs=2, rate=r).fit(taught()) for r in (None, rate))
    assert default.weights_.any()
    assert_allclose(default.weights_, given.weights_, rtol=0)
