"""Position bias and labels from clicks, compared with known users and with a slow version of the same EM."""

from collections import defaultdict
from math import log, log1p

import numpy as np
import polars as pl
import pytest

import juryrank
from juryrank.errors import ConvergenceWarning, DataError
from juryrank.tasks.clicks.counts import ClickCounts
from juryrank.tasks.clicks.position_bias import estimate_bias
from juryrank.tasks.clicks.relevance import RELEVANCE, ClickModel, Prior, fit_by_em


def simulate(n_queries, sessions, depth, rng, *, stop=0.0, moved=False, theta=None, ranked=False):
    """A log of users with known examination and relevance; with ``stop``, they stop after a click with that chance.

    With ``ranked``, better items tend to be shown first.
    """
    theta = 1.0 / np.arange(1, depth + 1) if theta is None else np.array(theta)
    relevance = rng.choice([0.1, 0.4, 0.8], (n_queries, depth), p=[0.5, 0.3, 0.2])
    if ranked:
        order = np.argsort(-relevance - rng.normal(0.0, 0.5, relevance.shape), axis=1)
        relevance = np.take_along_axis(relevance, order, axis=1)
    rows = []
    for q in range(n_queries):
        for s in range(sessions):
            order, going = rng.permutation(depth) if moved else np.arange(depth), True
            for place, item in enumerate(order):
                clicked = going and rng.random() < theta[place] * relevance[q, item]
                rows.append((f"q{q}", f"d{item}", place + 1, clicked, f"s{s}"))
                going = going and not (clicked and rng.random() < stop)
    names = ["query", "item", "position", "clicked", "session"]
    return pl.DataFrame(rows, schema=names, orient="row"), theta, relevance


def slow_em(rows, after_click, steps, curve, strength):
    """The same EM with dictionaries: one row at a time, all values of relevance in turn."""
    above, counts = defaultdict(int), defaultdict(lambda: [0, 0])
    for query, item, position, clicked, session in sorted(rows, key=lambda row: (row[0], row[4], row[2])):
        cell = counts[query, item, position, min(above[query, session], 5)]
        cell[0] += 1
        cell[1] += clicked
        above[query, session] += clicked
    positions = sorted({key[2] for key in counts})
    pairs = sorted({key[:2] for key in counts})
    theta = {p: curve[n] for n, p in enumerate(positions)}
    shares, objectives = [1 / len(RELEVANCE)] * len(RELEVANCE), []
    for _ in range(steps):
        value, posterior = 0.0, {}
        for pair in pairs:
            terms = []
            for g, share in zip(RELEVANCE, shares, strict=True):
                term = log(share) if share > 0 else -np.inf
                for (query, item, p, m), (shown, clicks) in counts.items():
                    if (query, item) == pair:
                        e = theta[p] * after_click**m
                        term += clicks * log(e * g) + (shown - clicks) * log1p(-e * g)
                terms.append(term)
            largest = max(terms)
            weights = [np.exp(term - largest) for term in terms]
            value += largest + log(sum(weights))
            posterior[pair] = [w / sum(weights) for w in weights]
        for p in positions[1:]:
            mean = curve[positions.index(p)]
            value += strength * (mean * log(theta[p]) + (1 - mean) * log1p(-theta[p]))
        objectives.append(value)
        examined, impressions = defaultdict(float), defaultdict(float)
        for (query, item, p, m), (shown, clicks) in counts.items():
            impressions[p] += shown
            f = after_click**m
            chance = sum(
                w * theta[p] * (1 - f * g) / (1 - theta[p] * f * g)
                for w, g in zip(posterior[query, item], RELEVANCE, strict=True)
            )
            examined[p] += clicks + (shown - clicks) * chance
        shares = [sum(posterior[pair][n] for pair in pairs) / len(pairs) for n in range(len(RELEVANCE))]
        for n, p in enumerate(positions[1:], 1):
            theta[p] = (examined[p] + strength * curve[n]) / (impressions[p] + strength)
    return [theta[p] for p in positions], shares, objectives


