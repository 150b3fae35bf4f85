"""The estimators for PyTerrier, on its own experiments and test cases, with the demo's TREC-COVID excerpt."""

import pickle

import pytest

pytest.importorskip("pyterrier")

import numpy as np
import pandas as pd
import pyterrier as pt
from pyterrier_demo import SYSTEMS, Retriever, as_dicts, orders, qrels, runs, topics

import juryrank
from juryrank.errors import NotFittedError, ParameterError
from juryrank.integrations.pyterrier import JuryFeatureFusion, JuryFusion

METRICS = ["ndcg_cut_10", "map"]
OTHER_COUNT = "ignore:Got number of results different expected:UserWarning"  # of PyTerrier, where ** fills in zeros


@pytest.fixture(scope="module")
def results():
    return runs()


@pytest.fixture(scope="module")
def judged():
    return qrels()


@pytest.fixture(scope="module")
def experts(results):
    return {system: Retriever(frame) for system, frame in results.items()}


@pytest.fixture(scope="module")
def fitted(experts, judged):
    return JuryFusion(experts).fit(topics()[:20], judged)


@pytest.fixture(scope="module")
def own_model(results):
    """What juryrank learns from the same lists."""
    return juryrank.fit(as_dicts(results, topics()["qid"][:20]), "jury", labels=labels_of(topics()["qid"][:20]))


def labels_of(chosen):
    judged = qrels()
    of = judged[judged["qid"].isin(list(chosen))]
    return {qid: dict(zip(rows["docno"], rows["label"], strict=True)) for qid, rows in of.groupby("qid")}


def test_a_fitted_fusion_ranks_as_juryrank_does_and_not_as_rrf(experts, results, fitted, own_model):
    test = topics()[20:]
    fused = fitted.transform(test)
    expected = own_model.predict(juryrank.from_dicts(as_dicts(results, test["qid"]))).to_dict()
    assert orders(fused) == {qid: list(ranking) for qid, ranking in expected.items()}
    assert dict(zip(zip(fused["qid"], fused["docno"], strict=True), fused["score"], strict=True)) == {
        (qid, docno): score for qid, ranking in expected.items() for docno, score in ranking.items()
    }
    rrf = orders(JuryFusion(experts, method="rrf").transform(test))
    assert all(rrf[qid][:20] != list(ranking)[:20] for qid, ranking in expected.items())


def test_rrf_needs_no_fit_and_sums_reciprocal_ranks(experts, results):
    fused = JuryFusion(experts, method="rrf", k=20, weights={"T5R1": 2.0}).transform(topics()[:3])
    expected: dict[tuple[str, str], float] = {}
    for system, frame in results.items():
        for qid, rows in frame[frame["qid"].isin(["1", "2", "3"])].groupby("qid"):
            ranks = rows["score"].rank(ascending=False, method="min")
            for docno, rank in zip(rows["docno"], ranks, strict=True):
                points = (2.0 if system == "T5R1" else 1.0) / (20 + rank)
                expected[qid, docno] = expected.get((qid, docno), 0.0) + points
    found = dict(zip(zip(fused["qid"], fused["docno"], strict=True), fused["score"], strict=True))
    assert found == pytest.approx(expected, rel=1e-12)


def test_an_experiment_has_the_values_of_evaluate(experts, fitted, results, judged, own_model):
    test = topics()[20:]
    rrf = JuryFusion(experts, method="rrf")
    table = pt.Experiment([fitted, rrf, fitted % 50], test, judged, METRICS, names=["jury", "rrf", "first 50"])
    data = juryrank.from_dicts(as_dicts(results, test["qid"]))
    labels = labels_of(test["qid"])
    for name, consensus in {"jury": own_model.predict(data), "rrf": juryrank.method("rrf").fit_predict(data)}.items():
        own = juryrank.evaluate(consensus, labels, ["nDCG@10", "AP"])
        row = table.set_index("name").loc[name]
        assert row["ndcg_cut_10"] == pytest.approx(own["nDCG@10"], abs=1e-12)
        assert row["map"] == pytest.approx(own["AP"], abs=1e-12)
    ndcg = table.set_index("name")["ndcg_cut_10"]
    assert ndcg["jury"] != ndcg["rrf"]
    assert ndcg["first 50"] == ndcg["jury"]


