"""A blend is the mean of its members' scores, each standardised inside the query."""

import numpy as np
from numpy.testing import assert_allclose

from conftest import random_dataset
from juryrank.methods import method
from juryrank.methods.learned.blend import RECIPE


def test_scores_are_the_mean_of_the_members_standardised_by_hand():
    train, test = random_dataset(1, n_queries=9), random_dataset(2)
    blend = method("blend").fit(train).predict(test)
    members = [method(name).fit(train).predict(test) for name in RECIPE]
    for q in range(len(test)):
        each = [m[q].scores for m in members]
        standard = [(s - s.mean()) / s.std() if s.std() > 1e-12 else 0 * s for s in each]
        by_hand = np.average(standard, axis=0, weights=list(RECIPE.values()))
        assert_allclose(blend[q].scores, by_hand, atol=1e-9)


def test_the_members_get_the_parameters_that_they_have():
    model = method("blend", experts="shared", unjudged="ignore").fit(random_dataset(3))
    assert [m["name"] for m in model.members_] == list(RECIPE)
    assert {m["params"]["experts"] for m in model.members_ if "experts" in m["params"]} == {"shared"}
