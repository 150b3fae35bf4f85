"""The whole way: explore, log, learn from clicks, interleave, decide."""

import numpy as np
import polars as pl
import pytest

import juryrank


@pytest.fixture(scope="module")
def world():
    """Twelve queries: one expert knows what is relevant, two others agree with each other and do not."""
    rng = np.random.default_rng(0)
    lists, relevance = {"good": {}, "bad": {}, "worse": {}}, {}
    for q in range(12):
        relevance[f"q{q}"] = {f"d{n}": 0.9 if n < 3 else 0.1 for n in range(12)}
        best = [f"d{n}" for n in [*rng.permutation(3), *rng.permutation(np.arange(3, 12))]]
        other = [f"d{n}" for n in rng.permutation(12)]
        lists["good"][f"q{q}"], lists["bad"][f"q{q}"] = best, other
        lists["worse"][f"q{q}"] = [*other[1:], other[0]]
    return lists, relevance


def clicks(items, relevance, rng):
    """The items that are clicked by a user who examines position k with probability 1 / k."""
    return [item for at, item in enumerate(items, 1) if rng.random() < relevance[item] / at]


def test_clicks_on_explored_pages_teach_a_model_that_interleaving_accepts(world):
    lists, relevance = world
    rng, rows = np.random.default_rng(1), []
    old = juryrank.Fuser("rrf", explore=0.5)
    for n in range(1200):
        query = f"q{n % 12}"
        shown = old.explored({expert: found[query] for expert, found in lists.items()}, request=n, top=10)
        clicked = clicks(shown.ranking, relevance[query], rng)
        rows += [{**row, "clicked": row["item"] in clicked} for row in shown.log_rows(query)]
    log = juryrank.read_clicks(pl.DataFrame(rows))
    assert log.n_sessions == 1200
    assert log.propensity is not None
    assert log.propensity.min() >= 1 / 64
    learned = juryrank.fit(lists, "jury", labels=juryrank.click_labels(log))
    new, current = juryrank.Fuser(learned), juryrank.Fuser("rrf")
    test = juryrank.InterleavingTest(["old", "new"], minimum=0.1)
    for n in range(3000):
        query = f"q{n % 12}"
        here = {expert: found[query] for expert, found in lists.items()}
        page = juryrank.interleave({"old": current(here), "new": new(here)}, request=n, seed=1)
        test.add(n, page, clicks(page.items, relevance[query], rng), query=query)
        if test.verdict != "go on":
            break
    assert test.verdict == "accept new"
