"""Simulated users click as they are defined, and learning from them is measured against RRF and true labels."""

import numpy as np
import pytest

import juryrank as jr
from studies import clicks


def test_users_click_with_the_probabilities_of_their_grades() -> None:
    rng, grades = np.random.default_rng(0), np.repeat([[0, 1, 2]], 20_000, axis=0)
    first = {user: clicks.USERS[user](grades[:, [2]], rng)[0].mean() for user in ("navigational", "position-based")}
    assert first["navigational"] == pytest.approx(0.95, abs=0.01)
    assert first["position-based"] == 1.0
    shown = clicks.USERS["position-based"](grades, rng)[0].mean(axis=0)
    assert shown == pytest.approx([0.1, 0.4 / 2, 1.0 / 3], abs=0.015)
    assert clicks.USERS["perfect"](grades, rng)[0][:, [0, 2]].mean(axis=0).tolist() == [0.0, 1.0]


def test_a_cascade_user_clicks_on_nothing_below_the_stop() -> None:
    stops = clicks.cascade((1.0, 1.0, 1.0), (0.0, 0.0, 1.0))
    grades = np.array([[0, 2, 1, 0]])
    clicked, examined = stops(grades, np.random.default_rng(0))
    assert clicked.tolist() == [[True, True, False, False]]
    assert examined.tolist() == [[1.0, 1.0, 0.0, 0.0]]


@pytest.mark.parametrize("user", clicks.USERS)
def test_a_known_user_clicks_as_often_as_examinations_and_grades_say(user: str) -> None:
    """At every position and whatever was clicked just above: clicks are examinations × P(click on that grade)."""
    grades = np.repeat([[0, 1, 2, 0, 1]], 40_000, axis=0)
    clicked, examined = clicks.USERS[user](grades, np.random.default_rng(1))
    expected = examined * np.array(clicks.CLICKS[user])[grades]
    for place in range(1, grades.shape[1]):
        for above in (False, True):
            here = clicked[:, place - 1] == above
            apart = clicked[here, place].sum() - expected[here, place].sum()
            assert abs(apart) <= 4.5 * np.sqrt(expected[here, place].sum()) + 1e-6


def test_a_small_study_has_all_rows() -> None:
    rng, queries = np.random.default_rng(0), [f"q{n}" for n in range(10)]
    names = [f"d{n}" for n in range(12)]
    labels = {q: {item: int(rng.integers(0, 3)) for item in names} for q in queries}
    good = {q: sorted(names, key=lambda item, q=q: -labels[q][item] + rng.random()) for q in queries}
    bad = {q: list(rng.permutation(names)) for q in queries}
    data = jr.from_dicts({"good": good, "bad": bad}, labels=labels)
    found = clicks.measure(data, ["position-based"], [5], seed=0, with_references=True)
    kinds = ("click rate", "corrected", "corrected, exploration", clicks.SHOWN, clicks.KNOWN)
    bases = ("RRF", "true labels", clicks.CONTROL)
    assert set(found) == {*(("", 0, base) for base in bases), *(("position-based", 5, kind) for kind in kinds)}
    assert found["", 0, "true labels"] > found["", 0, "RRF"]
    report = clicks.ClickStudy({("small", *key): [value] for key, value in found.items()})
    assert len(report.rows()) == 8
