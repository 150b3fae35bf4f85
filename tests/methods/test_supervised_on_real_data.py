"""Supervised aggregation on MQ2008-agg and one query of 100,000 items; all folds: `studies reproduce www2007`."""

import time
import tracemalloc

import numpy as np
import pytest

import juryrank
from juryrank.data.build import from_array, from_dicts


@pytest.fixture(scope="module")
def mq2008(shared_data):
    return juryrank.read(shared_data / "MQ2008-agg")


@pytest.mark.parametrize("name", ["supervised-mc1", "supervised-mc2", "supervised-mc3", "supervised-mc4"])
def test_a_supervised_chain_is_above_its_chain(name, mq2008):
    pair = [name, name.removeprefix("supervised-")]
    found = juryrank.compare(pair, mq2008, ["AP"], folds=mq2008.folds[:1], convention="letor")
    assert found.mean(pair[0], "AP") > found.mean(pair[1], "AP") + 0.005


def test_supervised_borda_is_above_borda_fuse(mq2008):
    found = juryrank.compare(["supervised-borda", "borda-fuse"], mq2008, ["AP"], convention="letor")
    assert found.mean("supervised-borda", "AP") > found.mean("borda-fuse", "AP") + 0.01


def test_supervised_mc2_reaches_its_goal(mq2008):
    found = juryrank.compare(["supervised-mc2"], mq2008, ["AP"], convention="letor")
    assert found.mean("supervised-mc2", "AP") >= 0.490


@pytest.mark.filterwarnings("ignore:.*has not learned from")
def test_a_hundred_thousand_items_are_ranked_in_two_seconds_and_memory_by_entries():
    rng = np.random.default_rng(0)
    value = rng.normal(size=100_000)
    ranks = np.stack([np.argsort(np.argsort(-value - 2 * rng.normal(size=len(value)))) + 1.0 for _ in range(10)])
    data = from_array(ranks)
    lists = {"1": {"q": ["a", "b"]}, "2": {"q": ["b", "a"]}}
    model = juryrank.method("supervised-mc2").fit(from_dicts(lists, labels={"q": {"a": 1, "b": 0}}))
    model.predict(from_array(ranks[:, :10]))
    tracemalloc.start()
    start = time.process_time()
    consensus = model.predict(data)
    assert time.process_time() - start < 2.0
    assert tracemalloc.get_traced_memory()[1] < 100 * data.rankings.n_entries
    tracemalloc.stop()
    assert consensus.scores.sum() == pytest.approx(1)
    place = np.argsort(np.argsort(-value))
    ours = np.corrcoef(np.argsort(np.argsort(-consensus.scores)), place)[0, 1]
    assert ours > 1.3 * max(np.corrcoef(one, place)[0, 1] for one in ranks)
