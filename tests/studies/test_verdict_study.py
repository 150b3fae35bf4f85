"""The study of verdicts: subsets of experts, coverage, and the verdict followed on a real collection."""

import numpy as np
import pytest

import juryrank as jr
from studies import verdict


def test_a_subset_of_experts_has_their_lists_and_items_only():
    runs = {"a": {"p": ["x", "y"], "q": ["y"]}, "b": {"p": ["z"]}, "c": {"p": ["y", "z"], "q": ["w", "x"]}}
    labels = {"p": {"y": 1}, "q": {"w": 1}}
    found = verdict.with_experts(jr.from_dicts(runs, labels=labels), np.array([0, 1]))
    expected = jr.from_dicts({name: runs[name] for name in "ab"}, labels=labels)
    for name in ("queries", "experts", "slot_ptr", "list_ptr", "list_expert", "entry_ptr", "entry_slot", "entry_rank"):
        assert np.array_equal(getattr(found.rankings, name), getattr(expected.rankings, name))
    assert jr.method("rrf").fit_predict(found).to_dict() == jr.method("rrf").fit_predict(expected).to_dict()


def test_an_interval_covers_with_the_noise_of_the_test_queries():
    class Interval:
        mean, low, high = 0.1, 0.05, 0.15

    apart = np.array([0.0, 0.08])  # mean 0.04; its own interval is wide
    assert verdict.coverage(Interval, apart) == (False, True)
    assert verdict.coverage(Interval, np.array([0.1, 0.1])) == (True, True)
    assert verdict.coverage(Interval, np.array([0.04, 0.04])) == (False, False)


def test_means_are_those_of_always_the_same_alternative_and_of_the_choices():
    def one(choice, learned, rrf, expert):
        means = {"learned": learned, "rrf": rrf, "expert": expert}
        return verdict.Draw("robust03", 5, 2, choice, means, {}, {})

    cells = verdict.mean_cells([one("learned", 0.5, 0.4, 0.3), one("expert", 0.5, 0.4, 0.6)])
    assert cells == ["50.00", "40.00", "45.00", "55.00", "55.00", "+5.000", "5.000", "50/0/50"]


@pytest.mark.filterwarnings("ignore::juryrank.DataWarning")
def test_the_study_runs_on_a_collection(shared_data):
    found = verdict.measure_all(["MQ2008-agg"], shared_data, draws=4)
    assert len(found.draws) == 4
    for draw in found.draws:
        assert draw.choice in verdict.ALTERNATIVES
        assert all(0 < mean < 1 for mean in draw.means.values())
    tables = found.tables()
    assert [table.title for table in tables] == ["Right on average", "Coverage"]
    assert len(found.rows()) == 4
