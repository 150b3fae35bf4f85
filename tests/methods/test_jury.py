"""Position curves: the definition in plain numpy, statistics that add up, queries that are really left out."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from plain_jury import plain_jury

from conftest import held_out_unjudged, random_dataset
from juryrank.data.build import from_dicts
from juryrank.data.dataset import Dataset, Pairs
from juryrank.data.long_table import from_long
from juryrank.errors import DataError, ParameterError, UnknownNameError
from juryrank.evaluation.evaluate import evaluate
from juryrank.learning.curves import Limits, QueryParts, Statistics, solve_curves
from juryrank.learning.gram_matrices import BlockSizes
from juryrank.learning.labelled import LabelledQueries
from juryrank.methods import method
from juryrank.methods.learned.jury_prior import RRFPriorSolver
from juryrank.models import from_json, to_json

both = pytest.mark.parametrize("name", ["jury", "ridge"])
sharing = pytest.mark.parametrize("experts", ["individual", "shared", "hybrid"])


@given(st.integers(0, 10_000), st.integers(1, 12), st.sampled_from(["equal", "correlation"]))
@settings(max_examples=50, deadline=None)
def test_weights_are_those_of_the_definition(seed, n_queries, prior):
    data = random_dataset(seed, n_queries=n_queries)
    model = method("jury", prior=prior, unjudged="irrelevant").fit(data)
    if not model.n_queries_:
        return
    here = [data.experts.index(name) for name in model.own_]
    assert len(here) == len(data.experts) or n_queries < 3
    if len(here) == len(data.experts):
        assert_allclose(model.curves_, plain_jury(data, prior).T[here, : model.n_curves], rtol=1e-6, atol=1e-9)


@both
def test_curves_make_the_scores(name):
    data = random_dataset(1)
    model = method(name).fit(data)
    r, expected = data.rankings, np.zeros(data.rankings.n_slots)
    for m in range(r.n_lists):
        for e in range(r.entry_ptr[m], r.entry_ptr[m + 1]):
            expected[r.entry_slot[e]] += model.formula().of(r.experts[r.list_expert[m]], r.entry_rank[e : e + 1])[0]
    assert_allclose(model.predict(data).scores, expected)


def test_endless_penalties_give_the_order_of_rrf():
    data = random_dataset(2, n_queries=8)
    held = method("jury", shrink=1e9, anchor=1e9).fit(data)
    rrf = method("rrf").fit_predict(data).scores
    scores = held.predict(data).scores
    assert np.corrcoef(scores, rrf)[0, 1] == pytest.approx(1.0, abs=1e-9)
    assert (held.curves_[:, 0] > 0).all()


@both
def test_labels_that_do_not_differ_are_an_error_that_counts_them(name):
    data = from_dicts({"a": {"q": ["x", "y"]}, "b": {"q": ["y", "z"]}}, labels={"q": {"x": 1, "y": 1, "z": 1}})
    with pytest.raises(DataError, match=f"{name}: no query has .* labels that differ.* of 3 ranked items .* 3 are"):
        method(name).fit(data)


def test_one_contrary_query_does_not_turn_the_common_curve_over():
    data = from_dicts(
        {"a": {"q": list("wxyz")}, "b": {"q": list("wxzy")}}, labels={"q": {"z": 2, "y": 1, "x": 0, "w": 0}}
    )
    model = method("jury").fit(data)
    assert model.curves_[:, 0].sum() > 0
    assert model.formula().of("a", np.array([1.0]))[0] > model.formula().of("a", np.array([30.0]))[0]


def contrary(n_contrary, n_queries=12):
    """Queries of three noisy experts; in some of them the labels are those of the items at the end of the lists."""
    rng = np.random.default_rng(1)
    runs, labels = {f"e{k}": {} for k in range(3)}, {}
    for q in range(n_queries):
        truth = np.arange(8.0) * (1 if q < n_contrary else -1)
        labels[f"q{q}"] = {f"i{i}": max(0, int(truth[i] - np.sort(truth)[4])) for i in range(8)}
        for k in range(3):
            runs[f"e{k}"][f"q{q}"] = [f"i{i}" for i in np.argsort(np.arange(8) + rng.normal(0, 2, 8))[:6]]
    return from_dicts(runs, labels=labels)


@pytest.mark.parametrize(("prior", "too_little"), [("equal", 0.15), ("correlation", 0.1)])
def test_the_common_curve_keeps_a_quarter_of_its_aim(prior, too_little):
    apart = []
    for n_contrary in range(13):
        data = contrary(n_contrary)
        model = method("jury", prior=prior).fit(data)
        plain, found = plain_jury(data, prior).T, model.curves_
        assert_allclose(found, plain[:, : model.n_curves], rtol=1e-6, atol=1e-9)
        others = [plain_jury(data, prior, kept=kept).T for kept in (0.0, too_little, 0.4, 0.6)]
        apart.append([np.abs(other - plain).max() > 1e-3 for other in others])
    assert np.any(apart, axis=0).all()  # a smaller or larger share would have been noticed


@both
@sharing
def test_fit_of_all_is_the_merge_of_parts_and_partial_fit_in_steps(name, experts):
    data = random_dataset(3, n_queries=12)
    fitted = method(name, experts=experts, threshold=1).fit(data)
    parts = [method(name, experts=experts, threshold=1).fit(data[some]) for some in (slice(0, 5), slice(5, 12))]
    stepped = method(name, experts=experts, threshold=1)
    for first in (0, 4, 8):
        stepped.partial_fit(data[slice(first, first + 4)])
    for model in (parts[0].merge(parts[1]), parts[1].merge(parts[0]), stepped):
        assert model.n_queries_ == fitted.n_queries_
        assert_allclose(model.predict(data).scores, fitted.predict(data).scores, rtol=1e-7, atol=1e-10)
        assert model.held_out_[0] == fitted.held_out_[0]


@both
def test_models_that_know_different_experts_merge_by_name(name):
    frame, labels = _frames(random_dataset(4, n_queries=10))
    early = pl.col("query").is_in([f"q{n}" for n in range(5)])
    first = frame.filter(early & (pl.col("expert") != "e0"))
    second = frame.filter(~early & (pl.col("expert") != "e4"))
    whole = method(name).fit(from_long(pl.concat([first, second]), labels=labels))
    one, two = (method(name).fit(from_long(f, labels=labels.filter(e))) for f, e in ((first, early), (second, ~early)))
    merged = one.merge(two)
    assert sorted(merged.own_) == ["e0", "e1", "e2", "e3", "e4"]
    data = random_dataset(5)
    assert_allclose(merged.predict(data).scores, whole.predict(data).scores, rtol=1e-7, atol=1e-10)


def test_a_merge_takes_the_same_method_with_the_same_parameters():
    data = random_dataset(6)
    with pytest.raises(ParameterError, match="same parameters"):
        method("jury").fit(data).merge(method("jury", shrink=3.0).fit(data))


def test_merging_changes_neither_model():
    data = random_dataset(7)
    one, two = method("jury").fit(data[:3]), method("jury").fit(data[3:])
    before = to_json(one), to_json(two)
    one.merge(two)
    assert (to_json(one), to_json(two)) == before


@both
@pytest.mark.parametrize("experts", ["individual", "shared"])
@pytest.mark.parametrize("n_queries", [3, 6, 9])
def test_leaving_a_query_out_is_really_fitting_without_it(name, experts, n_queries):
    data, params = random_dataset(8, n_queries=n_queries), {"experts": experts, "unjudged": "irrelevant"}
    model = method(name, **params).fit(data)
    gains = []
    for q in range(n_queries):
        others = np.array([p for p in range(n_queries) if p != q])
        refitted = method(name, **params).fit(data[others])
        own, rrf = (
            evaluate(m.predict(data[q]), data[q], "nDCG@10", unjudged=held_out_unjudged(model))["nDCG@10"]
            for m in (refitted, method("rrf").fit(data))
        )
        gains.append(own - rrf)
    count, mean, error = model.gain_over_rrf()
    assert count == n_queries
    assert mean == pytest.approx(np.mean(gains), abs=1e-12)
    assert error == pytest.approx(np.std(gains, ddof=1) / np.sqrt(n_queries), abs=1e-9)


def query_parts(data, limits):
    """The queries in parts, and the solver, as jury has them with unjudged="irrelevant"."""
    queries, solver = LabelledQueries.of(data, "irrelevant"), RRFPriorSolver(shrink=20.0, anchor=5.0, prior="auto")
    curves = solver.curves(queries.rankings.entry_rank)
    return QueryParts(queries, curves, Statistics.empty(4, queries.experts), limits), solver


def test_queries_are_held_out_in_groups_where_one_by_one_is_too_much():
    data = random_dataset(9, n_queries=12)
    parts, solver = query_parts(data, Limits(held_out_work=0.0, fewest_parts=3))
    scores = parts.held_out_scores(parts.total(), solver)
    for test in (range(4), range(4, 8), range(8, 12)):
        others = np.array([q for q in range(12) if q not in test])
        refitted = method("jury", unjudged="irrelevant").fit(data[others])
        slots = slice(data.rankings.slot_ptr[test[0]], data.rankings.slot_ptr[test[-1] + 1])
        assert_allclose(scores[slots], refitted.predict(data[list(test)]).scores, rtol=1e-9)


@pytest.mark.parametrize(("rows", "grams", "wide"), [(1, 1, 200), (300, 500, 200), (1 << 20, 1 << 20, 1)])
def test_blocks_of_any_size_give_the_same_model(rows, grams, wide):
    data = random_dataset(10, n_queries=9)
    whole = method("jury", unjudged="irrelevant").fit(data)
    parts, solver = query_parts(data, Limits(cached=0, block_sizes=BlockSizes(rows, grams, wide)))
    curves, unknown = solve_curves(parts.total(), solver)
    assert_allclose(curves, whole.curves_, rtol=1e-9)
    assert_allclose(unknown, whole.stranger_, rtol=1e-9)
    by_default, _ = query_parts(data, Limits())
    held_out = [p.held_out_scores(parts.total(), solver) for p in (parts, by_default)]
    assert_allclose(*held_out, rtol=1e-9)


@both
@pytest.mark.filterwarnings("ignore:.*none of the experts was")
def test_an_unseen_expert_has_the_curve_of_the_mean_expert(name):
    model = method(name).fit(random_dataset(11))
    stranger = from_dicts({"new": {"q": ["a", "b"]}})
    ranks = np.array([1.0, 2.0])
    mean = np.mean([model.formula().of(f"e{k}", ranks) for k in range(5)], axis=0)
    assert_allclose(model.predict(stranger).scores, mean)


@both
def test_shared_curves_do_not_ask_who_ranks(name):
    data = random_dataset(12)
    frame, labels = _frames(data)
    model = method(name, experts="shared").fit(data)
    renamed = from_long(frame.with_columns(expert="x" + pl.col("expert")), labels=labels)
    assert_allclose(model.predict(renamed).scores, model.predict(from_long(frame, labels=labels)).scores)
    assert model.curves_.shape[0] == 0


@both
def test_hybrid_pools_the_experts_with_few_preferences(name):
    data = random_dataset(13, ties=False)
    counts = {}
    for m in range(data.rankings.n_lists):
        expert, size = data.experts[data.rankings.list_expert[m]], int(data.rankings.list_size[m])
        counts[expert] = counts.get(expert, 0) + size * (size - 1) // 2
    threshold = sorted(counts.values())[2]
    model = method(name, experts="hybrid", threshold=threshold).fit(data)
    assert model.own_ == [e for e in data.experts if counts[e] >= threshold]
    assert sorted(model.own_ + model.pooled_) == sorted(counts)
    ranks = np.array([1.0, 5.0])
    assert_array_equal(model.formula().of(model.pooled_[0], ranks), model.formula().of("stranger", ranks))


@both
def test_hybrid_with_everybody_known_is_individual(name):
    data = random_dataset(14)
    known, own = (method(name, experts=e, threshold=1).fit(data) for e in ("hybrid", "individual"))
    assert_allclose(known.predict(data).scores, own.predict(data).scores)


def test_complete_rankings_leave_the_indicator_out():
    orders = {f"e{k}": {f"q{q}": list(np.roll(list("abcde"), k * q)) for q in range(6)} for k in range(3)}
    labels = {f"q{q}": {item: float(n) for n, item in enumerate("edcba")} for q in range(6)}
    model = method("jury").fit(from_dicts(orders, labels=labels))
    assert_array_equal(model.curves_[:, 2], 0.0)
    assert np.isfinite(model.curves_).all()


@both
def test_experts_that_cancel_each_other_give_finite_curves(name):
    halves = {"a": {f"q{n}": ["x", "y"] for n in range(6)}, "b": {f"q{n}": ["z", "w"] for n in range(6)}}
    data = from_dicts(halves, labels={f"q{n}": {"x": 1, "y": 0, "z": n % 2, "w": 0} for n in range(6)})
    model = method(name).fit(data)
    assert np.isfinite(model.curves_).all()
    assert np.abs(model.predict(data).scores).max() < 100


@both
def test_a_reference_ranking_and_pairs_teach_as_labels_do(name):
    data = random_dataset(15, n_queries=8)
    r, n = data.rankings, data.rankings.n_slots
    place = np.tile(np.arange(1.0, 10.0), 8)
    graded = method(name).fit(_labelled(r, 1.0 - (place - 1) / 9))
    ranked = method(name).fit(Dataset(rankings=r, reference=place))
    assert_allclose(ranked.curves_, graded.curves_)
    better, worse = (
        np.array(side, np.int32)
        for side in zip(*((s, t) for s in range(n) for t in range(n) if s // 9 == t // 9 and s < t), strict=True)
    )
    pairs = Pairs(pair_ptr=np.arange(9) * 36, better=better, worse=worse, weight=np.ones(len(better)))
    paired = method(name).fit(Dataset(rankings=r, pairs=pairs))
    won = method(name).fit(_labelled(r, (9 - place) / 8))
    assert_allclose(paired.curves_, won.curves_, rtol=1e-6)
    assert paired.held_out_[0] == 8


@both
def test_unjudged_items_count_as_irrelevant_or_not_at_all(name):
    data = random_dataset(16)
    judged = np.flatnonzero(~np.isnan(data.slot_labels))
    frame, labels = _frames(data)
    known = {(q, i) for q, i in labels.select("query", "item").iter_rows()}
    assert 0 < len(judged) < data.rankings.n_slots
    only = frame.filter(pl.struct("query", "item").map_elements(lambda s: (s["query"], s["item"]) in known, pl.Boolean))
    ignoring = method(name, unjudged="ignore").fit(data)
    without = method(name, unjudged="ignore").fit(
        from_long(only, candidates=labels.select("query", "item"), labels=labels)
    )
    assert_allclose(ignoring.curves_, without.curves_, rtol=1e-7, atol=1e-12)
    assert not np.allclose(ignoring.curves_, method(name).fit(data).curves_)


@both
def test_the_statistics_survive_saving(name):
    data = random_dataset(17, n_queries=8)
    whole = method(name).fit(data)
    back = from_json(to_json(method(name).fit(data[:4])))
    assert_allclose(back.partial_fit(data[4:]).curves_, whole.curves_, rtol=1e-7, atol=1e-12)
    assert back.report()[:20] == whole.report()[:20]


def test_the_report_names_gain_and_error():
    text = method("jury", target="AP").fit(random_dataset(18)).report()
    assert "AP" in text
    assert "±" in text
    assert "RRF" in text
    with pytest.raises(UnknownNameError, match="metric"):
        method("jury", target="nonsense").fit(random_dataset(18))


def _labelled(rankings, gains):
    from juryrank.learning.gains import gains_as_labels

    return Dataset(rankings=rankings, labels=gains_as_labels(rankings, gains))


def _frames(data):
    r, labels = data.rankings, data.labels
    lists = np.repeat(np.arange(r.n_lists), r.list_size)
    entries = pl.DataFrame(
        {
            "query": np.array(r.queries)[r.list_query[lists]],
            "item": r.items[r.slot_item[r.entry_slot]].astype(str),
            "expert": np.array(r.experts)[r.list_expert[lists]],
            "rank": r.entry_rank,
        }
    )
    query = np.repeat(np.array(labels.queries), np.diff(labels.label_ptr))
    item = labels.items[labels.label_item].astype(str)
    return entries, pl.DataFrame({"query": query, "item": item, "label": labels.label_value})
