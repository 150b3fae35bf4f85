"""Labels from the grades of several judges, in the study."""

import numpy as np
import pytest

from studies.judges import auc, calibration, grades_of, one_judge


def test_auc_counts_pairs_in_the_right_order_and_ties_half():
    assert auc(np.array([True, False, False]), np.array([2.0, 1.0, 2.0])) == 0.75


def test_judges_grade_every_item_once_to_three_times_on_the_scale():
    truth = {("q", f"i{n}"): float(n % 3) for n in range(60)}
    rows = grades_of(truth, 2, 0)
    counts = rows.group_by("item").len()["len"]
    assert set(counts) == {1, 2, 3}
    assert len(counts) == 60
    assert set(rows["grade"]) <= {0.0, 1.0, 2.0}
    assert rows.select("item", "judge").is_unique().all()
    assert rows.equals(grades_of(truth, 2, 0))


def test_gold_labels_correct_a_lenient_judge():
    none, many = one_judge(0, 0), one_judge(200, 0)
    assert none["bias"] > 0.5 > 0.15 > abs(many["bias"])
    assert many["right"] > none["right"] + 0.15
    assert many["weight"] == pytest.approx(many["right"], abs=0.1)
    assert [row.name for row in calibration(1)][:2] == ["0 gold labels", "10 gold labels"]
