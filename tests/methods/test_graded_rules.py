"""Majority judgement and STAR: examples by hand, a slow version, and pref_voting."""

import numpy as np
import pytest

import juryrank
from juryrank.errors import DataError, ParameterError
from juryrank.methods import method
from peers import peer

SEEDS = range(200)


def graded(grades: np.ndarray):
    """One ballot per row, one candidate per column; NaN where a ballot gives no grade."""
    rows = [{f"c{c}": float(g) for c, g in enumerate(row) if not np.isnan(g)} for row in grades]
    return juryrank.from_dicts({f"v{v:02}": {"q": row} for v, row in enumerate(rows) if row})


def random_grades(seed: int, *, partial: bool = False) -> np.ndarray:
    rng = np.random.default_rng(seed)
    grades = rng.integers(0, 6, (rng.integers(2, 12), rng.integers(2, 6))).astype(float)
    grades[0] = rng.permutation(6)[: grades.shape[1]]  # every candidate is on a ballot
    if partial:
        grades[1:, 1:][rng.random(grades[1:, 1:].shape) < 0.3] = np.nan
    return grades


def order(name: str, data, **params) -> list[list[int]]:
    """Candidates from best to worst, those with the same score together."""
    scores = method(name, **params).fit_predict(data).to_dict()["q"]
    return [sorted(int(c[1:]) for c in scores if scores[c] == s) for s in sorted(set(scores.values()), reverse=True)]


