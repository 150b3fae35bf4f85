"""Scores as a curve of jury: their scale, what the curve adds, and what such a model cannot do."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from plain_jury import plain_jury

import juryrank
from juryrank.data.build import from_dicts
from juryrank.errors import DataError, ParameterError
from juryrank.evaluation.evaluate import evaluate
from juryrank.methods import method
from juryrank.methods.learned.score_curve import score_curve, score_scales
from juryrank.models import from_json, to_json

STEPS = np.array([9.0, 8.5, 4.0, 3.5, 3.0, 1.0])


def scored(seed, n_queries=8, *, shift=0.0, factor=1.0, spread=None, experts=("sparse", "dense")):
    """Two experts with scores, one of them on another scale, and labels that follow the gaps of the first."""
    rng = np.random.default_rng(seed)
    runs, labels = {"sparse": {}, "dense": {}}, {}
    for q in range(n_queries):
        items = [f"i{i}" for i in rng.permutation(8)]
        wide = 1.0 if spread is None else spread[q % len(spread)]
        runs["sparse"][f"q{q}"] = {i: float(shift + factor * wide * s) for i, s in zip(items[:6], STEPS, strict=True)}
        other = [f"i{i}" for i in rng.permutation(8)[:6]]
        runs["dense"][f"q{q}"] = {i: float(0.8 + 0.01 * s) for i, s in zip(other, STEPS, strict=True)}
        labels[f"q{q}"] = {i: int(n < 2) + int(rng.random() < 0.2) for n, i in enumerate(items)}
    return from_dicts({name: runs[name] for name in experts}, labels=labels)


def test_the_curve_is_that_of_the_definition():
    data = scored(1, spread=(1.0, 0.1, 5.0))
    r = data.rankings
    scales = score_scales(r)
    found, lists = score_curve(r, scales), {}
    for m in range(r.n_lists):
        lists.setdefault(r.experts[r.list_expert[m]], []).append(r.entry_score[r.entry_ptr[m] : r.entry_ptr[m + 1]])
    for name, of_expert in lists.items():
        assert scales[name] == pytest.approx(np.sqrt(np.mean([np.var(scores) for scores in of_expert])))
    for m in range(r.n_lists):
        here = slice(r.entry_ptr[m], r.entry_ptr[m + 1])
        scores, sigma = r.entry_score[here], scales[r.experts[r.list_expert[m]]]
        assert_allclose(found[here], (scores - scores.min()) / max(sigma, np.std(scores)))


@pytest.mark.parametrize("prior", ["equal", "correlation"])
@pytest.mark.parametrize("n_queries", [1, 3, 8])
@pytest.mark.parametrize("factor", [1.0, -1.0])  # the scores of one expert speak for or against its items
def test_weights_are_those_of_the_definition(prior, n_queries, factor):
    data = scored(n_queries, n_queries, factor=factor, spread=(1.0, 0.3))
    model = method("jury", prior=prior, scores=True).fit(data)
    here = [data.experts.index(name) for name in model.own_]
    assert_allclose(model.curves_, plain_jury(data, prior, scores=True).T[here], rtol=1e-6, atol=1e-9)


def test_lists_of_equal_scores_and_unknown_experts_have_a_curve():
    r = from_dicts({"flat": {"q": {"a": 1.0, "b": 1.0}}, "new": {"q": {"a": 3.0, "b": 1.0}}, "one": {"q": {"a": 7.0}}})
    curve = score_curve(r.rankings, {})
    by_expert = {
        name: curve[np.repeat(r.rankings.list_expert, r.rankings.list_size) == k] for k, name in enumerate(r.experts)
    }
    assert by_expert["flat"].tolist() == [0.0, 0.0]
    assert by_expert["new"].tolist() == [2.0, 0.0]  # the standard deviation of 3 and 1 is 1
    assert by_expert["one"].tolist() == [0.0]
    assert "one" not in score_scales(r.rankings)


@pytest.mark.parametrize("prior", ["equal", "correlation", "auto"])
def test_scores_that_say_more_than_ranks_are_used(prior):
    train, test = scored(2, 40), scored(3, 30)
    by_rank, by_score = (method("jury", prior=prior, scores=scores).fit(train) for scores in (False, True))
    weights = by_score.expert_weights()
    assert weights["sparse"]["s"] > abs(weights["dense"]["s"])
    assert "s" not in by_rank.expert_weights()["sparse"]
    if prior == "equal":
        assert {row["w"] for row in weights.values()} == {0.0}
    assert np.isfinite(by_score.predict(test).scores).all()


def test_scale_and_origin_of_scores_do_not_matter():
    one = method("jury", scores=True).fit(scored(4))
    other = method("jury", scores=True).fit(scored(4, shift=-50.0, factor=1000.0))
    assert_allclose(
        one.predict(scored(5)).scores, other.predict(scored(5, shift=-50.0, factor=1000.0)).scores, rtol=1e-6
    )


def test_leaving_a_query_out_is_fitting_without_it_where_the_scales_agree():
    data = scored(6, 7)  # all lists of an expert have the same deviation
    model = method("jury", scores=True).fit(data)
    gains = []
    for q in range(7):
        pair = (
            method("jury", scores=True).fit(data[np.array([p for p in range(7) if p != q])]),
            method("rrf").fit(data),
        )
        own, rrf = (evaluate(m.predict(data[q]), data[q], "nDCG@10")["nDCG@10"] for m in pair)
        gains.append(own - rrf)
    assert model.gain_over_rrf()[1] == pytest.approx(np.mean(gains), abs=1e-12)


def test_more_queries_keep_the_scales():
    first, second = scored(7, 4), scored(8, 5, spread=(3.0,))
    model = method("jury", scores=True).fit(first)
    scales = dict(model.scales_)
    model.partial_fit(second)
    assert model.scales_ == scales
    same = method("jury", scores=True).fit(scored(7, 4)).partial_fit(scored(9, 5))
    assert same.n_queries_ == 9


def test_models_with_other_scales_are_not_merged_and_others_are():
    one, two = (method("jury", scores=True).fit(data) for data in (scored(10, 4), scored(11, 4, factor=7.0)))
    with pytest.raises(ParameterError, match=r"scales of scores are the same.* expert 'sparse' are .* fit one model"):
        one.merge(two)
    same = from_json(to_json(one))
    other = method("jury", scores=True).fit(scored(10, 4)).partial_fit(scored(12, 4))
    merged = same.merge(method("jury", scores=True).fit(scored(10, 4)))
    assert merged.n_queries_ == 2 * one.n_queries_
    assert merged.scales_ == one.scales_ == other.scales_


def test_a_merged_model_knows_the_scales_of_both():
    one, two = scored(10, 4, experts=["sparse"]), scored(11, 4, experts=["dense"], spread=(3.0,))
    merged = method("jury", scores=True).fit(one).merge(method("jury", scores=True).fit(two))
    assert merged.scales_ == pytest.approx({**score_scales(one.rankings), **score_scales(two.rankings)})


def test_a_saved_model_gives_the_same_scores():
    data = scored(13)
    model = method("jury", scores=True).fit(data)
    back = from_json(to_json(model))
    assert_array_equal(back.predict(data).scores, model.predict(data).scores)
    assert back.scales_ == model.scales_


def test_serving_uses_the_scores():
    data, model = scored(14), method("jury", scores=True).fit(scored(15))
    r, expected = data.rankings, model.predict(data)
    lists = {}
    for m in range(r.list_ptr[0], r.list_ptr[1]):
        here = slice(r.entry_ptr[m], r.entry_ptr[m + 1])
        items = r.items[r.slot_item[r.entry_slot[here]]]
        lists[r.experts[r.list_expert[m]]] = dict(zip(items.tolist(), r.entry_score[here].tolist(), strict=True))
    fused = juryrank.fuse(lists, model=model)
    own = {r.items[r.slot_item[s]]: expected.scores[s] for s in range(r.slot_ptr[0], r.slot_ptr[1])}
    assert fused == {item: pytest.approx(own[item]) for item in fused}
    assert juryrank.explain(model, data, "q0", top=3).matrix is not None


def test_lists_without_scores_and_exports_are_refused():
    ranks = from_dicts({"a": {"q": ["x", "y"]}, "b": {"q": ["y", "x"]}}, labels={"q": {"x": 1, "y": 0}})
    with pytest.raises(DataError, match=r"scores=true all lists need scores.* ranks only"):
        method("jury", scores=True).fit(ranks)
    model = method("jury", scores=True).fit(scored(16))
    assert model.formula() is None
    with pytest.raises(DataError, match="cannot be exported"):
        juryrank.export(model, "json", depth=5)
    with pytest.raises(DataError, match="fit with scores=false"):
        model.predict(ranks, warn_unknown=False)


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_very_small_and_very_large_scores_give_finite_curves(size):
    model = method("jury", scores=True).fit(scored(17, factor=size))
    assert np.isfinite(model.predict(scored(18, factor=size)).scores).all()


def test_scores_that_span_all_numbers_are_refused():
    data = from_dicts({"a": {"q": {"x": 1.7e308, "y": -1.7e308}}}, labels={"q": {"x": 1, "y": 0}})
    with pytest.raises(DataError, match="must differ by less than"):
        method("jury", scores=True).fit(data)
