"""LambdaRank methods: truth of other kinds, experts that come and go, choices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from conftest import random_dataset
from juryrank.data import Consensus
from juryrank.data.build import from_dicts
from juryrank.data.dataset import Dataset
from juryrank.errors import DataError, ParameterError
from juryrank.methods import method
from juryrank.metrics import judge, parse_metric

both = pytest.mark.parametrize("name", ["lambdarank", "svd-lambdarank"])


def taught(n_queries: int = 12, experts=("good", "bad"), seed: int = 0):
    """Queries where the first expert has the order of the labels and the second its opposite."""
    rng = np.random.default_rng(seed)
    runs: dict = {name: {} for name in experts}
    labels = {}
    for q in range(n_queries):
        order = [f"i{i}" for i in rng.permutation(6)]
        runs[experts[0]][f"q{q}"], runs[experts[1]][f"q{q}"] = order, order[::-1]
        labels[f"q{q}"] = {item: 2 - place // 2 for place, item in enumerate(order)}
    return from_dicts(runs, labels=labels)


@both
@pytest.mark.parametrize("hidden", [0, 4])
def test_the_expert_who_knows_is_followed_and_the_one_who_errs_is_turned_round(name, hidden):
    train, test = taught(), taught(seed=1)
    model = method(name, hidden=hidden, rate=0.1).fit(train)
    assert model.score(test) == pytest.approx(1.0)
    alone = from_dicts({"bad": {"q": ["a", "b", "c"]}})
    assert model.predict(alone).top() == {"q": ["c", "b", "a"]}


@both
@pytest.mark.parametrize("target", ["nDCG@3", "AP", "ERR", "RR", "P@2", "KendallTau"])
def test_every_target_can_be_learned(name, target):
    train, test = taught(), taught(seed=1)
    model = method(name, target=target, rate=0.1).fit(train)
    right = test.slot_labels + np.random.default_rng(0).random(test.rankings.n_slots)  # a score has no ties
    best = parse_metric(target).per_query(judge(Consensus(test.rankings, right), test))
    assert model.score(test) == pytest.approx(best.mean(), abs=0.01)


@both
@pytest.mark.filterwarnings("ignore:.*none of the experts was")
def test_strangers_are_heard_like_the_mean_expert_or_like_all(name):
    train = taught(experts=("a", "b"))
    agreeing = from_dicts(
        {"a": dict(_orders(train, "a")), "c": dict(_orders(train, "a"))},
        labels={q: {i: float(v) for i, v in _labels(train, q)} for q in train.queries},
    )
    stranger = from_dicts({"z": {"q": ["x", "y", "w"]}})
    for experts in ("individual", "shared", "hybrid"):
        model = method(name, experts=experts, rate=0.1).fit(agreeing)
        assert model.predict(stranger).top() == {"q": ["x", "y", "w"]}


@both
def test_shared_weights_belong_to_nobody(name):
    assert method(name, experts="shared", epochs=3).fit(random_dataset(1)).experts_ == []


@both
def test_a_reference_ranking_teaches_where_the_target_is_about_order(name):
    rankings = random_dataset(2).rankings
    reference = np.concatenate([np.random.default_rng(q).permutation(9) + 1.0 for q in range(len(rankings))])
    data = Dataset(rankings=rankings, reference=reference)
    assert np.isfinite(method(name, target="KendallTau", epochs=5).fit(data).predict(data).scores).all()
    with pytest.raises(DataError, match=f"{name} with target AP needs labels, and the data has a reference ranking"):
        method(name, target="AP").fit(data)


@both
def test_labels_that_never_differ_teach_nothing(name):
    data = from_dicts({"a": {"q": ["x", "y"]}}, labels={"q": {"x": 1, "y": 1}})
    with pytest.raises(DataError, match="no query has lists and labels that differ"):
        method(name).fit(data)


@both
def test_an_impossible_target_is_refused(name, dataset):
    with pytest.raises(ParameterError, match="target must be one of"):
        method(name, target="RBO").fit(dataset)


@both
def test_the_passes_are_chosen_on_the_validation_queries(name):
    train, opposite = taught(), taught(experts=("bad", "good"))
    model = method(name, rate=0.1, epochs=20)
    assert model.fit(train, valid=train).score(train) == pytest.approx(1.0)
    assert model.fit(train, valid=opposite).passes_ == [1, 2, 3, 4, 5]  # each makes the validation queries worse


@both
def test_passes_chosen_on_some_queries_are_made_again_on_all(name):
    # Of five passes all are kept, whatever is chosen on; so only the queries that were learned from can differ.
    data = random_dataset(3, n_queries=20)
    model = method(name, epochs=5)
    chosen = model.fit(data).weights_
    assert_allclose(chosen, model.fit(data, valid=random_dataset(4)).weights_, rtol=1e-9)
    fewer = model.fit(data.take(np.arange(16)), valid=random_dataset(4)).weights_
    assert not np.allclose(chosen, fewer, rtol=1e-3)


@both
def test_the_seed_decides(name):
    data = random_dataset(3, n_queries=20)
    one, same, other = (method(name, seed=seed, epochs=3).fit(data).weights_ for seed in (0, 0, 1))
    assert_array_equal(one, same)
    assert (one != other).any()


@both
def test_unjudged_items_count_as_irrelevant_or_not_at_all(name):
    data = random_dataset(6, n_queries=20)
    heard, ignored = (method(name, unjudged=u, epochs=3).fit(data).weights_ for u in ("irrelevant", "ignore"))
    assert (heard != ignored).any()


def _orders(data, expert):
    r = data.rankings
    for m in np.flatnonzero(r.list_expert == r.experts.index(expert)):
        slots = r.entry_slot[r.entry_ptr[m] : r.entry_ptr[m + 1]]
        yield r.queries[r.list_query[m]], r.items[r.slot_item[slots]].tolist()


def _labels(data, query):
    one = data[query]
    return zip(one.rankings.items[one.rankings.slot_item], one.slot_labels, strict=True)


@pytest.mark.parametrize("rank", [1, 2])
def test_singular_values_are_weights_of_their_own(rank):
    data = random_dataset(5)
    model = method("svd-lambdarank", singular_values=True, rank=rank, epochs=3).fit(data)
    weights = model.expert_weights()[data.experts[0]]
    assert len(weights) == 3 * rank + 1  # those of the paper, for each expert
    assert {f"s{t + 1}" for t in range(rank)} <= weights.keys()
    without = method("svd-lambdarank", rank=rank, epochs=3).fit(data)
    assert not np.allclose(model.predict(data).scores, without.predict(data).scores)