def test_em_takes_the_same_steps_as_a_slow_version():
    frame, *_ = simulate(4, 6, 3, np.random.default_rng(1), moved=True)
    counts, curve = ClickCounts.of(juryrank.read_clicks(frame)), np.array([1.0, 0.7, 0.5])
    start = ClickModel(curve, 0.8, np.full(len(RELEVANCE), 1 / len(RELEVANCE)))
    with_limit = fit_by_em(counts, start, Prior(curve, 3.0), max_iter=8, tol=0.0)
    theta, shares, objectives = slow_em(frame.rows(), 0.8, 8, curve, 3.0)
    assert not with_limit.converged
    np.testing.assert_allclose(with_limit.model.examination, theta, rtol=1e-9)
    np.testing.assert_allclose(with_limit.model.shares, shares, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(with_limit.objectives, objectives, rtol=1e-9)


@pytest.mark.parametrize("moved", [False, True])
def test_the_objective_of_em_never_decreases(moved):
    frame, *_ = simulate(20, 10, 5, np.random.default_rng(2), moved=moved)
    counts = ClickCounts.of(juryrank.read_clicks(frame))
    start = ClickModel(np.linspace(1, 0.2, 5), 0.9, np.full(len(RELEVANCE), 1 / len(RELEVANCE)))
    objectives = fit_by_em(counts, start, Prior(np.linspace(1, 0.2, 5), 10.0), max_iter=100, tol=0.0).objectives
    assert min(np.diff(objectives)) >= -1e-9 * abs(objectives[0])


def test_moved_items_show_the_examination_that_users_have():
    """The reference is the error that a known relevance would leave: θ̂ = clicks / Σ relevance at the position."""
    frame, theta, relevance = simulate(60, 60, 5, np.random.default_rng(3), moved=True)
    bias = estimate_bias(ClickCounts.of(juryrank.read_clicks(frame)))
    exposure = relevance.sum() / 5 * 60  # every item is as often at every position, on average
    error = np.sqrt(theta / exposure + theta**2 / exposure)  # of the position, and of the first that it is divided by
    assert bias.moved == 1.0
    assert "several positions" in bias.source
    assert (np.abs(bias.examination - theta) < 4 * error).all()
    low, high = bias.interval
    assert ((low <= theta) & (theta <= high)).sum() >= 4


def test_without_moved_items_em_finds_the_examination_where_relevance_does_not_depend_on_the_position():
    frame, theta, _ = simulate(200, 20, 5, np.random.default_rng(4))
    bias = estimate_bias(ClickCounts.of(juryrank.read_clicks(frame)))
    spread = 0.27  # standard deviation of relevance, mean 0.33: the mean of 200 items varies by 6 %
    error = theta * np.sqrt(2) * spread / 0.33 / np.sqrt(200)
    assert bias.moved == 0.0
    assert bias.converged
    assert (np.abs(bias.examination - theta) < 4 * error + 0.02).all()


@pytest.mark.parametrize("moved", [False, True])
def test_intervals_have_the_true_examination_although_better_items_are_shown_first(moved):
    inside, widths = [], []
    for seed in range(12):
        frame, theta, _ = simulate(40, 30, 6, np.random.default_rng(seed), ranked=True, moved=moved)
        labels = juryrank.click_labels(juryrank.read_clicks(frame))
        assert labels.cascade is None
        rows = labels.report().rows()[1:]
        inside += [row["low"] <= true <= row["high"] for row, true in zip(rows, theta[1:], strict=True)]
        widths += [np.log(row["high"] / row["low"]) for row in rows]
    assert np.mean(inside) >= 0.9
    assert (np.mean(widths) < 1.0) == moved  # what cannot be known is less where items have moved


def test_the_report_says_what_clicks_cannot_tell():
    frame, *_ = simulate(12, 30, 4, np.random.default_rng(3), ranked=True)
    report = juryrank.click_labels(juryrank.read_clicks(frame)).report()
    assert "low and high allow a factor of 2.66 where least is known" in " ".join(str(report).split())
    assert report.to_dict()["bias"]["unknown"] == pytest.approx([0.0, 0.5, 0.5, 0.5])
    given = juryrank.click_labels(juryrank.read_clicks(frame), examination=[1, 0.5, 0.4, 0.3]).report()
    assert "low and high allow" not in str(given)


def test_relevance_is_recovered_within_its_standard_error():
    frame, _, relevance = simulate(60, 60, 5, np.random.default_rng(5), moved=True)
    labels = juryrank.click_labels(juryrank.read_clicks(frame))
    found = labels.to_frame().select(
        pl.col("query").str.slice(1).cast(int), pl.col("item").str.slice(1).cast(int), "label", "examinations"
    )
    truth = relevance[found["query"], found["item"]]
    z = (found["label"].to_numpy() + labels.floor - truth) / np.sqrt(truth / found["examinations"].to_numpy())
    assert np.abs(z).max() < 5
    assert np.abs(z.mean()) < 0.3


def test_users_who_stop_after_a_click_are_noticed():
    flat = [1.0] * 4
    stopping, *_ = simulate(60, 40, 4, np.random.default_rng(6), stop=0.75, theta=flat)
    patient, *_ = simulate(60, 40, 4, np.random.default_rng(6), theta=flat)
    kappa = [estimate_bias(ClickCounts.of(juryrank.read_clicks(f))).model.after_click for f in (stopping, patient)]
    assert abs(kappa[0] - 0.25) < 0.08
    assert kappa[1] > 0.9


def test_without_sessions_clicks_above_are_not_used():
    frame, *_ = simulate(10, 10, 3, np.random.default_rng(7), stop=0.9)
    log = juryrank.read_clicks(frame.drop("session"))
    assert ClickCounts.of(log).cell_above.tolist() == [0, 0, 0]
    assert juryrank.click_labels(log).bias.model.after_click == 1.0


def test_labels_are_clicks_over_examinations_and_weights_grow_with_them():
    rows = [("q", "a", 1, 1)] * 3 + [("q", "a", 1, 0)] * 3 + [("q", "b", 2, 1)] * 2 + [("q", "b", 2, 0)] * 8
    frame = pl.DataFrame(rows, schema=["query", "item", "position", "clicked"], orient="row")
    labels = juryrank.click_labels(juryrank.read_clicks(frame), examination=[0.8, 0.4])
    # relative to the first position: a was examined 6 times, b 10 × 0.5 times
    assert labels.examinations.tolist() == [6.0, 5.0]
    assert (labels.label_value + labels.floor).tolist() == pytest.approx([0.5, 0.4])
    assert labels.label_weight is not None
    assert labels.label_weight[0] > labels.label_weight[1] > 0


def test_the_order_of_rows_does_not_change_labels():
    frame, *_ = simulate(12, 8, 4, np.random.default_rng(8), moved=True)
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=1)
    one, two = (juryrank.click_labels(juryrank.read_clicks(each)).to_frame() for each in (frame, shuffled))
    assert one.equals(two)


