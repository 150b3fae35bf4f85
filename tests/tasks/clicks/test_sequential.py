"""The sequential test of wins and losses: exact martingale, error rates under continuous looking, and an end."""

from itertools import product
from math import comb, exp, log

import numpy as np
import pytest
from scipy import integrate, stats

from juryrank.errors import ParameterError
from juryrank.tasks.clicks.sequential import ACCEPT, GO_ON, KEEP, SequentialTest, Tally

TEST = SequentialTest(level=0.05, minimum=0.1)


@pytest.mark.parametrize("p", [0.5, 0.55, 0.2])
@pytest.mark.parametrize("minimum", [0.02, 0.1, 0.6])
def test_the_e_value_is_a_martingale_of_mean_one_if_its_probability_is_true(p, minimum):
    test = SequentialTest(minimum=minimum)
    for n in range(9):
        mean = sum(comb(n, w) * p**w * (1 - p) ** (n - w) * exp(test.log_e(w, n - w, p)) for w in range(n + 1))
        assert mean == pytest.approx(1.0, rel=1e-10)
    for wins, losses in product(range(5), repeat=2):  # also given the past, step by step
        now = exp(test.log_e(wins, losses, p))
        after = p * exp(test.log_e(wins + 1, losses, p)) + (1 - p) * exp(test.log_e(wins, losses + 1, p))
        assert after == pytest.approx(now, rel=1e-10)


def test_the_e_value_is_the_mixture_of_likelihood_ratios():
    for wins, losses, p in [(3, 1, 0.5), (40, 25, 0.55), (0, 7, 0.4)]:
        prior = stats.beta(TEST.shape, TEST.shape)

        def ratio(q, wins=wins, losses=losses, p=p, prior=prior):
            return prior.pdf(q) * (q / p) ** wins * ((1 - q) / (1 - p)) ** losses

        expected, _ = integrate.quad(ratio, 0, 1)
        assert exp(TEST.log_e(wins, losses, p)) == pytest.approx(expected, rel=1e-6)
    assert stats.beta(TEST.shape, TEST.shape).std() * 2 == pytest.approx(2 * TEST.minimum)  # of preferences


def test_the_interval_has_the_probabilities_that_are_not_excluded():
    for wins, losses in [(0, 0), (5, 0), (0, 5), (60, 40), (400, 900), (30, 0)]:
        low, high = TEST.interval(wins, losses)
        for preference in np.linspace(-0.9995, 0.9995, 300):
            inside = TEST.log_e(wins, losses, 0.5 + 0.5 * preference) < log(1 / TEST.level)
            assert inside == (low <= preference <= high)
    assert TEST.interval(0, 0) == (-1.0, 1.0)


def test_the_verdict_follows_from_the_interval():
    seen = set()
    for wins, losses in product(range(0, 2000, 67), repeat=2):
        low, high = TEST.interval(wins, losses)
        expected = ACCEPT if low > 0 else KEEP if high < TEST.minimum else GO_ON
        assert TEST.verdict(wins, losses) == expected
        seen.add(expected)
    assert seen == {ACCEPT, KEEP, GO_ON}
    assert TEST.verdict(0, 0) == GO_ON


def test_exchanging_the_two_sides_turns_the_interval():
    low, high = TEST.interval(70, 45)
    assert TEST.interval(45, 70) == pytest.approx((-high, -low))
    assert TEST.p_value(70, 45) == pytest.approx(TEST.p_value(45, 70))


@pytest.mark.parametrize(("level", "minimum"), [(0.05, 0.1), (0.01, 0.2), (0.2, 0.3)])
def test_the_test_has_ended_after_the_stated_number_of_sessions(level, minimum):
    test = SequentialTest(level=level, minimum=minimum)
    for n in range(test.most, test.most + 5):
        assert all(test.verdict(wins, n - wins) != GO_ON for wins in range(n + 1))
    earlier = [(wins, n - wins) for n in range(int(0.95 * test.most), test.most) for wins in range(n + 1)]
    assert any(test.verdict(wins, losses) == GO_ON for wins, losses in earlier)


