"""What was measured for the closed forms before they were written here, and what they must reach."""

import pytest

import juryrank
from juryrank.data.dataset import Dataset

LETOR = [f"nDCG@{k}" for k in range(1, 6)] + [f"P@{k}" for k in range(1, 6)] + ["AP"]
# An independent implementation in plain numpy, on the tests of the five folds.
JURY_ROW = [43.28, 45.37, 47.53, 49.62, 51.23, 50.00, 44.90, 42.09, 39.32, 36.66, 50.81]


def runs(folder) -> Dataset:
    return juryrank.read(folder / "runs", labels=folder / "qrels.txt")


@pytest.fixture(scope="module")
def letor(shared_data):
    data = juryrank.read(shared_data / "MQ2008-agg")
    return juryrank.compare(["rrf", "jury", "ridge"], data, LETOR, convention="letor")


def test_jury_has_the_row_of_an_independent_implementation(letor):
    assert [100 * letor.mean("jury", metric) for metric in LETOR] == pytest.approx(JURY_ROW, abs=0.01)


def test_ridge_reaches_its_target(letor):
    assert 100 * letor.mean("ridge", "AP") >= 50.7
    assert 100 * letor.mean("ridge", "nDCG@5") >= 51.3


@pytest.mark.filterwarnings("ignore::juryrank.DataWarning")
@pytest.mark.parametrize(
    ("folder", "metric", "least"), [("robust03", "nDCG@20", 0.03), ("trec-covid-round1", "nDCG@10", 0.01)]
)
def test_jury_beats_rrf_and_every_expert_on_runs_over_a_large_collection(folder, metric, least, shared_data):
    data = runs(shared_data / folder)
    found = juryrank.compare(["rrf", "jury"], data, [metric], folds=5)
    assert found.mean("jury", metric) - found.mean("rrf", metric) >= least
    assert found.versus["jury", metric].p_random < 0.05
    alone = juryrank.evaluate(data, data, metric)[metric]
    assert found.mean("jury", metric) > max(alone.values())