def test_a_log_with_one_position_gives_click_rates():
    rows = [("q", "a", 3, 1), ("q", "a", 3, 0), ("q", "b", 3, 0)]
    frame = pl.DataFrame(rows, schema=["query", "item", "position", "clicked"], orient="row")
    labels = juryrank.click_labels(juryrank.read_clicks(frame))
    assert labels.bias.examination.tolist() == [1.0]
    assert labels.label_value.tolist() == [0.5 - labels.floor, -labels.floor]


def test_known_examinations_are_those_of_the_positions_of_a_log_that_begins_further_down():
    rows = [("q", "a", 2, 1)] * 3 + [("q", "a", 2, 0)] * 3 + [("q", "b", 3, 1)] * 2 + [("q", "b", 3, 0)] * 8
    frame = pl.DataFrame(rows, schema=["query", "item", "position", "clicked"], orient="row")
    labels = juryrank.click_labels(juryrank.read_clicks(frame), examination=[1.0, 0.8, 0.4])
    # a was examined 6 times, b 10 × 0.4 / 0.8 times; position 1 does not matter
    assert labels.examinations.tolist() == [6.0, 5.0]
    assert (labels.label_value + labels.floor).tolist() == pytest.approx([0.5, 0.4])


def test_logs_without_clicks_or_without_rows_are_errors():
    frame, *_ = simulate(2, 2, 2, np.random.default_rng(0))
    quiet = juryrank.read_clicks(frame.with_columns(clicked=pl.lit(0)))
    with pytest.raises(DataError, match="nothing was clicked in 8 impressions"):
        juryrank.click_labels(quiet)
    with pytest.warns(juryrank.DataWarning):
        empty = juryrank.read_clicks(frame.with_columns(position=pl.lit(-1)))
    with pytest.raises(DataError, match="the click log is empty"):
        juryrank.click_labels(empty)
    with pytest.raises(DataError, match="takes a log from read_clicks, got DataFrame"):
        juryrank.click_labels(frame)


