"""Frames that PyTerrier's transformers get and give: its own test cases, columns, odd results, experts that fail."""

import os
import zlib

import pytest

pytest.importorskip("pyterrier")

import numpy as np
import pandas as pd
import pyterrier as pt
from pyterrier_demo import Retriever

import juryrank
from juryrank.errors import DataError, DataWarning, NotFittedError, RetrieverError, RetrieverWarning
from juryrank.integrations.pyterrier import JuryFeatureFusion, JuryFusion

TOPICS = pd.DataFrame({"qid": ["1", "2"], "query": ["tea", "coffee beans"]})


@pytest.fixture(scope="module", autouse=True)
def offline(tmp_path_factory):
    """No reports, which are warnings; an empty index of PyTerrier's pages, which schematics would download."""
    home = tmp_path_factory.mktemp("pyterrier")
    index = home / "documentation" / "objects.inv"
    index.parent.mkdir()
    index.write_bytes(b"#\n" * 4 + zlib.compress(b""))
    os.utime(index, (0, 0))  # PyTerrier checks for a new one while it is younger than a day
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PT_TEST_TRANSFORMER_REPORTS", "0")
        environment.setenv("PYTERRIER_HOME", str(home))
        yield


def frame(qids, docnos, scores, **columns):
    return pd.DataFrame({"qid": qids, "docno": docnos, "score": scores, **columns})


def fixed(qids, docnos, scores, **columns):
    return pt.Transformer.from_df(frame(qids, docnos, scores, **columns))


def retrievers():
    a = frame(["1", "1", "2"], ["x", "y", "z"], [3.0, 2.0, 1.0], rank=[0, 1, 0])
    b = frame(["1", "1", "2"], ["y", "w", "v"], [9.0, 8.0, 7.0], rank=[0, 1, 0])
    return Retriever(a), Retriever(b)


def of_retrievers():
    a, b = retrievers()
    return JuryFusion({"a": a, "b": b})


def of_frames():
    return JuryFusion({"a": fixed(["1"], ["x"], [1.0]), "b": fixed(["1"], ["y"], [1.0])}, method="rrf")


def of_pipelines():
    a, b = retrievers()
    reranked = a >> pt.apply.doc_score(lambda row: len(row["docno"]))
    return JuryFusion({"reranked": reranked % 10, "union": (a | b) >> b}, method="combsum")


def of_features():
    return JuryFeatureFusion(["a", "b"])


def cut_off():
    return of_retrievers() % 10


def of_union():
    a, b = retrievers()
    return (a | b) >> (a**b) >> JuryFeatureFusion(["a", "b"])


def nested():
    a, b = retrievers()
    return JuryFusion({"fused": JuryFusion({"a": a, "b": b}, method="rrf"), "b": b})


# PyTerrier's own test case of a transformer, for each of these
TestRetrievers = pt.testing.transformer_test_class(of_retrievers)
TestFrames = pt.testing.transformer_test_class(of_frames)
TestPipelines = pt.testing.transformer_test_class(of_pipelines)
TestFeatures = pt.testing.transformer_test_class(of_features)
TestCutOff = pt.testing.transformer_test_class(cut_off)
TestUnion = pt.testing.transformer_test_class(of_union)
TestNested = pt.testing.transformer_test_class(nested)


@pytest.mark.parametrize("make", [of_retrievers, of_frames, of_pipelines, nested])
def test_declared_columns_are_those_of_the_result(make):
    transformer = make()
    if isinstance(transformer, JuryFusion) and transformer.method is None:
        transformer = JuryFusion(transformer.experts, method="rrf")
    for columns in pt.inspect.transformer_inputs(transformer):
        inp = pd.DataFrame([{"qid": "1", "query": "tea", "docno": "x", "score": 1.0, "rank": 0}])[columns]
        declared = pt.inspect.transformer_outputs(transformer, columns)
        assert list(transformer.transform(inp).columns) == declared
        nothing = transformer.transform(inp[:0])
        assert list(nothing.columns) == declared
        assert len(nothing) == 0


def test_inspection_finds_experts_and_options():
    fusion = of_retrievers()
    assert list(pt.inspect.subtransformers(fusion)) == ["a", "b"]
    options = {attribute.name: attribute.value for attribute in pt.inspect.transformer_attributes(fusion)}
    assert options == {"experts": fusion.experts, "method": None, "model": None, "on_error": "raise", "params": {}}
    changed = pt.inspect.transformer_apply_attributes(fusion, method="rrf", params={"k": 5})
    assert repr(changed) == "JuryFusion(a, b, method='rrf', k=5)"
    assert list(changed.transform(TOPICS)["docno"]) == ["y", "x", "w", "v", "z"]
    drawn = pt.schematic.transformer_schematic(fusion)
    assert (drawn["label"], drawn["inner_pipelines_labels"]) == ("JuryFusion", ["a", "b"])
    features = {each.name: each.value for each in pt.inspect.transformer_attributes(of_features())}
    assert features["experts"] == ["a", "b"]
    assert features["missing_value"] == 0.0


