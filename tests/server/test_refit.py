"""Refits: exact learning from feedback, the comparison with the version in use, and what comes into use."""

import hashlib
import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from numpy.testing import assert_allclose

import juryrank
from juryrank.errors import UnknownNameError
from juryrank.evaluation.significance import half_width
from juryrank.models import from_json
from juryrank.server.feedback import Feedback
from juryrank.server.fusing import Fusing
from juryrank.server.problems import Problem
from juryrank.server.refit import FOLDS, refit
from juryrank.server.refit_routes import summarise
from juryrank.server.registry import Registry
from juryrank.server.settings import Settings
from juryrank.server.store_address import address_of, make_store
from server.feedback_samples import MODEL, demo, entry, fitted, labels_by_query, lists_by_query
from server.stores import new_database, postgres_server

QUERIES = demo().queries
FIRST, REST = QUERIES[:8], QUERIES[8:]


class Place:
    """A folder of models with a store, without a service."""

    def __init__(self, folder, content, **settings):
        (folder / "m.json").write_bytes(content)
        self.settings = Settings(models=folder, **settings)
        self.registry = Registry(folder)
        self._feedback = Feedback(self.registry, Fusing(self.registry, self.settings), self.settings)

    def send(self, *entries):
        rows, warnings = self._feedback.rows(json.dumps({"feedback": list(entries)}).encode(), None)
        with make_store(address_of(self.settings), 5.0) as store:
            assert store.add([rows])[0].stored == len(rows)
        return warnings

    def refit(self, promote="never", **more):
        return refit(self.settings, "m", promote, **more)

    @property
    def content(self):
        return self.registry.content("m")

    @property
    def model(self):
        return from_json(self.content.decode())


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path, fitted(FIRST))


def batches(queries, *sizes):
    """The queries in groups of these sizes."""
    ends = np.cumsum(sizes)
    assert ends[-1] == len(queries)
    return [queries[end - size : end] for end, size in zip(ends, sizes, strict=True)]


@pytest.mark.parametrize("method", ["jury", "ridge"])
@pytest.mark.parametrize("sizes", [(22,), (11, 11), (1, 2, 3, 4, 5, 7), (1,) * 22], ids=str)
def test_refit_after_refit_is_one_fit_of_all_whatever_the_order_and_number(tmp_path, method, sizes):
    place = Place(tmp_path, fitted(FIRST, method))
    order = [REST[n] for n in np.random.default_rng(len(sizes)).permutation(len(REST))]
    for part in batches(order, *sizes):
        place.send(*(entry(query) for query in part))
        report = place.refit("always")
        assert report["promoted"]
        assert report["candidate"] == hashlib.sha256(place.content).hexdigest()[:12]
    whole, found = from_json(fitted(QUERIES, method).decode()), place.model
    assert found.n_queries_ == whole.n_queries_ == len(QUERIES)
    assert (found.own_, found.pooled_, found.seen_.tolist()) == (whole.own_, whole.pooled_, whole.seen_.tolist())
    assert_allclose(found.gram_, whole.gram_, rtol=1e-12, atol=1e-12)  # sums, in another order
    assert_allclose(found.curves_, whole.curves_, rtol=1e-9, atol=1e-12)
    assert found.predict(demo()).top(10) == whole.predict(demo()).top(10)


def test_the_result_is_the_same_to_the_last_bit_whatever_the_order_and_number_of_refits(tmp_path):
    results = set()
    for n, sizes in enumerate([(22,), (7, 15), (1,) * 22]):
        (tmp_path / str(n)).mkdir()
        place = Place(tmp_path / str(n), fitted(FIRST))
        order = REST if n == 0 else REST[::-1]
        for part in batches(order, *sizes):
            place.send(*(entry(query) for query in part))
            place.refit("always")
        results.add(place.content)
    assert len(results) == 1


def test_feedback_counts_once_also_if_refits_are_repeated_or_rolled_back(place):
    place.send(*(entry(query) for query in REST[:10]))
    first = place.refit("always")
    again = place.refit("always")
    assert (again["candidate"], again["promoted"]) == (first["candidate"], False)
    assert again["reason"] == "the feedback adds nothing to the version in use"
    place.registry.roll_back("m", first["running"])
    assert place.refit("always")["candidate"] == first["candidate"]
    assert place.model.n_queries_ == 18


