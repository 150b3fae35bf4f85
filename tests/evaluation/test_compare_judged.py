"""``compare`` with few judgements: the share of judged items beside metrics, and condensed lists."""

import numpy as np
import pytest

from conftest import random_dataset
from juryrank import compare, evaluate, method
from juryrank.data.build import from_dicts
from juryrank.errors import UnknownNameError

RUNS = {
    "x": {f"q{q}": [f"i{i}" for i in np.random.default_rng(q).permutation(12)] for q in range(10)},
    "y": {f"q{q}": [f"i{i}" for i in np.random.default_rng([q, 1]).permutation(12)] for q in range(10)},
}
LABELS = {
    f"q{q}": {f"i{i}": int(i % 3 == 0) for i in range(12) if i < 2 or (i + q) % 3 == 0} for q in range(10)
}  # of a third of the items


@pytest.mark.parametrize("unjudged", ["irrelevant", "ignore"])
def test_values_and_shares_are_those_of_evaluate(unjudged):
    data = from_dicts(RUNS, labels=LABELS)
    found = compare(["rrf", "borda"], data, ["nDCG@5", "AP"], unjudged=unjudged, baseline="rrf", experts=True)
    for name in ("rrf", "borda"):
        alone = evaluate(method(name).fit(data).predict(data), LABELS, ["nDCG@5", "AP", "Judged@5"], unjudged=unjudged)
        assert found.mean(name, "nDCG@5") == pytest.approx(alone["nDCG@5"])
        assert found.to_dict()["judged"][name] == {"Judged@5": pytest.approx(alone["Judged@5"])}
    experts = evaluate(data, LABELS, ["nDCG@5", "Judged@5"], unjudged=unjudged)
    assert found.mean("expert:y", "nDCG@5") == pytest.approx(experts["y"]["nDCG@5"])
    assert found.to_dict()["judged"]["expert:y"]["Judged@5"] == pytest.approx(experts["y"]["Judged@5"])
    assert [row["judged"] is None for row in found.rows()] == [False, True] * 4
    assert found.to_dict()["unjudged"] == unjudged


def test_the_table_shows_shares_and_says_what_they_mean():
    data = from_dicts(RUNS, labels=LABELS)
    means = compare(["rrf"], data, ["nDCG@5", "AP"], experts=True).tables()[0]
    assert means.columns == ("method", "nDCG@5", "AP", "Judged@5", "fit s", "predict s")
    assert "Judged@5: share of the first items that have labels" in means.note
    assert "The shares differ" in means.note
    condensed = compare(["rrf"], data, "nDCG@5", unjudged="ignore").tables()[0]
    assert "condensed lists" in condensed.note
    assert "The shares differ" not in condensed.note
    without = compare(["rrf"], data, "nDCG@5", judged_share=False)
    assert without.tables()[0].columns == ("method", "nDCG@5", "fit s", "predict s")
    assert without.rows()[0]["judged"] is None


def test_a_table_of_complete_judgements_has_no_shares():
    whole = {query: {f"i{i}": int(i == 0) for i in range(12)} for query in LABELS}
    found = compare(["rrf", "borda"], from_dicts(RUNS, labels=whole), "nDCG@5")
    assert found.tables()[0].columns == ("method", "nDCG@5", "fit s", "predict s")
    assert [row["judged"] for row in found.rows()] == [1.0, 1.0]


def test_with_folds_shares_are_means_over_folds_as_those_of_metrics():
    data = random_dataset(3, n_queries=10)
    found = compare(["rrf"], data, ["P@3", "Judged@3"], folds=5)
    beside = compare(["rrf"], data, "P@3", folds=5)
    assert beside.to_dict()["judged"]["rrf"]["Judged@3"] == pytest.approx(found.mean("rrf", "Judged@3"))


def test_an_unknown_treatment_of_unjudged_items_is_refused():
    with pytest.raises(UnknownNameError, match="no treatment of unjudged items 'drop'"):
        compare(["rrf"], from_dicts(RUNS, labels=LABELS), "AP", unjudged="drop")