def test_columns_of_topics_and_documents_are_kept():
    topics = TOPICS.assign(narrative=["about tea", "about coffee"], query_0=["the tea", "the coffee beans"])
    first = fixed(["1", "1", "2"], ["x", "y", "z"], [3.0, 2.0, 1.0], text=["X", None, "Z"], docid=[7, 8, 9])
    second = fixed(["1", "1"], ["y", "w"], [9.0, 8.0], text=["Y", "W"], url=["/y", "/w"], qtoks=["rewritten"] * 2)
    fused = JuryFusion({"first": first, "second": second}, method="rrf").transform(topics)
    assert list(fused.columns) == ["qid", "query", "narrative", "query_0", "docno", "text", "url", "score", "rank"]
    by_document = fused.set_index("docno")
    assert by_document["text"].to_dict() == {"x": "X", "y": "Y", "z": "Z", "w": "W"}
    assert by_document["url"].dropna().to_dict() == {"y": "/y", "w": "/w"}
    assert by_document["narrative"].to_dict() == {
        "x": "about tea",
        "y": "about tea",
        "w": "about tea",
        "z": "about coffee",
    }
    assert fused["rank"].tolist() == [0, 1, 2, 0]
    assert fused["score"].dtype == np.float64
    assert fused["rank"].dtype == np.int64


def test_columns_of_results_are_kept_when_they_are_fused_again():
    a, b = retrievers()
    candidates = frame(["1"] * 3, ["x", "y", "w"], [1.0, 1.0, 1.0], query="tea", docid=[4, 5, 6], text=["X", "Y", "W"])
    features = [np.array([1.0]), np.array([2.0]), np.array([3.0])]
    fused = JuryFusion({"a": a, "b": b}, method="rrf").transform(candidates.assign(features=features))
    assert list(fused.columns) == ["qid", "query", "docno", "docid", "text", "features", "score", "rank"]
    assert fused["docid"].tolist() == [5, 4, 6]
    assert [float(each[0]) for each in fused["features"]] == [2.0, 1.0, 3.0]


def test_topics_and_experts_without_results_are_left_out():
    nothing = fixed([], [], [])
    one = fixed(["1", "1"], ["x", "y"], [2.0, 1.0])
    fused = JuryFusion({"nothing": nothing, "one": one}, method="rrf").transform(TOPICS)
    assert fused[["qid", "docno"]].to_numpy().tolist() == [["1", "x"], ["1", "y"]]
    empty = JuryFusion({"nothing": nothing}, method="rrf").transform(TOPICS)
    assert list(empty.columns) == ["qid", "query", "docno", "score", "rank"]
    assert len(empty) == 0
    learned = JuryFusion({"nothing": nothing, "one": one})
    learned.fit(TOPICS, frame(["1", "1"], ["x", "y"], [0, 0]).assign(label=[0, 1]))
    with pytest.warns(DataWarning, match="experts that the model has not learned from: nothing"):
        assert set(learned.transform(TOPICS)["docno"]) == {"x", "y"}


def test_results_of_other_topics_are_left_out():
    everything = frame(["1", "2", "3"], ["x", "y", "z"], [1.0, 1.0, 1.0])
    uniform = pt.Transformer.from_df(everything, uniform=True)
    assert JuryFusion({"a": uniform}, method="rrf").transform(TOPICS)["qid"].tolist() == ["1", "2"]


def test_repeated_documents_count_once_and_missing_scores_are_dropped_with_a_count():
    a = fixed(["1"] * 4, ["x", "y", "x", "w"], [3.0, 2.0, 1.0, np.nan])
    b = fixed(["1"] * 2, ["y", "x"], [2.0, 1.0])
    fusion = JuryFusion({"a": a, "b": b}, method="rrf")
    with pytest.warns(DataWarning) as caught:
        fused = fusion.transform(TOPICS[:1])
    assert [str(each.message) for each in caught] == [
        "the data: 1 entries without a score are dropped",
        "the data: 1 entries repeat an item of their list; the best is kept",
    ]
    assert fused["docno"].tolist() == ["x", "y"]
    expected = juryrank.fuse({"a": ["x", "y"], "b": ["y", "x"]})
    assert fused["score"].tolist() == list(expected.values())


