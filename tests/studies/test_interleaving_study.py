"""Simulated users find the better ranking, and do not prefer one of two equals."""

from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import juryrank
from studies import interleaving

DEMO = Path(juryrank.__file__).parent / "demo" / "trec-covid"


@pytest.fixture(scope="module")
def data():
    return juryrank.read(DEMO / "runs.parquet", labels=DEMO / "qrels.parquet")


def by_grade(grades, *, best_first: bool):
    """The judged items of each query, ordered by grade."""
    return {q: sorted(found, key=found.get, reverse=best_first)[:25] for q, found in grades.items()}


@pytest.mark.parametrize("user", interleaving.USERS, ids=lambda user: user.name)
def test_every_user_prefers_relevant_items_and_the_verdict_says_so(data, user):
    grades = interleaving.grades_of(data)
    best, worst = by_grade(grades, best_first=True), by_grade(grades, best_first=False)
    sessions = interleaving.winners(worst, best, grades, user, 1500, seed=0)
    assert interleaving.decide(iter(sessions), 1500)[0] == "accept"
    assert interleaving.decide((-winner for winner in sessions), 1500)[0] == "keep"


def test_equal_rankings_have_no_winner(data):
    grades = interleaving.grades_of(data)
    same = by_grade(grades, best_first=True)
    assert set(interleaving.winners(same, same, grades, interleaving.USERS[0], 50, seed=0)) == {0}


def test_a_challenger_that_is_no_better_is_rarely_accepted_although_one_looks_after_every_session():
    bank = [1] * 300 + [-1] * 100 + [0] * 400
    rng, n = np.random.default_rng(0), 150
    verdicts = [interleaving.decide(interleaving.drawn(bank, rng, swap=True), 9000, 0.3)[0] for _ in range(n)]
    assert verdicts.count("go on") == 0
    assert verdicts.count("accept") <= stats.binom(n, 0.05).ppf(0.999)
    sessions = list(islice(interleaving.drawn(bank, rng, swap=False), 4000))
    assert abs(np.mean(sessions) - 0.25) < 0.06


def test_people_with_many_sessions_lead_to_wrong_verdicts_unless_they_are_known():
    bank = [1] * 700 + [-1] * 300
    unknown, known = interleaving.measure_people(bank, 60, "demo")
    assert unknown["accept"] > 0.1
    assert known["accept"] <= 0.05


@pytest.mark.parametrize("user", interleaving.USERS, ids=lambda user: user.name)
def test_users_click_what_their_numbers_say(user):
    rng, n, grades = np.random.default_rng(1), 4000, [1.0, 0.0, 1.0]
    clicked = np.zeros(3)
    for _ in range(n):
        clicked[user.clicks(grades, rng)] += 1
    stay = 1 - user.high * user.leave  # after the first item
    stay_again = 1 - user.low * user.leave * 0.5 * 2**-user.bias
    expected = [user.high, user.low * 2**-user.bias * stay, user.high * 3**-user.bias * stay * stay_again]
    assert np.abs(clicked / n - expected).max() < 5 * 0.5 / np.sqrt(n)


@pytest.mark.filterwarnings("ignore::juryrank.DataWarning")
def test_the_study_runs_on_a_small_scale(data):
    small = data.take(np.arange(10))
    costs = interleaving.explore(small, "demo")
    without = juryrank.evaluate(juryrank.method("rrf").fit(small).predict(small), small, "nDCG@10")["nDCG@10"]
    assert costs[0]["without"] == pytest.approx(float(without), abs=0.02)  # lists are cut
    verdicts = interleaving.measure_verdicts(small, "demo", null_tests=2, power_tests=2, bank=50)
    agreement = interleaving.measure_agreement(small, "demo", 5)
    study = interleaving.InterleavingStudy(costs, verdicts, agreement)
    assert len(study.rows()) == 12
    assert study.render("markdown").count("demo") == 2 + 2 + 12 + 3
    assert study.to_dict()["agreement"][0]["pairs"] == 66
