"""The study of unjudged items: kinds of labels are what they are called, and its table is of its numbers."""

import numpy as np

from conftest import random_dataset
from juryrank.learning.label_survey import COMPLETE, FEW, POSITIVES_ONLY, LabelSurvey
from studies.judging import SETS
from studies.unjudged import SETTINGS, UnjudgedStudy, label_kinds, measure


def test_kinds_of_labels_are_what_they_are_called():
    data = random_dataset(1, n_queries=30, n_items=40, judged=0.95)
    kinds = label_kinds(data, 0)
    found = {name: LabelSurvey.of(labelled) for name, labelled in kinds.items()}
    assert kinds["complete"] is data
    assert [found[name].kind for name in ("plan 100", "pool 10", "complete")] == [FEW, FEW, COMPLETE]
    assert {found[n].kind for n in ("all positives", "1 positive", "2 positives")} == {POSITIVES_ONLY}
    assert [found[f"plan {n}"].n_labels for n in (20, 500)] == [20, 500]
    relevant = [(data[q].slot_labels > 0).sum() for q in range(len(data))]
    for most, name in ((1, "1 positive"), (2, "2 positives"), (99, "all positives")):
        assert found[name].n_labels == sum(min(n, most) for n in relevant)
        assert found[name].n_zeros == 0


def test_with_complete_labels_auto_gains_what_irrelevant_does():
    data = random_dataset(2, n_queries=30, n_items=30, judged=1.0)
    gains = measure(data, SETS["robust03"], draws=2)
    assert list(gains["complete"]) == list(SETTINGS)
    np.testing.assert_array_equal(gains["complete"]["auto"], gains["complete"]["irrelevant"])
    study = UnjudgedStudy({"one": gains, "two": gains})
    assert study.means()["plan 50"]["auto"].tolist() == gains["plan 50"]["auto"].tolist()
    assert [table.title for table in study.tables()] == ["one", "two", "mean"]
