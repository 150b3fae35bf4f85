"""scikit-learn's tools work with methods and datasets by duck typing."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, train_test_split

from conftest import random_dataset
from juryrank.evaluation.evaluate import evaluate
from juryrank.methods import METHODS, method


@pytest.mark.parametrize("name", METHODS)
def test_clone_gives_an_unfitted_copy_with_the_same_parameters(name, dataset):
    fitted = method(name).fit(dataset)
    copy = clone(fitted)
    assert copy == fitted
    assert copy is not fitted
    assert not copy.is_fitted


def test_cross_val_score_is_the_mean_metric_of_each_part():
    data = random_dataset(1, n_queries=12)
    parts = KFold(3)
    scores = cross_val_score(method("rrf"), data, cv=parts)
    for score, (_, test) in zip(scores, parts.split(data), strict=True):
        consensus = method("rrf").fit(data[test]).predict(data[test])
        assert score == pytest.approx(evaluate(consensus, data[test], ["nDCG@10"])["nDCG@10"])


def test_grid_search_finds_the_best_parameter_by_hand():
    data = random_dataset(2, n_queries=12)
    search = GridSearchCV(method("rrf"), {"k": [0.5, 60.0], "missing": ["ignore", "last"]}, cv=KFold(3)).fit(data)
    by_hand = {
        (k, missing): np.mean(cross_val_score(method("rrf", k=k, missing=missing), data, cv=KFold(3)))
        for k in (0.5, 60.0)
        for missing in ("ignore", "last")
    }
    best = max(by_hand, key=by_hand.get)
    assert by_hand[search.best_params_["k"], search.best_params_["missing"]] == pytest.approx(by_hand[best])


def test_train_test_split_splits_by_query():
    data = random_dataset(3, n_queries=10)
    train, test = train_test_split(data, test_size=0.3, random_state=0)
    assert len(train) == 7
    assert set(train.queries) | set(test.queries) == set(data.queries)