@pytest.mark.parametrize(
    ("known", "message"), [([1, 2], "above 0 and at most 1"), ([1.0], "has 1 positions, but the log has .* position 2")]
)
def test_a_wrong_known_examination_is_an_error(known, message):
    frame, *_ = simulate(5, 5, 2, np.random.default_rng(0))
    with pytest.raises(DataError, match=message):
        juryrank.click_labels(juryrank.read_clicks(frame), examination=known)


def test_em_that_stops_early_is_reported():
    frame, *_ = simulate(10, 10, 3, np.random.default_rng(0))
    with pytest.warns(ConvergenceWarning, match="did not converge after 2 steps"):
        labels = juryrank.click_labels(juryrank.read_clicks(frame), max_iter=2)
    assert "not converged" in str(labels.report())


def test_the_report_says_what_was_used():
    frame, *_ = simulate(12, 8, 4, np.random.default_rng(8), moved=True)
    report = juryrank.click_labels(juryrank.read_clicks(frame)).report()
    content = report.to_dict()
    assert content["log"]["sessions"] == 96
    assert content["log"]["impressions"] == 384
    assert [row["position"] for row in content["bias"]["positions"]] == [1, 2, 3, 4]
    assert "100% of impressions are of items shown at several positions" in str(report)


def test_jury_learns_from_clicks_whom_to_trust():
    """Two experts of whom one is right; the log shows items at random places."""
    rng = np.random.default_rng(9)
    queries = [f"q{n}" for n in range(12)]
    frame, _, relevance = simulate(12, 40, 4, rng, moved=True)
    best = {q: [f"d{i}" for i in np.argsort(-relevance[n])] for n, q in enumerate(queries)}
    data = juryrank.from_dicts({"good": best, "bad": {q: items[::-1] for q, items in best.items()}})
    model = juryrank.fit(data, "jury", labels=juryrank.click_labels(juryrank.read_clicks(frame)))
    assert model.predict(data).top()["q0"][0] in {f"d{i}" for i in np.flatnonzero(relevance[0] == relevance[0].max())}
    weights = model.expert_weights()
    assert weights["good"]["u"] > weights["bad"]["u"]


def test_queries_without_a_click_are_left_out_and_counted():
    rows = [(f"q{n}", f"d{place}", place, n < 5 and place == 3) for n in range(10) for place in range(1, 5)]
    frame = pl.DataFrame(rows, schema=["query", "item", "position", "clicked"], orient="row")
    labels = juryrank.click_labels(juryrank.read_clicks(frame), examination=[1.0] * 4)
    assert labels.queries == tuple(f"q{n}" for n in range(5))
    assert labels.report().to_dict()["labels"]["queries left out, without a click"] == 5