def majority_value(grades) -> list[float]:
    """The definition: the lower median, then that of what is left without it, and so on."""
    left, value = sorted(grades), []
    while left:
        value.append(left.pop((len(left) - 1) // 2))
    return value


def test_majority_judgement_by_hand():
    # The medians are 3, 3 and 2. Without it the lower medians of (1, 2, 4, 5) and (0, 0, 3, 3) are 2 and 0.
    grades = np.array([[5, 3, 2], [4, 3, 2], [3, 3, 2], [2, 0, 2], [1, 0, 5]])
    found = method("majority-judgement").fit_predict(graded(grades))
    assert found.details["medians"][0] == {"c0": 3.0, "c1": 3.0, "c2": 2.0}
    assert order("majority-judgement", graded(grades)) == [[0], [1], [2]]


def test_the_lower_median_counts_where_there_are_two():
    assert order("majority-judgement", graded(np.array([[2.0, 5.0], [2.0, 1.0]]))) == [[0], [1]]


def test_the_order_of_majority_values_is_that_of_the_definition():
    ties = 0
    for seed in SEEDS:
        grades = random_grades(seed)
        values = [tuple(majority_value(column)) for column in grades.T]
        expected = [[c for c, v in enumerate(values) if v == value] for value in sorted(set(values), reverse=True)]
        assert order("majority-judgement", graded(grades)) == expected, seed
        ties += len(expected) < len(values)
    assert ties > 3


def test_copies_of_all_ballots_change_nothing():
    for seed in range(40):
        grades = random_grades(seed)
        for times in (2, 3):
            assert order("majority-judgement", graded(np.repeat(grades, times, axis=0))) == order(
                "majority-judgement", graded(grades)
            )


def test_the_majority_gauge_has_the_winners_of_pref_voting_and_the_value_refines_it():
    profiles, rules = peer("pref_voting.grade_profiles"), peer("pref_voting.grade_methods")
    refined = 0
    for seed in SEEDS:
        grades = random_grades(seed)
        maps = [dict(enumerate(row.astype(int).tolist())) for row in grades]
        expected = sorted(rules.majority_judgement(profiles.GradeProfile(maps, [0, 1, 2, 3, 4, 5])))
        assert order("majority-judgement", graded(grades), compare="gauge")[0] == expected, seed
        first = order("majority-judgement", graded(grades))[0]
        assert set(first) <= set(expected), seed
        refined += len(first) < len(expected)
    assert refined > 0


def test_a_candidate_without_a_grade_has_the_lowest_one():
    for seed in range(40):
        grades = random_grades(seed, partial=True)
        filled = np.where(np.isnan(grades), 0.0, grades)
        assert order("majority-judgement", graded(grades), lowest=0.0) == order("majority-judgement", graded(filled))
        assert order("star", graded(grades)) == order("star", graded(filled))
    two = np.array([[4.0, 2.0], [3.0, np.nan], [3.0, np.nan]])
    assert method("majority-judgement").fit_predict(graded(two)).details["medians"][0] == {"c0": 3.0, "c1": 2.0}


def test_star_by_hand():
    # Sums: 5 + 5 + 0 + 0 + 0 = 10, 4 + 4 + 2 + 2 + 1 = 13, 0 + 0 + 5 + 5 + 2 = 12. In the runoff of the last two, two
    # ballots have c1 above c2 and three c2 above c1.
    grades = np.array([[5, 4, 0], [5, 4, 0], [0, 2, 5], [0, 2, 5], [0, 1, 2]])
    [rounds] = method("star").fit_predict(graded(grades)).details["rounds"]
    assert [(votes.counts, votes.elected, votes.note) for votes in rounds] == [
        ({"c1": 13.0, "c2": 12.0, "c0": 10.0}, (), "c1 and c2 have the highest sums of scores"),
        ({"c2": 3.0, "c1": 2.0}, ("c2",), "c2 wins the runoff"),
    ]
    assert order("star", graded(grades)) == [[2], [1], [0]]


def test_ties_of_star_are_told_and_broken_as_declared():
    # c1 and c2 tie for the second sum, with 4; c0 wins both runoffs, 2 to 1.
    grades = np.array([[5, 1, 0], [4, 0, 1], [0, 3, 3]])
    [rounds] = method("star").fit_predict(graded(grades)).details["rounds"]
    assert rounds[0].note == "c1 and c2 tie for the second sum of scores; each has a runoff"
    assert [votes.counts for votes in rounds[1:]] == [{"c0": 2.0, "c1": 1.0}, {"c0": 2.0, "c2": 1.0}]
    assert rounds[-1].elected == ("c0",)
    [rounds] = method("star", tie_break="name").fit_predict(graded(grades)).details["rounds"]
    assert rounds[0].note.endswith("; c0 and c1 are in the runoff, by name")
    even = np.array([[5.0, 1.0], [1.0, 5.0]])
    assert order("star", graded(even)) == [[0, 1]]
    [rounds] = method("star").fit_predict(graded(even)).details["rounds"]
    assert (rounds[1].note, rounds[1].elected) == ("c0 and c1 tie in the runoff", ())
    assert order("star", graded(even), tie_break="given", order=["c1", "c0"]) == [[1], [0]]


def test_winners_of_star_are_those_of_pref_voting():
    profiles, rules = peer("pref_voting.grade_profiles"), peer("pref_voting.grade_methods")
    several = 0
    for seed in SEEDS:
        grades = random_grades(seed)
        maps = [dict(enumerate(row.astype(int).tolist())) for row in grades]
        expected = sorted(rules.star(profiles.GradeProfile(maps, [0, 1, 2, 3, 4, 5])))
        assert order("star", graded(grades))[0] == expected, seed
        several += len(expected) > 1
    assert several > 5


def test_sums_of_decimal_scores_tie_exactly():
    # 0.1 + 0.2 and 0.3 + 0 are the same sum, so that three candidates are in the runoffs.
    grades = np.array([[0.1, 0.3, 0.3], [0.2, 0.0, 0.0]])
    [rounds] = method("star").fit_predict(graded(grades)).details["rounds"]
    assert rounds[0].note.startswith("c0, c1 and c2 tie for the highest sum of scores")


def test_scores_off_the_scale_are_refused_with_the_ballot():
    grades = np.array([[5.0, 3.0], [87.0, 3.0], [99.0, 2.0]])
    message = (
        "star needs scores from 0 to 5 on all ballots; in query 'q', 'v01' gives 87 to 'c0' "
        r"\(2 such scores in all\); set lowest and highest"
    )
    with pytest.raises(DataError, match=message):
        method("star").fit_predict(graded(grades))
    assert order("star", graded(grades), highest=100.0) == [[0], [1]]
    with pytest.raises(DataError, match="majority-judgement needs scores up to 7 on all ballots"):
        method("majority-judgement", highest=7.0).fit_predict(graded(grades))
    with pytest.raises(ParameterError, match="lowest of STAR must be below highest, got 5"):
        method("star", lowest=5.0, highest=0.0).fit(graded(grades))


def test_of_three_that_tie_for_the_highest_sum_all_meet_or_the_two_that_are_favoured():
    grades = np.array([[5, 0, 1], [0, 5, 4], [1, 1, 1]])  # all sums are 6
    [rounds] = method("star").fit_predict(graded(grades)).details["rounds"]
    assert [sorted(votes.counts) for votes in rounds[1:]] == [["c0", "c1"], ["c0", "c2"], ["c1", "c2"]]
    [rounds] = method("star", tie_break="given", order=["c2", "c1", "c0"]).fit_predict(graded(grades)).details["rounds"]
    assert rounds[0].note.endswith("; c1 and c2 are in the runoff, by the given order")
    assert [sorted(votes.counts) for votes in rounds[1:]] == [["c1", "c2"]]
