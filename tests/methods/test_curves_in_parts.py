"""Position curves learned from queries in parts: the same model as of one fit, whatever the parts are."""

from dataclasses import replace

import numpy as np
import pytest

from conftest import random_dataset
from juryrank import method
from juryrank.learning.curves import Limits
from juryrank.learning.label_survey import LabelSurvey
from juryrank.methods.learned.parts import (
    add_sums,
    held_out_groups,
    sums_of,
    survey_of,
    values_of,
    whole_model,
    with_surveys,
)

N_QUERIES = 40
MODELS = [
    ("jury", {}),
    ("ridge", {"unjudged": "ignore"}),
    ("jury", {"experts": "hybrid", "threshold": 683, "prior": "equal"}),
    ("ridge", {"experts": "shared"}),
    ("jury", {"scores": True}),
]


def learn_in_parts(model, data, cuts):
    """The model of parts of the data that end at these queries; the last part comes first."""
    model.check()
    parts = [data[start:stop] for start, stop in zip([0, *cuts], [*cuts, N_QUERIES], strict=True)][::-1]
    model = with_surveys(model, (survey_of(model, part) for part in parts))
    sums = add_sums(model, [sums for part in parts if (sums := sums_of(model, part)) is not None])
    alone = {"several": sums.several, "by_rank": sums.n_rising > 0}
    values = [values_of(model, part, sums.statistics, held_out_groups(sums), **alone) for part in parts]
    return whole_model(model, sums, [part for part in values if part is not None])


@pytest.mark.parametrize(("name", "params"), MODELS)
@pytest.mark.parametrize("cuts", [[], [17], [1, 2, 3, 30]])
def test_a_model_of_parts_is_that_of_one_fit(name, params, cuts):
    data = random_dataset(1, n_queries=N_QUERIES, n_items=12, judged=0.6)
    r = data.rankings
    data = replace(
        data,
        rankings=replace(
            r, entry_score=50.0 - r.entry_rank * (1 + r.list_query[np.repeat(np.arange(r.n_lists), r.list_size)] % 3)
        ),
    )
    expected = method(name, **params).fit(data)
    assert bool(expected.pooled_) == ("experts" in params)
    found = learn_in_parts(method(name, **params), data, cuts)
    for key, value in expected.learned().items():
        if isinstance(value, np.ndarray):
            np.testing.assert_allclose(found.learned()[key], value, rtol=1e-9, atol=1e-9, err_msg=key)
        else:
            assert found.learned()[key] == (pytest.approx(value) if isinstance(value, dict) else value), key
    assert found.report() == expected.report()


@pytest.mark.filterwarnings("ignore:.*ranks are used:juryrank.errors.DataWarning")
def test_scores_that_contradict_ranks_in_one_part_count_in_all_parts():
    data = random_dataset(1, n_queries=N_QUERIES, n_items=12, judged=0.6)
    r = data.rankings
    score = 50.0 - np.floor(r.entry_rank / 3)  # ties that the ranks do not have
    first = int(np.flatnonzero(r.list_size > 3)[0])
    score[r.entry_ptr[first] + 1] = 99.0
    data = replace(data, rankings=replace(r, entry_score=score))
    by_rank = method("jury").fit(replace(data, rankings=replace(r, entry_score=None)))
    without_it = replace(r, entry_score=50.0 - np.floor(r.entry_rank / 3))
    assert method("jury").fit(replace(data, rankings=without_it)).report() != by_rank.report()  # so that it matters
    found = learn_in_parts(method("jury"), data, [17])
    assert found.report() == by_rank.report() == method("jury").fit(data).report()


def test_groups_of_queries_are_neighbours_in_natural_order():
    data = random_dataset(2, n_queries=12)
    model = method("ridge").with_survey({}, LabelSurvey())
    sums = add_sums(model, [sums_of(model, data[6:]), sums_of(model, data[:6])])
    assert held_out_groups(sums) is None
    groups = held_out_groups(sums, Limits(0.0, fewest_parts=3))
    assert list(groups) == sorted(groups)  # q0, q1, q10, q11, q2, …
    assert list(groups.values()) == [0] * 4 + [1] * 4 + [2] * 4
