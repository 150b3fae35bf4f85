"""The cascade model finds how its users behave, and is used for them alone."""

import numpy as np
import polars as pl
import pytest

import juryrank
from juryrank.learning.gains import slot_gains, truth_of
from juryrank.tasks.clicks.cascade import Impressions, fit_cascade

RATES = np.array([0.4, 0.7, 0.9])  # of clicks on examined items, by grade


def simulate(rng, *, base=0.0, slope=0.0, leave=(0, 0), theta=None, n_queries=60, sessions=40, depth=8, rates=RATES):
    """A log of shuffled lists, the true examinations of its rows, and the rates of the items.

    Users stop after a click on an item of rate r with probability base + slope × r, and after a miss with that of
    ``leave``; or, with ``theta``, they examine each position with that probability, whatever they have clicked.
    """
    rows, rate = [], rng.choice(rates, (n_queries, depth), p=[0.6, 0.25, 0.15])
    for q in range(n_queries):
        for s in range(sessions):
            there = True
            for place, item in enumerate(rng.permutation(depth)):
                examined = there if theta is None else rng.random() < theta[place]
                clicked = bool(examined and rng.random() < rate[q, item])
                rows.append((f"q{q}", f"d{item}", place + 1, clicked, s, bool(examined)))
                ends = (base, slope) if clicked else leave
                there = there and rng.random() >= ends[0] + ends[1] * rate[q, item]
    names = ["query", "item", "position", "clicked", "session", "examined"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    return juryrank.read_clicks(frame.drop("examined")), frame, rate


@pytest.mark.parametrize(("base", "slope"), [(0.5, 0.0), (0.0, 0.0), (-0.2, 0.8)])
def test_the_probability_to_stop_is_found(base, slope):
    log, *_ = simulate(np.random.default_rng(1), base=base, slope=slope)
    cascade = fit_cascade(log)
    found, true = (np.clip(b + m * RATES, 0, 1) for b, m in ((cascade.base, cascade.slope), (base, slope)))
    assert np.abs(found - true).max() < 0.1
    assert 0 <= cascade.stop <= 1


@pytest.fixture(scope="module")
def satisfied():
    """Labels of users who stop more often after better items; beside them what users did, and the rate of each item."""
    log, frame, rate = simulate(np.random.default_rng(2), base=-0.2, slope=0.8)
    labels = juryrank.click_labels(log)
    done = frame.group_by("query", "item").agg(pl.col("examined", "clicked").sum())
    both = labels.to_frame().join(done, on=["query", "item"], validate="1:1")
    query, item = (both[name].str.slice(1).cast(int).to_numpy() for name in ("query", "item"))
    return labels, both, rate[query, item]


def test_examinations_are_as_many_as_users_make(satisfied):
    labels, both, rate = satisfied
    assert labels.cascade is not None
    for r in RATES:
        here = both.filter(rate == r)
        assert here["examinations"].sum() == pytest.approx(here["examined"].sum(), rel=0.05)


def test_clicks_over_examinations_are_the_rates_of_the_items(satisfied):
    labels, both, rate = satisfied
    for r in RATES:
        here = both.filter(rate == r)
        assert here["clicked"].sum() / here["examinations"].sum() == pytest.approx(r, abs=0.02)
    assert labels.floor == pytest.approx(0.4, abs=0.04)
    share = (both["clicked"] / both["examinations"]).clip(None, 1.0)
    np.testing.assert_allclose(both["label"], share - labels.floor, atol=1e-12)
    assert (both["label"] < 0).any()


@pytest.mark.parametrize("leave", [(0.2, 0.0), (0.0, 0.5)])
def test_users_who_leave_without_a_click_are_recognised(leave):
    log, frame, rate = simulate(np.random.default_rng(3), base=-0.2, slope=0.8, leave=leave)
    labels = juryrank.click_labels(log)
    missed = frame.filter(pl.col("examined") & ~pl.col("clicked"))
    query, item = (missed[name].str.slice(1).cast(int).to_numpy() for name in ("query", "item"))
    found = labels.report().to_dict()["bias"]
    assert found["model"] == "cascade"
    assert found["leave"] == pytest.approx((leave[0] + leave[1] * rate[query, item]).mean(), abs=0.08)
    assert f"did not click with probability {found['leave']:.2f}" in str(labels.report())
    done = frame.group_by("query", "item").agg(pl.col("examined").sum())
    both = labels.to_frame().join(done, on=["query", "item"], validate="1:1", maintain_order="left")
    query, item = (both[name].str.slice(1).cast(int).to_numpy() for name in ("query", "item"))
    for r in RATES:
        here = both.filter(rate[query, item] == r)
        assert here["examinations"].sum() == pytest.approx(here["examined"].sum(), rel=0.12)


@pytest.mark.parametrize(("base", "slope"), [(0.5, 0.0), (-0.2, 0.8)])
def test_users_who_stop_after_a_click_alone_do_not_leave_without_one(base, slope):
    for seed in range(3):
        log, *_ = simulate(np.random.default_rng(seed), base=base, slope=slope, sessions=15)
        labels = juryrank.click_labels(log)
        assert labels.cascade.leave == 0.0
        assert "did not click" not in str(labels.report())


def likelihood_by_enumeration(clicked, rate, stop):
    """The probability of the clicks of a session: a sum over where the user may have left."""
    total = 0.0
    for end in [*np.flatnonzero(clicked), None]:
        seen = len(clicked) if end is None else end + 1
        if clicked[seen:].any():
            continue
        value = np.where(clicked, rate, 1 - rate)[:seen].prod()
        for n in np.flatnonzero(clicked[:seen]):
            value *= stop[n] if n == end else 1 - stop[n]
        total += value
    return total


def test_examinations_are_those_of_the_most_likely_relevance():
    """With all other items and the probabilities to stop fixed, no relevance of an item makes its clicks likelier."""
    log, *_ = simulate(np.random.default_rng(8), base=-0.2, slope=0.8, n_queries=12, sessions=15, depth=5)
    cascade = fit_cascade(log)
    impressions = Impressions.of(log)
    stop, relevance = np.array([cascade.base, cascade.slope]), np.random.default_rng(0).uniform(0.2, 0.9, 60)
    found = impressions.cascade(stop, relevance, cascade.model.shares)
    share = found.counts.pair_clicks / found.examinations
    grid = np.linspace(0, 1, 1001)
    pair, clicked = (values.reshape(-1, 5) for values in (impressions.pair, log.clicked))
    for chosen in range(0, 60, 7):
        total = np.zeros(len(grid))
        for pairs, clicks in zip(pair, clicked, strict=True):
            if chosen not in pairs:
                continue
            rate, leave = relevance[pairs], np.clip(cascade.base + cascade.slope * relevance[pairs], 0.0, 0.98)
            # linear in the rate of one item, so two values give all of them
            ends = [likelihood_by_enumeration(clicks, np.where(pairs == chosen, r, rate), leave) for r in (0.0, 1.0)]
            with np.errstate(divide="ignore"):
                total += np.log(ends[0] + (ends[1] - ends[0]) * grid)
        assert share[chosen] == pytest.approx(grid[total.argmax()], abs=0.01)  # chances are binned


def test_what_comes_below_says_whether_an_item_was_examined():
    frame = pl.DataFrame(
        {"query": "q", "session": [1, 1, 1, 2, 2, 2, 3, 3, 3], "item": list("abc") * 3, "position": [1, 2, 3] * 3,
         "clicked": [0, 0, 1, 1, 0, 0, 0, 0, 0]}
    )  # fmt: skip
    impressions = Impressions.of(juryrank.read_clicks(frame))
    chance = impressions.presence(np.array([0.5, 0.0]), np.array([0.2, 0.4, 0.6]))
    stayed = 0.5 * np.array([1 - 0.6, 1 - 0.4])  # in session 2, after the click: each if the other was missed
    np.testing.assert_allclose(chance, [1, 1, 1, 1, *(stayed / (stayed + 0.5)), 1, 1, 1])


def test_what_comes_below_counts_less_where_users_leave_without_a_click():
    rows = {"query": "q", "session": [1, 1, 1, 2, 2, 2], "item": list("abc") * 2, "position": [1, 2, 3] * 2}
    frame = pl.DataFrame({**rows, "clicked": [1, 0, 0, 0, 0, 0]})
    impressions = Impressions.of(juryrank.read_clicks(frame))
    rate, leave = np.array([0.2, 0.4, 0.6]), 0.1 + 0.5 * np.array([0.2, 0.4, 0.6])
    chance = impressions.presence(np.array([0.5, 0.0, 0.1, 0.5]), rate)
    expected = []
    for clicked, first in (([1, 0, 0], 1), ([0, 0, 0], 0)):
        expected += [1.0] * first
        for item in range(first, 3):
            total = {True: 0.0, False: 0.0}  # by whether the item was examined
            for seen in range(max(first, 1), 4):  # the number of items that the user has examined
                likelihood = 1.0
                for n in range(seen):
                    ends = 0.5 if clicked[n] else leave[n]
                    if n != item:
                        likelihood *= rate[n] if clicked[n] else 1 - rate[n]
                    likelihood *= (1.0 if seen == 3 else ends) if n == seen - 1 else 1 - ends
                total[seen > item] += likelihood
            expected.append(total[True] / (total[True] + total[False]))
    np.testing.assert_allclose(chance, expected)


@pytest.mark.parametrize("seed", [4, 5])
@pytest.mark.parametrize("kind", ["cascade", "position"])
def test_each_model_is_chosen_for_its_own_users(kind, seed):
    theta = None if kind == "cascade" else 1 / np.arange(1, 9)
    log, *_ = simulate(np.random.default_rng(seed), base=0.5, theta=theta, sessions=15)
    report = juryrank.click_labels(log).report()
    assert report.to_dict()["bias"]["model"] == kind
    assert ("stop after a click" in str(report)) == (kind == "cascade")


def test_weights_are_smaller_where_relevance_makes_less_of_a_difference():
    clear, unclear = (
        juryrank.click_labels(simulate(np.random.default_rng(6), base=0.5, rates=np.array(rates))[0])
        for rates in ([0.4, 0.7, 0.9], [0.4, 0.5, 0.6])
    )
    assert unclear.label_weight.mean() < 0.6 * clear.label_weight.mean()


def test_without_sessions_or_with_a_given_examination_there_is_no_cascade():
    log, frame, _ = simulate(np.random.default_rng(7), base=0.5, n_queries=10, sessions=10)
    assert juryrank.click_labels(log, examination=[1.0] * 8).cascade is None
    alone = juryrank.read_clicks(frame.drop("examined", "session"))
    assert fit_cascade(alone) is None
    assert juryrank.click_labels(alone).cascade is None


def test_jury_learns_from_labels_below_0_but_not_from_codes_for_useless_items():
    runs = {"one": {"q": ["a", "b", "c"]}}
    data = juryrank.from_dicts(runs, labels={"q": {"a": (0.5, 1.0), "b": (-0.2, 0.5), "c": (-2.0, 0.5)}})
    by_item = dict(zip(data.rankings.items[data.rankings.slot_item], slot_gains(data), strict=True))
    assert by_item == {"a": 0.5, "b": -0.2, "c": 0.0}
    assert np.sort(truth_of(data, slot_gains(data)).slot_labels).tolist() == [-2.0, 0.0, 0.5]  # b is judged for metrics
    plain = juryrank.from_dicts(runs, labels={"q": {"a": 0.5, "b": -0.2, "c": -2.0}})
    assert slot_gains(plain).min() == 0.0