@pytest.mark.filterwarnings(OTHER_COUNT)
def test_features_of_a_pipeline_are_fused_as_the_lists_of_its_retrievers(experts, judged):
    bm25, t5, doc2vec = (experts[name] for name in SYSTEMS[:3])
    pipeline = (bm25 | t5 | doc2vec) >> (bm25**t5**doc2vec) >> JuryFeatureFusion(SYSTEMS[:3])
    pipeline.fit(topics()[:20], judged)
    by_lists = JuryFusion({name: experts[name] for name in SYSTEMS[:3]}).fit(topics()[:20], judged)
    test = topics()[20:]
    fused, expected = pipeline.transform(test), by_lists.transform(test)
    assert orders(fused) == orders(expected)
    assert np.array_equal(fused["score"], expected["score"])
    rrf = (bm25 | t5 | doc2vec) >> (bm25**t5**doc2vec) >> JuryFeatureFusion(SYSTEMS[:3], method="rrf")
    assert orders(rrf.transform(test)) != orders(fused)
    assert list(fused.columns) == ["qid", "query", "docno", "features", "score", "rank"]


@pytest.mark.filterwarnings(OTHER_COUNT)
def test_a_fusion_is_an_operand_of_every_operator(experts, fitted):
    some, bm25 = topics()[20:22], experts["bm25_baseline"]
    fused = fitted.transform(some)
    either = (fitted | bm25).transform(some)
    assert set(either["docno"]) == set(fused["docno"]) | set(bm25.transform(some)["docno"])
    features = (bm25 >> (fitted**bm25)).transform(some)
    assert {len(row) for row in features["features"]} == {2}
    assert set((fitted & bm25).transform(some)["docno"]) == set(bm25.transform(some)["docno"])
    total = (fitted + 2 * bm25).transform(some)
    assert len(total) == len(fused)
    assert (fitted % 5).transform(some)["rank"].tolist() == [0, 1, 2, 3, 4] * 2
    assert (fitted ^ bm25).transform(some)["docno"].nunique() == fused["docno"].nunique()
    assert fitted.search("topic 21", qid="21")["docno"].tolist() == orders(fused)["21"]


def test_results_are_reranked_by_pipelines(experts, judged):
    bm25, t5 = experts["bm25_baseline"], experts["T5R1"]
    second_stage = JuryFusion({"bm25": bm25, "t5": bm25 >> t5 % 50})
    pipeline = bm25 % 30 >> second_stage
    pipeline.fit(topics()[:20], judged)
    some = topics()[20:25]
    candidates = (bm25 % 30).transform(some)
    fused = pipeline.transform(some)
    assert {qid: set(docnos) for qid, docnos in orders(fused).items()} == {
        qid: set(docnos) for qid, docnos in orders(candidates).items()
    }
    assert second_stage.model_.experts_seen() == {"bm25", "t5"}


def test_a_model_is_saved_and_used_by_its_path(tmp_path, experts, fitted):
    juryrank.save(fitted.model_, tmp_path / "model.json")
    again = JuryFusion(experts, model=tmp_path / "model.json")
    some = topics()[20:]
    assert again.transform(some).equals(fitted.transform(some))
    assert JuryFusion(experts, model=fitted.model_).transform(some).equals(fitted.transform(some))
    assert pickle.loads(pickle.dumps(fitted)).transform(some).equals(fitted.transform(some))


def test_a_model_that_is_given_can_be_fitted_again(experts, judged, fitted):
    first = JuryFusion(experts).fit(topics()[:5], judged)
    again = JuryFusion(experts, model=first.model_).fit(topics()[:20], judged)
    assert again.transform(topics()[20:]).equals(fitted.transform(topics()[20:]))
    assert not first.transform(topics()[20:]).equals(again.transform(topics()[20:]))