def test_ties_share_a_rank_and_tied_documents_are_in_the_order_of_their_names():
    a = fixed(["1"] * 3, ["10", "9", "2"], [1.0, 1.0, 0.5])
    fused = JuryFusion({"a": a}, method="rrf").transform(TOPICS[:1])
    assert fused["docno"].tolist() == ["9", "10", "2"]
    assert fused["score"][0] == fused["score"][1] > fused["score"][2]
    assert fused["rank"].tolist() == [0, 1, 2]


@pytest.mark.filterwarnings("ignore:The 'future.infer_string' option is deprecated:DeprecationWarning")
@pytest.mark.parametrize("storage", ["python", "pyarrow", "object"])
def test_ids_may_be_numbers_or_any_text_in_every_string_dtype(storage):
    options = ["future.infer_string", False] if storage == "object" else ["mode.string_storage", storage]
    with pd.option_context(*options):
        topics = pd.DataFrame({"qid": ["1", "q é ☕"], "query": ["a", "b"]})
        words = fixed(["1", "1", "q é ☕"], ["7", "日本", "a b"], [3.0, 2.0, 1.0])
        whole = fixed(["1", "1"], [7, 8], [5, 4])
        fused = JuryFusion({"words": words, "whole": whole}, method="rrf").transform(topics)
        assert fused[["qid", "docno"]].to_numpy().tolist() == [["1", "7"], ["1", "8"], ["1", "日本"], ["q é ☕", "a b"]]
        labels = pd.DataFrame({"qid": ["1", "1"], "docno": [7, "日本"], "label": [0, 1]})
        learned = JuryFusion({"words": words, "whole": whole}).fit(topics, labels)
        assert len(learned.transform(topics)) == 4
    numbered = pd.DataFrame({"qid": [1], "query": ["a"]})
    numeric = pt.apply.generic(lambda inp: frame([1, 1], ["x", "y"], [2, 1]), required_columns=["qid"])
    fused = JuryFusion({"numeric": numeric}, method="rrf").transform(numbered)
    assert fused["qid"].tolist() == [1, 1]


def test_results_without_scores_go_by_rank():
    ranked = pd.DataFrame({"qid": ["1"] * 3, "docno": ["x", "y", "w"], "rank": [2, 0, 1]})
    a = pt.Transformer.from_df(ranked)
    b = fixed(["1"], ["x"], [5.0])
    fused = JuryFusion({"a": a, "b": b}, method="rrf").transform(TOPICS[:1])
    expected = juryrank.fuse({"a": ["y", "w", "x"], "b": ["x"]})
    assert dict(zip(fused["docno"], fused["score"], strict=True)) == expected


def failing(message="no index"):
    def run(inp):
        raise RuntimeError(message)

    return pt.apply.generic(run, required_columns=["qid"])


def test_an_expert_that_fails_is_an_error_or_is_left_out_with_a_warning():
    a, b = retrievers()
    with pytest.raises(RetrieverError, match="'broken' failed: RuntimeError: no index") as caught:
        JuryFusion({"a": a, "broken": failing(), "b": b}, method="rrf").transform(TOPICS)
    assert isinstance(caught.value.__cause__, RuntimeError)
    skipping = JuryFusion({"a": a, "broken": failing(), "b": b}, method="rrf", on_error="skip")
    with pytest.warns(RetrieverWarning, match="'broken' failed, and the result is without it: RuntimeError: no index"):
        fused = skipping.transform(TOPICS)
    assert fused.equals(JuryFusion({"a": a, "b": b}, method="rrf").transform(TOPICS))
    with pytest.raises(RetrieverError, match="all retrievers failed"):
        JuryFusion({"x": failing(), "y": failing()}, method="rrf", on_error="skip").transform(TOPICS)


def test_a_model_is_not_fitted_without_one_of_its_experts():
    a, _ = retrievers()
    fusion = JuryFusion({"a": a, "broken": failing()}, on_error="skip")
    with pytest.raises(RetrieverError, match="'broken' failed"):
        fusion.fit(TOPICS, pd.DataFrame({"qid": ["1"], "docno": ["x"], "label": [1]}))


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (None, "what expert 'wrong' returns must be a pandas DataFrame, got NoneType"),
        (pd.DataFrame({"qid": ["1"], "score": [1.0]}), "must return the column 'docno'; its columns are"),
        (pd.DataFrame({"qid": ["1"], "docno": ["x"]}), "must return a score or a rank"),
        (frame(["1", "1"], ["x", None], [1.0, 2.0]), "docno must not be empty; it is in 1 of 2 rows"),
        (frame(["1"], ["x"], ["high"]), "score must be a number"),
    ],
)
def test_results_that_cannot_be_read_are_explained(returned, message):
    wrong = pt.apply.generic(lambda inp: returned, required_columns=["qid"])
    with pytest.raises(juryrank.JuryrankError, match=message):
        JuryFusion({"wrong": wrong}, method="rrf").transform(TOPICS)