def test_labels_that_change_later_count_as_they_are_then(place, tmp_path):
    wrong = {item: 2.0 - min(label, 2.0) for item, label in labels_by_query()[REST[0]].items()}
    place.send(entry(REST[0], key="wrong", labels=wrong), *(entry(query) for query in REST[1:5]))
    changed = place.refit("always")["candidate"]
    place.send(entry(REST[0], key="right"))
    (tmp_path / "other").mkdir()
    other = Place(tmp_path / "other", fitted(FIRST))
    other.send(*(entry(query) for query in REST[:5]))
    right = place.refit("always")["candidate"]
    assert right == other.refit("always")["candidate"] != changed
    assert place.model.n_queries_ == 13


def test_a_label_can_be_taken_back_and_the_last_lists_of_a_query_count(place, tmp_path):
    query = REST[0]
    item = next(item for item, label in labels_by_query()[query].items() if label > 0)
    first, *others = list(lists_by_query()[query])
    place.send(entry(query, lists={first: lists_by_query()[query][first][::-1]}))
    place.send({"key": "2", "query": query, "labels": {item: None}}, entry(query, key="3", labels={"new": 0}))
    (tmp_path / "other").mkdir()
    other = Place(tmp_path / "other", fitted(FIRST))
    other.send(entry(query, labels={**{i: l for i, l in labels_by_query()[query].items() if i != item}, "new": 0}))
    assert len(others) == 11
    assert place.refit()["candidate"] == other.refit()["candidate"]


def test_the_held_out_gain_is_that_of_folds_by_hand(place):
    place.send(*(entry(query) for query in REST[:6]))
    place.refit("always")
    place.send(*(entry(query) for query in REST[6:]))
    found = place.refit()["held_out"]
    new = np.array([QUERIES.index(query) for query in REST[6:]])
    old = [QUERIES.index(query) for query in (*FIRST, *REST[:6])]
    before, after = {}, {}
    for part in np.array_split(np.random.default_rng(0).permutation(np.arange(len(new))), FOLDS):
        train = [int(q) for n, q in enumerate(new) if n not in part]
        models = juryrank.fit(demo()[old], "jury"), juryrank.fit(demo()[old + train], "jury")
        test = demo()[sorted(int(q) for q in new[part])]
        for values, model in zip((before, after), models, strict=True):
            judged = juryrank.evaluate(model.predict(test), test, ["nDCG@10"])
            values.update(zip(judged.queries, judged.per_query["nDCG@10"], strict=True))
    apart = np.array([after[query] - before[query] for query in before])
    assert (found["metric"], found["queries"], found["without_unjudged_items"]) == ("nDCG@10", 16, False)
    assert_allclose(found["running_mean"], np.mean(list(before.values())), rtol=1e-9)
    assert_allclose(found["gain"], apart.mean(), rtol=1e-9)
    assert_allclose([found["low"], found["high"]], apart.mean() + np.array([-1, 1]) * half_width(apart), rtol=1e-9)


def turned(query, key):
    """Feedback in which only one system is right, which the model has learned to trust less."""
    weakest = next(iter(lists_by_query()[query]))
    items = lists_by_query()[query][weakest]
    return entry(query, key=key, labels={item: 2.0 if n < 10 else 0.0 for n, item in enumerate(items[:100])})


def test_gain_promotes_if_the_interval_is_above_0_and_not_otherwise(place):
    version = place.refit()["running"]
    place.send(*(turned(query, f"t{query}") for query in REST[:4]))
    few = place.refit("gain")
    assert (few["promoted"], few["reason"]) == (False, "the gain needs 10 new queries or more, and there are 4")
    place.send(*(turned(query, f"t{query}") for query in REST[4:]))
    asked = place.refit("never")
    assert asked["held_out"]["low"] > 0
    assert asked["held_out"]["evidence"] == "shown"
    assert (asked["promoted"], asked["reason"]) == (False, "not asked for")
    assert hashlib.sha256(place.content).hexdigest()[:12] == version
    report = place.refit("gain")
    assert (report["promoted"], report["reason"]) == (True, "the interval of the gain is above 0")
    assert [each.version for each in place.registry.versions("m")] == [report["candidate"], version]


def test_gain_does_not_promote_a_model_that_is_no_better(place):
    rng = np.random.default_rng(1)
    place.send(
        *(entry(q, labels={item: float(rng.integers(0, 2)) for item in labels_by_query()[q]}) for q in REST[:15])
    )
    report = place.refit("gain")
    assert report["held_out"]["low"] <= 0
    assert report["held_out"]["evidence"] == "expected"
    assert (report["promoted"], report["reason"]) == (False, "the interval of the gain is not above 0")


