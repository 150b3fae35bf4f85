"""Agreement of judges, against scikit-learn, published examples and slow obvious versions."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

import juryrank
from juryrank.annotators.agreement import cohen, krippendorff
from juryrank.errors import DataError
from juryrank.tasks.judge.agreement import agreement

# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, example C: four observers, 12 units, interval data.
TABLE = [
    (1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3),
    (None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None),
]


def draw(seed: int, n: int, *, same: float = 0.6, grades: int = 4) -> tuple[Any, Any]:
    """Grades of two judges, the second of whom copies the first with this probability."""
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, grades, (2, n)).astype(float)
    return first, np.where(rng.random(n) < same, first, second)


def rows_of(**grades: Any) -> list[tuple[str, str, str, float]]:
    return [("q", str(n), judge, grade) for judge, given in grades.items() for n, grade in enumerate(given)]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [8, 50])
def test_kappa_is_that_of_scikit_learn(seed: int, n: int) -> None:
    first, second = draw(seed, n)
    (pair,) = agreement(rows_of(ann=first, ben=second)).pairs
    assert pair.kappa == pytest.approx(cohen_kappa_score(first, second))
    weighted = cohen_kappa_score(first, second, weights="quadratic", labels=[0, 1, 2, 3])
    assert pair.weighted_kappa == pytest.approx(weighted)
    assert pair.equal == pytest.approx(np.mean(first == second))
    assert (pair.judge, pair.other, pair.items) == ("ann", "ben", n)


def test_alpha_is_that_of_krippendorffs_example() -> None:
    units = [[float(v) for v in column if v is not None] for column in zip(*TABLE, strict=True)]
    alpha, low, high = krippendorff([unit for unit in units if len(unit) > 1])
    assert alpha == pytest.approx(0.849, abs=0.0005)
    assert low < alpha < high <= 1


def test_alpha_is_one_minus_observed_by_expected_differences_of_all_pairs() -> None:
    rng = np.random.default_rng(1)
    units = [rng.integers(0, 4, size).astype(float).tolist() for size in rng.integers(2, 5, 20)]
    values = [value for unit in units for value in unit]
    n = len(values)
    observed = (
        sum((a - b) ** 2 / (len(u) - 1) for u in units for (i, a), (j, b) in product(enumerate(u), repeat=2) if i != j)
        / n
    )
    expected = sum((a - b) ** 2 for (i, a), (j, b) in product(enumerate(values), repeat=2) if i != j) / (n * (n - 1))
    assert krippendorff(units)[0] == pytest.approx(1 - observed / expected)


@pytest.mark.parametrize("quadratic", [False, True])
def test_the_interval_is_that_of_the_delta_method(quadratic: bool) -> None:
    first, second = draw(3, 200)
    kappa, low, high = cohen(first, second, quadratic=quadratic)
    table = np.zeros((4, 4))
    np.add.at(table, (first.astype(int), second.astype(int)), 1 / len(first))
    difference = np.subtract.outer(np.arange(4), np.arange(4))
    apart = difference**2 if quadratic else (difference != 0).astype(float)

    def value(p: Any) -> float:
        return float(1 - (p * apart).sum() / (np.outer(p.sum(1), p.sum(0)) * apart).sum() * p.sum())

    step = 1e-6
    slope = np.zeros((4, 4))
    for cell in np.ndindex(4, 4):
        moved = np.zeros((4, 4))
        moved[cell] = step
        slope[cell] = (value(table + moved) - value(table - moved)) / (2 * step)
    variance = ((table * slope**2).sum() - (table * slope).sum() ** 2) / len(first)
    assert kappa == pytest.approx(value(table))
    assert (high - low) / 2 == pytest.approx(1.96 * math.sqrt(variance), rel=1e-3)


def test_the_intervals_of_kappa_and_alpha_cover_the_true_value() -> None:
    truth = 0.6  # a copy with probability 0.6, else independent with the same margins: κ and α are 0.6
    covered = np.zeros(2)
    for seed in range(200):
        first, second = draw(seed, 80)
        for n, (_, low, high) in enumerate(
            (cohen(first, second, quadratic=True), krippendorff(np.column_stack([first, second]).tolist()))
        ):
            covered[n] += low <= truth <= high
    assert (covered >= 180).all()
    assert (covered <= 199).all()


def test_judges_that_always_agree_are_not_certain_to_agree() -> None:
    few, many = (agreement(rows_of(ann=[0, 1] * n, ben=[0, 1] * n)) for n in (3, 100))
    for found in (few, many):
        assert (found.alpha, found.pairs[0].weighted_kappa, found.pairs[0].high) == (1, 1, 1)
    # With chance agreement 1/2, κ = 2p - 1; six equal grades have probability 2.5 % at p = 0.025 ** (1 / 6).
    assert few.pairs[0].low == pytest.approx(2 * 0.025 ** (1 / 6) - 1)
    assert few.pairs[0].low < 0.1 < 0.95 < many.pairs[0].low
    assert few.low < many.low < 1


def test_one_grade_only_leaves_kappa_undefined_and_says_so() -> None:
    found = agreement(rows_of(ann=[1, 1, 1], ben=[1, 1, 1]))
    assert math.isnan(found.alpha)
    assert math.isnan(found.pairs[0].kappa)
    assert found.pairs[0].equal == 1
    assert "undefined" in found.note()
    assert "undefined" in str(found.pairs[0])
    assert '"alpha": null' in found.render("json")


def test_three_judges_have_their_pairs_and_those_without_common_items_are_left_out() -> None:
    rows = [*rows_of(ann=[0, 1, 2, 2], ben=[0, 1, 2, 1]), ("q", "0", "cem", 1), ("other", "x", "dora", 2)]
    found = juryrank.agreement(rows)
    assert found.judges == ("ann", "ben", "cem", "dora")
    assert [(pair.judge, pair.other, pair.items) for pair in found.pairs] == [
        ("ann", "ben", 4),
        ("ann", "cem", 1),
        ("ben", "cem", 1),
    ]
    assert found.items == 4


def test_grades_of_one_judge_only_are_reported_as_such_and_none_at_all_are_an_error() -> None:
    found = agreement(rows_of(ann=[0, 1]))
    assert (found.items, found.pairs) == (0, ())
    assert "agreement is unknown" in found.note()
    with pytest.raises(DataError, match="no grades"):
        agreement([])


def test_the_order_of_rows_and_judges_does_not_matter() -> None:
    first, second = draw(0, 30)
    rows = rows_of(ann=first, ben=second, cem=second[::-1])
    again = agreement(rows[::-1])
    found = agreement(rows)
    assert found.alpha == pytest.approx(again.alpha)
    assert [pair.judge for pair in found.pairs] == [pair.judge for pair in again.pairs]
    assert found.pairs == again.pairs