def test_input_that_cannot_be_read_is_explained():
    with pytest.raises(pt.validate.InputValidationError, match="JuryFusion"):
        of_frames().transform(pd.DataFrame({"query": ["tea"]}))
    with pytest.raises(pt.validate.InputValidationError, match="JuryFeatureFusion"):
        of_features().transform(TOPICS)
    with pytest.raises(NotFittedError, match=r"jury learns from qrels: call fit\(topics, qrels\) before transform"):
        of_retrievers().transform(TOPICS)


def test_qrels_that_cannot_be_used_are_explained():
    a, b = retrievers()
    fusion, judged = JuryFusion({"a": a, "b": b}), pd.DataFrame({"qid": ["1"], "docno": ["x"], "label": [1]})
    with pytest.raises(
        DataError, match=r"qrels must have the column 'label'; its columns are \['qid', 'docno', 'rel'\]"
    ):
        fusion.fit(TOPICS, judged.rename(columns={"label": "rel"}))
    with pytest.raises(DataError, match="labels"):
        fusion.fit(TOPICS, judged.assign(qid="topic-77"))
    for wrong in ({"1": {"x": 1}}, None):
        with pytest.raises(DataError, match=f"qrels must be a pandas DataFrame, got {type(wrong).__name__}"):
            fusion.fit(TOPICS, wrong)
    with pytest.raises(DataError, match="topics must be a pandas DataFrame, got NoneType"):
        fusion.fit(None, judged)
    with pytest.raises(DataError, match="validation needs both, topics and qrels"):
        fusion.fit(TOPICS, judged, TOPICS)
    with pytest.raises(DataError, match="no expert returned any document"):
        fusion.fit(TOPICS.assign(qid=["8", "9"]), judged)


def with_features(rows):
    return frame(["1"] * len(rows), list(rows), [0.0] * len(rows), features=[np.array(each) for each in rows.values()])


def test_zero_and_nan_are_features_of_documents_that_an_expert_does_not_list():
    inp = with_features({"x": [2.0, 0.0], "y": [1.0, -3.0], "w": [np.nan, -1.0]})
    fused = JuryFeatureFusion(["a", "b"], method="rrf").transform(inp)
    expected = juryrank.fuse({"a": ["x", "y"], "b": ["w", "y"]})
    assert dict(zip(fused["docno"], fused["score"], strict=True)) == expected
    every = JuryFeatureFusion(["a", "b"], method="rrf", missing_value=None).transform(inp)
    expected = juryrank.fuse({"a": ["x", "y"], "b": ["x", "w", "y"]})
    assert dict(zip(every["docno"], every["score"], strict=True)) == expected


def test_documents_that_no_expert_lists_are_last():
    inp = with_features({"10": [0.0, 0.0], "x": [1.0, 0.0], "9": [0.0, 0.0], "y": [2.0, 1.0]})
    fused = JuryFeatureFusion(["a", "b"], method="rrf").transform(inp)
    assert fused["docno"].tolist() == ["y", "x", "9", "10"]
    assert fused["rank"].tolist() == [0, 1, 2, 3]
    assert fused["score"].is_monotonic_decreasing
    assert fused["score"][2] < fused["score"][1]
    nothing = JuryFeatureFusion(["a", "b"], method="rrf").transform(inp[:1])
    assert nothing["score"].tolist() == [0.0]


def test_a_document_that_is_twice_in_the_features_counts_once():
    inp = with_features({"x": [1.0], "y": [2.0]})
    with pytest.warns(DataWarning):
        fused = JuryFeatureFusion(["a"], method="rrf").transform(pd.concat([inp, inp]))
    assert fused["docno"].tolist() == ["y", "x"]


def test_features_of_another_number_than_names_are_an_error():
    inp = with_features({"x": [1.0, 2.0, 3.0]})
    with pytest.raises(DataError, match=r"2 experts are named \(a, b\), but documents have 3 features"):
        JuryFeatureFusion(["a", "b"], method="rrf").transform(inp)