def first_verdicts(test: SequentialTest, p: float, n_tests: int, n: int, seed: int) -> list[str]:
    """The verdict of many simulated tests, looked at after every session until it is final."""
    won = np.random.default_rng(seed).random((n_tests, n)) < p
    known = {}
    out = []
    for row in np.cumsum(won, axis=1):
        verdict = GO_ON
        for at, wins in enumerate(row.tolist(), 1):
            if (verdict := known.get((wins, at), "")) == "":
                verdict = known[wins, at] = test.verdict(wins, at - wins)
            if verdict != GO_ON:
                break
        out.append(verdict)
    return out


@pytest.mark.parametrize(("p", "wrong"), [(0.5, ACCEPT), (0.6, KEEP)])
def test_wrong_decisions_are_rare_although_one_looks_after_every_session(p, wrong):
    test, n_tests = SequentialTest(level=0.1, minimum=0.2), 400
    found = first_verdicts(test, p, n_tests, test.most, seed=0)
    assert GO_ON not in found
    errors = found.count(wrong)
    assert 0 < errors <= stats.binom(n_tests, test.level).ppf(0.999)


def test_the_confidence_sequence_covers_at_all_times_together():
    test, n_tests, n = SequentialTest(level=0.2, minimum=0.1), 300, 400
    wins = np.cumsum(np.random.default_rng(1).random((n_tests, n)) < 0.7, axis=1)
    known = {}
    missed = 0
    for row in wins.tolist():
        for at, w in enumerate(row, 1):
            if (w, at) not in known:
                known[w, at] = test.log_e(w, at - w, 0.7) >= log(1 / test.level)
            if known[w, at]:
                missed += 1
                break
    assert 0 < missed <= stats.binom(n_tests, test.level).ppf(0.999)


@pytest.mark.parametrize(
    "options", [{"level": 0}, {"level": 1.0}, {"minimum": -0.1}, {"minimum": "x"}, {"level": True}]
)
def test_a_level_or_minimum_outside_its_bounds_is_refused(options):
    with pytest.raises(ParameterError, match="must be a number between 0 and 1"):
        SequentialTest(**options)


def test_the_design_effect_is_the_variance_by_user_over_that_by_session():
    rng = np.random.default_rng(0)
    tally, won = Tally(), {user: rng.choice([-1, 0, 1], size=user) for user in range(1, 12)}
    for user, outcomes in won.items():
        for outcome in outcomes.tolist():
            tally.add(user, outcome)
    for preference in (-1.0, -0.3, 0.0, 0.2, 1.0):
        errors = [outcomes[outcomes != 0] - preference for outcomes in won.values()]
        expected = sum(e.sum() ** 2 for e in errors) / sum((e**2).sum() for e in errors)
        assert tally.repeats(preference) == pytest.approx(max(expected, 1.0))
    for user, outcomes in won.items():
        for outcome in outcomes.tolist():
            tally.add(user, outcome, -1)
    assert (tally.squares, tally.repeats(0.3)) == ([0, 0, 0], 1.0)


def test_sessions_of_which_each_user_has_one_count_as_one():
    tally = Tally()
    for n in range(300):
        tally.add(n, 1 if n % 3 else -1)
    assert {tally.repeats(preference) for preference in np.linspace(-1, 1, 41)} == {1.0}


def test_users_who_always_agree_with_themselves_count_once():
    tally = Tally()
    for n in range(1200):
        tally.add(n % 40, -1 if n % 40 < 10 else 1)
    assert TEST.log_e(900, 300, repeats=tally.repeats) == pytest.approx(TEST.log_e(30, 10))
    low, high = TEST.interval(900, 300, tally.repeats)
    assert low < TEST.interval(30, 10)[0] + 0.02
    assert high > TEST.interval(30, 10)[1] - 0.02