def test_relevant_items_alone_show_no_gain_however_many_there_are(place):
    """The first items of one system, as clicks and gold items are: without unjudged items, all lists are perfect."""
    first = {q: next(iter(lists_by_query()[q].values()))[0] for q in REST}
    place.send(*(entry(q, labels={item: 1.0}) for q, item in first.items()))
    report = place.refit("gain")
    held_out = report["held_out"]
    assert (held_out["labels"], held_out["evidence"]) == ("positives only", "none")
    assert not held_out["without_unjudged_items"]
    assert held_out["running_mean"] < 1.0
    told = "the feedback names relevant items only, which cannot show a gain: label other items, too"
    assert (report["promoted"], report["reason"]) == (False, told)


def test_grades_of_several_judges_are_combined_as_combine_judgements_does(place):
    query, judges = REST[0], {"ann": 0, "ben": 0, "cat": 1}
    for judge, shift in judges.items():
        grades = {item: float((int(label) + shift) % 3) for item, label in labels_by_query()[query].items()}
        place.send(entry(query, key=judge, judge=judge, labels=grades))
    rows = [
        (query, item, judge, (int(label) + shift) % 3)
        for judge, shift in judges.items()
        for item, label in labels_by_query()[query].items()
    ]
    runs = {expert: {query: items} for expert, items in lists_by_query()[query].items()}
    data = juryrank.from_dicts(runs).with_labels(juryrank.combine_judgements(rows).labels)
    expected = from_json(fitted(FIRST).decode()).partial_fit(data)
    assert place.refit("always")["promoted"]
    assert_allclose(place.model.curves_, expected.curves_, rtol=1e-12)


def sessions(query, count, seed):
    """Lists that were shown: users look at the first places most, and click what is relevant."""
    rng, labels = np.random.default_rng(seed), labels_by_query()[query]
    pool = list(lists_by_query()[query].values())[seed % 12][:12]
    for n in range(count):
        shown = [pool[i] for i in rng.permutation(len(pool))]
        seen = rng.random(len(shown)) < 1 / np.arange(1, len(shown) + 1) ** 0.5
        chance = np.array([0.9 if labels.get(item, 0) > 0 else 0.05 for item in shown])
        clicked = [item for item, hit in zip(shown, seen & (rng.random(len(shown)) < chance), strict=True) if hit]
        yield {"key": f"{query}-{n}", "query": query, "clicks": {"shown": shown, "clicked": clicked}}


def test_clicks_become_labels_as_click_labels_does_where_there_are_enough(place, tmp_path):
    import polars as pl

    given = [each for n, query in enumerate(REST[:6]) for each in sessions(query, 40, n)]
    place.send(*given)
    place.send(*(entry(query, labels={"x": 0}, key=f"lists {query}") for query in REST[6:7]))
    place.send(
        *({**each, "key": f"again {each['key']}", "lists": lists_by_query()[each["query"]]} for each in given[::40])
    )
    given += given[::40]
    rows = [
        (each["query"], item, position, item in each["clicks"]["clicked"], str(n))
        for n, each in enumerate(given)
        for position, item in enumerate(each["clicks"]["shown"], 1)
    ]
    frame = pl.DataFrame(rows, schema=["query", "item", "position", "clicked", "session"], orient="row")
    labels = juryrank.click_labels(juryrank.read_clicks(frame))
    used = [query for query in REST[:6] if query in labels.queries]
    experts = lists_by_query()[REST[0]]
    runs = {expert: {query: lists_by_query()[query][expert] for query in used} for expert in experts}
    expected = from_json(fitted(FIRST).decode()).partial_fit(juryrank.from_dicts(runs).with_labels(labels))
    report = place.refit("always")
    assert report["learned_queries"] == len(used) >= 4
    assert_allclose(place.model.curves_, expected.curves_, rtol=1e-9)


def test_too_few_clicks_and_queries_without_lists_are_counted(place):
    place.send(*sessions(REST[0], 5, 0), {"key": "x", "query": "unknown", "labels": {"a": 1, "b": 0}})
    report = place.refit("always")
    clicks = sum(len(each["clicks"]["clicked"]) for each in sessions(REST[0], 5, 0))
    reason = f"lists that were shown: they have {clicks} clicks, and 100 are needed"
    assert report["not_used"] == {reason: 5, "queries without lists": 1}
    assert (report["candidate"], report["promoted"]) == (None, False)
    assert report["reason"] == f"none of the feedback can be used: {reason} (5); queries without lists (1)"