def test_validation_topics_reach_the_method(experts, judged):
    class Recorder(juryrank.RRF):
        def _learn(self, data, valid):
            type(self).seen = (data.queries, valid.queries, data.labels, valid.labels)

    fusion = JuryFusion(experts, model=Recorder())
    fusion.fit(topics()[:4], judged, topics()[4:6], judged)
    assert Recorder.seen[:2] == (("1", "2", "3", "4"), ("5", "6"))


def test_a_grid_search_sets_parameters_of_the_method(experts, judged):
    fusion = JuryFusion(experts, method="rrf")
    grid = {fusion: {"k": [1, 60, 1000]}}
    table = pt.GridScan(fusion, grid, topics(), judged, ["ndcg_cut_10"])
    values = table["ndcg_cut_10"].tolist()
    for k, value in zip([1, 60, 1000], values, strict=True):
        own = pt.Experiment([JuryFusion(experts, method="rrf", k=k)], topics(), judged, ["ndcg_cut_10"])
        assert value == own["ndcg_cut_10"].item()
    assert len(set(values)) == 3
    best = pt.GridSearch(fusion, grid, topics(), judged, "ndcg_cut_10")
    assert best.get_parameter("k") == [1, 60, 1000][int(np.argmax(values))]


def test_a_learned_method_must_be_fitted_again_after_a_parameter_was_set(experts, judged):
    fusion = JuryFusion(experts).fit(topics()[:20], judged)
    fusion.set_parameter("shrink", 1.0)
    with pytest.raises(NotFittedError, match=r"call fit\(topics, qrels\)"):
        fusion.transform(topics()[20:])
    assert fusion.fit(topics()[:20], judged).model_.params()["shrink"] == 1.0
    with pytest.raises(ValueError, match="Invalid parameter name shrinkage"):
        fusion.set_parameter("shrinkage", 1.0)


def test_results_are_the_same_in_batches_and_in_any_order_of_experts(experts, fitted):
    some = topics()[20:]
    whole = fitted.transform(some)
    parts = pd.concat(list(fitted.transform_gen(some, batch_size=3)), ignore_index=True)
    assert parts.equals(whole)
    turned = JuryFusion(dict(reversed(experts.items())), model=fitted.model_)
    assert turned.transform(some).equals(whole)


def test_parameters_are_checked_where_they_are_given(experts):
    for wrong, message in {
        (("method", "bordo"),): "did you mean 'borda'",
        (("method", "rrf"), ("kk", 3)): "kk",
        (("method", "rrf"), ("model", "model.json")): "give model= or method=, not both",
        (("on_error", "ignore"),): "on_error must be 'raise' or 'skip'",
    }.items():
        with pytest.raises(juryrank.JuryrankError, match=message):
            JuryFusion(experts, **dict(wrong))
    for experts_given in ({}, [Retriever(None)], None):
        with pytest.raises(ParameterError, match="experts must be transformers by name"):
            JuryFusion(experts_given)
    with pytest.raises(ParameterError, match=r"experts\['a'\] must be a PyTerrier transformer, got DataFrame; use pt"):
        JuryFusion({"a": pd.DataFrame({"qid": []})})
    for names in ([], "bm25", {"a": 1}, None, 3):
        with pytest.raises(ParameterError, match="experts must be names of the features"):
            JuryFeatureFusion(names)
    bm25 = experts["bm25_baseline"]
    for make in (lambda: JuryFeatureFusion(["a", "a"]), lambda: JuryFusion({1: bm25, "1": bm25})):
        with pytest.raises(ParameterError, match="each expert needs a name of its own"):
            make()
    for make in (JuryFeatureFusion, lambda names, **options: JuryFusion(dict.fromkeys(names, bm25), **options)):
        with pytest.raises(ParameterError, match=r"weights of no expert: bm52 \(did you mean 'bm25'\?\)"):
            make(["bm25", "t5"], method="rrf", weights={"bm52": 2.0})
    with pytest.raises(ParameterError, match="missing_value must be a number or None, got 'none'"):
        JuryFeatureFusion(["a"], missing_value="none")
