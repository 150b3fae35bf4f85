"""Click logs with a bias that no model here has are named; logs of simulated honest users are not."""

import re
import warnings

import numpy as np
import polars as pl
import pytest

import juryrank as jr
from juryrank.errors import DataWarning
from juryrank.tasks.clicks.checks import warn_about_bias
from studies.clicks import USERS, Simulation

SHARES = {"many relevant": (0.2, 0.3, 0.5), "few relevant": (0.85, 0.1, 0.05), "half": (0.5, 0.3, 0.2)}

SIZES = [(1, 1, 5), (1, 500, 10), (3, 100, 4), (40, 3, 15), (40, 30, 15), (150, 1, 2), (150, 5, 3), (30, 200, 15)]


def simulation(n_queries, shares=SHARES["half"], n_items=15, seed=0):
    """Queries with graded items, which a good expert and a bad one have ranked."""
    rng = np.random.default_rng(seed)
    labels = {f"q{q}": {f"q{q}d{n}": int(rng.choice(3, p=shares)) for n in range(n_items)} for q in range(n_queries)}
    good = {q: sorted(items, key=lambda item: -items[item] + rng.random()) for q, items in labels.items()}
    bad = {q: list(rng.permutation(list(items))) for q, items in labels.items()}
    return Simulation.of(jr.from_dicts({"good": good, "bad": bad}, labels=labels))


def frame_of(user="position-based", n_queries=20, sessions=100, *, explore=False, seed=0, **changes):
    log = simulation(n_queries, seed=seed, **changes).log(user, sessions, explore, np.random.default_rng(seed))
    return log.select("query", "item", "position", "clicked", pl.format("{}/{}", "query", "session").alias("session"))


def said(frame):
    """What the warnings of read_clicks and click_labels say."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        jr.click_labels(jr.read_clicks(frame))
    return [str(each.message) for each in caught if issubclass(each.category, DataWarning)]


@pytest.mark.parametrize("explore", [False, True])
@pytest.mark.parametrize("shares", SHARES)
@pytest.mark.parametrize("user", USERS)
def test_logs_of_honest_users_have_no_warning(user, shares, explore):
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        for seed, (n_queries, sessions, n_items) in enumerate(SIZES):
            sizes = {"n_queries": n_queries, "sessions": sessions, "n_items": n_items, "seed": seed}
            frame = frame_of(user, shares=SHARES[shares], explore=explore, **sizes)
            if not frame["clicked"].all():  # that is an error
                warn_about_bias(jr.read_clicks(frame))


@pytest.mark.parametrize("user", USERS)
def test_the_labels_of_an_honest_user_have_no_warning(user):
    assert said(frame_of(user)) == []


def only_with_clicks(frame):
    return frame.filter(pl.col("clicked").any().over("session"))


def down_to_the_last_click(frame):
    last = pl.col("position").filter("clicked").max().over("session")
    return frame.filter((pl.col("position") <= last).fill_null(True))


@pytest.mark.parametrize("explore", [False, True])
@pytest.mark.parametrize("user", ["navigational", "position-based", "perfect"])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (only_with_clicks, "all [0-9]+ sessions have a click, as in a log that leaves out"),
        (down_to_the_last_click, "100% of [0-9]+ sessions with clicks and misses end with a click"),
        (lambda frame: only_with_clicks(down_to_the_last_click(frame)), "end with a click, as in a log that keeps"),
    ],
)
def test_a_log_without_lists_or_rows_that_were_not_clicked_is_named(change, words, user, explore):
    frame = change(frame_of(user, n_queries=60, sessions=60, explore=explore, shares=SHARES["few relevant"]))
    found = said(frame)
    assert len(found) == 1
    assert re.search(words, found[0])


def test_what_cannot_be_seen_without_sessions_is_not_warned_about():
    assert said(down_to_the_last_click(frame_of()).drop("session")) == []


@pytest.mark.parametrize("explore", [False, True])
@pytest.mark.parametrize("user", USERS)
def test_positions_that_start_again_on_each_page_are_named(user, explore):
    frame = frame_of(user, explore=explore)
    pages = frame.with_columns((pl.col("position") - 1) % 5 + 1)
    (found,) = said(pages)
    assert "2000 of 2000 sessions have several items at one position, as where positions start again" in found
    few = pl.when(pl.col("session").str.ends_with("7")).then((pl.col("position") - 1) % 5 + 1).otherwise("position")
    assert "200 of 2000 sessions" in said(frame.with_columns(few.alias("position")))[0]


@pytest.mark.parametrize("explore", [False, True])
@pytest.mark.parametrize("user", USERS)
def test_a_session_that_is_a_user_who_searches_again_is_named(user, explore):
    """Of 20 users, each has searched five times for each query; before, the rows were merged with a count alone."""
    number = pl.col("session").str.split("/").list.last().cast(pl.Int64)
    found = said(frame_of(user, explore=explore).with_columns(session=(number % 20).cast(pl.String)))
    assert any(
        "400 of 400 sessions have shown an item several times for one query, as where a" in text for text in found
    )


def test_a_row_for_the_impression_and_one_for_each_click_are_one_impression():
    frame = frame_of()
    again = pl.concat([frame.with_columns(clicked=False), *[frame.filter("clicked")] * 2])
    (found,) = said(again)
    assert re.search("rows that are not used: [0-9]+ repeated in a session$", found)


def test_a_user_with_several_queries_has_a_session_for_each():
    number = pl.col("session").str.split("/").list.last()
    assert said(frame_of().with_columns(session=number)) == []


def with_bots(frame, share, clicks):
    """The log with this share of the sessions clicked by ``clicks(position, rng)``."""
    rng = np.random.default_rng(5)
    session = frame["session"].rank("dense").to_numpy().astype(int) - 1
    bot = (rng.random(session.max() + 1) < share)[session]
    found = np.where(bot, clicks(frame["position"].to_numpy(), rng), frame["clicked"].to_numpy())
    return frame.with_columns(clicked=pl.Series(found, dtype=pl.Boolean))


EQUAL = {
    "everything": lambda position, _: position > 0,
    "the same three items": lambda position, _: np.isin(position, [3, 6, 8]),
}


@pytest.mark.parametrize("share", [0.03, 0.1, 0.3])
@pytest.mark.parametrize("clicks", EQUAL)
@pytest.mark.parametrize("user", USERS)
def test_machines_that_repeat_themselves_are_named(user, clicks, share):
    (found,) = said(with_bots(frame_of(user, sessions=200), share, EQUAL[clicks]))
    count = int(re.search("([0-9]+) of 4000 sessions have the same 3 or more clicks as others", found)[1])
    by_chance = 45 if user == "content without a click" else 0  # people with equal sessions, as they see few items
    assert count == pytest.approx(share * 4000, rel=0.3, abs=by_chance)


@pytest.mark.parametrize(
    ("user", "share", "rate"),
    [
        ("navigational", 0.3, 0.5),
        ("navigational", 0.3, 0.3),
        *((user, 1.0, rate) for user in ("perfect",) for rate in (0.1, 0.3, 0.5)),
    ],
)
def test_machines_that_click_at_random_are_named(user, share, rate):
    (found,) = said(with_bots(frame_of(user), share, lambda position, rng: rng.random(len(position)) < rate))
    assert re.search("clicks depend neither on the position .* nor on the item, as where machines click", found)