def test_queries_whose_labels_say_nothing_are_counted_and_named(place):
    lists = {"a": ["x", "y"], "b": ["y", "x"]}
    place.send(
        {"key": "1", "query": "all bad", "lists": lists, "labels": {"x": 0, "y": 0}},
        {"key": "2", "query": "all equal", "lists": lists, "labels": {"x": 1, "y": 1}},
    )
    report = place.refit("always")
    reason = "queries of which no listed item has a better label than another"
    assert (report["not_used"], report["candidate"]) == ({reason: 2}, None)
    assert report["reason"] == f"none of the feedback can be used: {reason} (2)"
    place.send(entry(REST[0]))
    report = place.refit("always")
    assert (report["learned_queries"], report["not_used"]) == (1, {reason: 2})
    assert f"not used: {reason} (2); promoted" in summarise(report)


def test_without_feedback_nothing_is_unused(place):
    report = place.refit("always")
    assert (report["not_used"], report["reason"]) == ({}, "there is no feedback to learn from")


def test_a_model_that_uses_scores_learns_from_lists_with_scores_only(tmp_path):
    def scored(query):
        lists = {e: {item: 100.0 - n for n, item in enumerate(items)} for e, items in lists_by_query()[query].items()}
        return entry(query, lists=lists)

    runs = {}
    for query in FIRST:
        for expert, items in scored(query)["lists"].items():
            runs.setdefault(expert, {})[query] = items
    model = juryrank.fit(runs, "jury", labels={query: labels_by_query()[query] for query in FIRST}, scores=True)
    juryrank.save(model, tmp_path / "scores.json")
    place = Place(tmp_path, (tmp_path / "scores.json").read_bytes())
    (tmp_path / "scores.json").unlink()
    place.send(scored(REST[0]), entry(REST[1]))
    report = place.refit("always")
    assert report["not_used"] == {"queries with lists that have no scores, which the model needs": 1}
    assert report["learned_queries"] == 1


def test_an_uploaded_model_starts_anew_and_learns_all_feedback(place):
    place.send(*(entry(query) for query in REST[:5]))
    place.refit("always")
    place.registry.put("m", fitted(REST[5:10]))
    assert place.refit("always")["learned_queries"] == 5
    assert place.model.n_queries_ == 10


def test_a_model_that_was_replaced_meanwhile_is_not_overwritten(place, monkeypatch):
    place.send(*(entry(query) for query in REST[:3]))
    other, put = fitted(REST[5:10]), Registry.put

    def late(registry, name, content, **more):
        if more:
            put(registry, name, other)  # somebody uploads while the refit learns
        return put(registry, name, content, **more)

    monkeypatch.setattr(Registry, "put", late)
    report = place.refit("always")
    assert (report["promoted"], report["reason"]) == (False, "model 'm' was replaced by another version meanwhile")
    assert place.content == other


def test_methods_that_cannot_learn_more_are_refused(tmp_path):
    place = Place(tmp_path, fitted(FIRST, "tuned-rrf"))
    place.send(entry(REST[0]))
    with pytest.raises(Problem, match="model 'm' is tuned-rrf, which cannot learn more; models of jury and ridge can"):
        place.refit()
    with pytest.raises(UnknownNameError, match="no model 'other'"):
        refit(place.settings, "other", "never")


def test_with_only_new_nothing_is_done_twice(place):
    assert place.refit("gain", only_new=True) == {}
    place.send(*(entry(query) for query in REST[:3]))
    assert place.refit("gain", only_new=True)["learned_queries"] == 3
    assert place.refit("gain", only_new=True) == {}
    place.send(entry(REST[3]))
    assert place.refit("always", only_new=True)["promoted"]
    assert place.refit("always", only_new=True) == {}
    place.registry.put("m", MODEL)
    assert place.refit("never", only_new=True)["learned_queries"] == 4


def test_a_refit_from_postgresql_is_the_same_as_from_sqlite(tmp_path):
    found = []
    with postgres_server() as server:
        for store in (None, new_database(server)):
            folder = tmp_path / str(len(found))
            folder.mkdir()
            place = Place(folder, fitted(FIRST), store=store)
            for part in batches(REST[:6], 2, 4):
                place.send(*(entry(query) for query in part))
                place.refit("always")
            found.append(place.content)
    assert found[0] == found[1]


def test_times_do_not_matter_since_rows_have_numbers(place):
    place.send(entry(REST[0], key="old", labels=dict.fromkeys(labels_by_query()[REST[0]], 0.0)))
    place.send(entry(REST[0], key="new"))
    with closing(sqlite3.connect(address_of(place.settings))) as connection:  # as if the clock had been set back
        connection.execute("UPDATE juryrank_feedback SET received = '1970-01-01' WHERE key = 'new'")
        connection.commit()
    assert place.refit()["learned_queries"] == 1
