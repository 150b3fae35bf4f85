"""JuryJoiner in real Haystack pipelines: its orders and scores are juryrank's, and no document is changed."""

from collections.abc import Callable
from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

pytest.importorskip("haystack")

from haystack import Document, Pipeline, component
from haystack.components.joiners import DocumentJoiner
from haystack.components.routers import ConditionalRouter
from haystack.core.errors import PipelineConnectError, PipelineRuntimeError
from haystack_samples import DEMO, QUERIES, documents, embed, fitted, ids, ranked_ids, retrieved, retrievers

import juryrank
from juryrank.errors import DataError, DataWarning, ParameterError, RetrieverError, RetrieverWarning, UnknownNameError
from juryrank.integrations.haystack import JuryJoiner

QUERY = QUERIES["q01"]


def of(*names: str, **fields: Any) -> list[Document]:
    """Documents with these ids and contents."""
    return [Document(id=name, content=name, **fields) for name in names]


@component
class Embedder:
    """A step between the query and a retriever, so that one branch is longer than the other."""

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:
        return {"embedding": embed(text)}


def hybrid(joiner: JuryJoiner) -> Pipeline:
    """Full text and embeddings, each connected to an input of the joiner."""
    found = retrievers()
    pipeline = Pipeline()
    pipeline.add_component("embedder", Embedder())
    pipeline.add_component("by_text", found["bm25"])
    pipeline.add_component("by_vector", found["dense"])
    pipeline.add_component("joiner", joiner)
    pipeline.connect("by_text.documents", "joiner.bm25")
    pipeline.connect("embedder.embedding", "by_vector.query_embedding")
    pipeline.connect("by_vector.documents", "joiner.dense")
    return pipeline


def asked(query: str) -> dict[str, Any]:
    return {"embedder": {"text": query}, "by_text": {"query": query}}


@cache
def trec_covid() -> tuple[dict[str, dict[str, list[str]]], Any]:
    """The demo runs, 12 systems and 30 topics of 100 items, as query → expert → items, and a model fitted to them."""
    folder = DEMO / "trec-covid"
    runs = pl.read_parquet(str(folder / "runs.parquet")).sort("query", "expert", "rank")
    lists: dict[str, dict[str, list[str]]] = {}
    for (query, expert), part in runs.group_by("query", "expert", maintain_order=True):
        lists.setdefault(str(query), {})[str(expert)] = part["item"].to_list()
    data = juryrank.read(str(folder / "runs.parquet"), labels=str(folder / "qrels.parquet"))
    return lists, juryrank.fit(data, "jury")


class TestOrder:
    def test_every_query_has_the_order_and_scores_of_juryrank(self) -> None:
        queries, model = trec_covid()
        experts = sorted({expert for lists in queries.values() for expert in lists})
        weights = {expert: 1.0 + number for number, expert in enumerate(experts)}
        ways: list[dict[str, Any]] = [
            {"model": model},
            {"method": "rrf", "weights": weights, "k": 10},
            {"method": "borda"},
        ]
        joiners = [JuryJoiner(experts, top_k=None, **way) for way in ways]
        for lists in queries.values():
            given = {expert: of(*items) for expert, items in lists.items()}
            for way, joiner in zip(ways, joiners, strict=True):
                fused = joiner.fuse_documents(given)
                assert [(each.id, each.score) for each in fused] == list(juryrank.fuse(lists, **way).items())
        assert len(queries) == 30

    def test_learned_weights_change_the_order_against_rrf(self) -> None:
        queries, model = trec_covid()
        learned = JuryJoiner(sorted(queries["1"]), model)
        rrf = JuryJoiner(sorted(queries["1"]))
        different = 0
        for lists in queries.values():
            given = {expert: of(*items) for expert, items in lists.items()}
            by_model, by_rrf = ids(learned.fuse_documents(given)), ids(rrf.fuse_documents(given))
            assert by_model == list(juryrank.fuse(lists, model=model, top=10))
            assert by_rrf == list(juryrank.fuse(lists, "rrf", top=10))
            different += by_model != by_rrf
        assert different == 30

    def test_the_order_of_the_experts_does_not_matter(self) -> None:
        given = retrieved(QUERY)
        turned = dict(reversed(given.items()))
        for model in (fitted(), None):
            one = JuryJoiner(list(given), model).run(**given)["documents"]
            other = JuryJoiner(list(turned), model).run(**turned)["documents"]
            assert [(each.id, each.score) for each in one] == [(each.id, each.score) for each in other]

    def test_scores_count_where_the_method_uses_them(self) -> None:
        near = [Document(id="a", content="a", score=0.9), Document(id="b", content="b", score=0.1)]
        far = [Document(id="b", content="b", score=8.0), Document(id="c", content="c", score=7.0)]
        by_score = JuryJoiner(["x", "y"], method="combsum", norm="none").run(x=near, y=far)["documents"]
        assert [(each.id, each.score) for each in by_score] == [("b", 8.1), ("c", 7.0), ("a", 0.9)]
        by_rank = JuryJoiner(["x", "y"], method="rrf").run(x=near[::-1], y=far)["documents"]
        assert ids(by_rank) == list(juryrank.fuse({"x": ["b", "a"], "y": ["b", "c"]}))

    def test_documents_without_a_score_in_a_method_that_uses_scores_are_reported(self) -> None:
        with pytest.warns(DataWarning, match="score"):
            JuryJoiner(["x", "y"], method="combsum").run(x=of("a", "b"), y=of("b", score=1.0))


class TestPipeline:
    @pytest.mark.parametrize("learned", [True, False], ids=["jury", "rrf"])
    def test_a_hybrid_pipeline_gives_the_order_of_juryrank(self, learned: bool) -> None:
        model = fitted("bm25", "dense") if learned else None
        pipeline = hybrid(JuryJoiner(["bm25", "dense"], model))
        for query in QUERIES.values():
            result = pipeline.run(asked(query))["joiner"]
            expected = juryrank.fuse(ranked_ids(query, "bm25", "dense"), model=model, top=10)
            assert [(each.id, each.score) for each in result["documents"]] == list(expected.items())
            assert result["failed"] == {}

    def test_the_orders_of_jury_and_rrf_differ_in_the_pipeline(self) -> None:
        learned = hybrid(JuryJoiner(["bm25", "dense"], fitted("bm25", "dense")))
        rrf = hybrid(JuryJoiner(["bm25", "dense"]))
        query = QUERIES["q02"]
        orders = [ids(each.run(asked(query))["joiner"]["documents"]) for each in (learned, rrf)]
        assert orders[0] != orders[1]

    async def test_an_asynchronous_run_gives_the_same(self) -> None:
        model = fitted("bm25", "dense")
        result = (await hybrid(JuryJoiner(["bm25", "dense"], model)).run_async(asked(QUERY)))["joiner"]
        assert ids(result["documents"]) == list(juryrank.fuse(ranked_ids(QUERY, "bm25", "dense"), model=model, top=10))

    def test_top_k_of_a_run_takes_precedence(self) -> None:
        pipeline = hybrid(JuryJoiner(["bm25", "dense"], top_k=3))
        assert len(pipeline.run(asked(QUERY))["joiner"]["documents"]) == 3
        assert len(JuryJoiner(["x"], top_k=np.int64(2)).run(x=of("a", "b", "c"))["documents"]) == 2
        assert len(pipeline.run(asked(QUERY) | {"joiner": {"top_k": 5}})["joiner"]["documents"]) == 5
        assert pipeline.run(asked(QUERY) | {"joiner": {"top_k": 0}})["joiner"]["documents"] == []

    def test_haystack_asks_for_the_input_if_a_connection_does_not_name_it(self) -> None:
        pipeline = Pipeline()
        pipeline.add_component("by_text", retrievers()["bm25"])
        pipeline.add_component("joiner", JuryJoiner(["bm25", "dense"]))
        with pytest.raises(PipelineConnectError, match="more than one connection is possible"):
            pipeline.connect("by_text", "joiner")


class TestMissingLists:
    def routed(self, on_missing: Any) -> Pipeline:
        """The dense branch runs only for queries of more than 20 characters."""
        found = retrievers()
        routes = [
            {
                "condition": "{{ query|length > 20 }}",
                "output": "{{ query }}",
                "output_name": "long",
                "output_type": str,
            },
            {"condition": "{{ True }}", "output": "{{ query }}", "output_name": "short", "output_type": str},
        ]
        pipeline = Pipeline()
        pipeline.add_component("router", ConditionalRouter(routes))
        pipeline.add_component("embedder", Embedder())
        pipeline.add_component("by_text", found["bm25"])
        pipeline.add_component("by_vector", found["dense"])
        pipeline.add_component("joiner", JuryJoiner(["bm25", "dense"], on_missing=on_missing))
        pipeline.connect("router.long", "embedder.text")
        pipeline.connect("embedder.embedding", "by_vector.query_embedding")
        pipeline.connect("by_text.documents", "joiner.bm25")
        pipeline.connect("by_vector.documents", "joiner.dense")
        return pipeline

    def run(self, pipeline: Pipeline, query: str) -> dict[str, Any]:
        result: dict[str, Any] = pipeline.run({"router": {"query": query}, "by_text": {"query": query}})["joiner"]
        return result

    def test_a_branch_that_did_not_run_is_skipped_and_reported(self) -> None:
        pipeline = self.routed("skip")
        with pytest.warns(RetrieverWarning, match="no list has arrived from 'dense', and the result is without"):
            result = self.run(pipeline, "flat biscuits")
        assert result["failed"] == {"dense": "no list has arrived"}
        assert ids(result["documents"]) == ranked_ids("flat biscuits", "bm25")["bm25"][:10]
        assert self.run(pipeline, QUERY)["failed"] == {}

    def test_a_branch_that_did_not_run_is_an_error_by_default(self) -> None:
        pipeline = self.routed("raise")
        with pytest.raises(
            PipelineRuntimeError, match=r"no list has arrived from 'dense'.*on_missing='skip'"
        ) as caught:
            self.run(pipeline, "flat biscuits")
        assert isinstance(caught.value.__cause__, RetrieverError)

    def test_an_input_that_is_not_connected_is_missing(self) -> None:
        for on_missing in ("raise", "skip"):
            pipeline = Pipeline()
            pipeline.add_component("by_text", retrievers()["bm25"])
            pipeline.add_component("joiner", JuryJoiner(["bm25", "dense"], on_missing=on_missing))
            pipeline.connect("by_text.documents", "joiner.bm25")
            expected: Any = (
                pytest.raises(PipelineRuntimeError, match="from 'dense'")
                if on_missing == "raise"
                else pytest.warns(RetrieverWarning, match="from 'dense'")
            )
            with expected:
                pipeline.run({"by_text": {"query": QUERY}})

    def test_an_empty_list_is_not_missing(self) -> None:
        result = JuryJoiner(["x", "y"]).run(x=of("a", "b"), y=[])
        assert (ids(result["documents"]), result["failed"]) == (["a", "b"], {})
        assert JuryJoiner(["x", "y"]).run(x=[], y=[])["documents"] == []

    def test_without_any_list_there_is_an_error_in_any_case(self) -> None:
        with pytest.raises(RetrieverError, match="no list has arrived from any expert: 'x', 'y'"):
            JuryJoiner(["x", "y"], on_missing="skip").run()

    def test_a_weight_of_a_missing_expert_gives_no_further_warning(self) -> None:
        joiner = JuryJoiner(["x", "y"], weights={"x": 1.0, "y": 2.0}, on_missing="skip")
        with pytest.warns(RetrieverWarning) as said:
            joiner.run(x=of("a"))
        assert [type(each.message) for each in said] == [RetrieverWarning]


class TestDocuments:
    def test_the_documents_that_are_given_stay_as_they_are(self) -> None:
        given = retrieved(QUERY)
        before = deepcopy(given)
        fused = JuryJoiner(list(given), fitted()).run(**given)["documents"]
        assert given == before
        originals = {id(document) for listed in given.values() for document in listed}
        assert not originals & {id(document) for document in fused}
        fused[0].meta["title"] = "changed"
        assert given == before

    def test_a_result_is_the_document_with_another_score_and_more_metadata(self) -> None:
        stored = {document.id: document for document in documents()}
        pipeline = hybrid(JuryJoiner(["bm25", "dense"]))
        for document in pipeline.run(asked(QUERY))["joiner"]["documents"]:
            original = stored[document.id]
            assert (document.content, document.meta["title"]) == (original.content, original.meta["title"])
            assert Document.from_dict(document.to_dict()) == document

    def test_ranks_and_contributions_are_in_the_metadata(self) -> None:
        given = retrieved(QUERY)
        lists = ranked_ids(QUERY)
        for document in JuryJoiner(list(given), fitted()).run(**given)["documents"]:
            detail = document.meta["juryrank"]
            expected = {name: found.index(document.id) + 1 for name, found in lists.items() if document.id in found}
            assert detail["ranks"] == expected
            assert sum(detail["contributions"].values()) == pytest.approx(document.score, rel=1e-12)

    def test_a_method_that_is_no_sum_has_no_contributions(self) -> None:
        (first, *_) = JuryJoiner(["x", "y"], method="mc4").run(x=of("a", "b"), y=of("b", "c"))["documents"]
        assert first.meta["juryrank"] == {"ranks": {"x": 2, "y": 1}, "contributions": None}

    def test_the_text_is_that_of_the_list_with_the_best_rank(self) -> None:
        full, short = Document(id="a", content="the full text"), Document(id="a", content="a title")
        (document, *_) = JuryJoiner(["x", "y"]).run(x=[*of("b"), full], y=[short])["documents"]
        assert (document.id, document.content) == ("a", "a title")

    def test_a_document_that_is_twice_in_a_list_counts_once(self) -> None:
        result = JuryJoiner(["x", "y"]).run(x=of("a", "b", "a"), y=of("b"))["documents"]
        assert {each.id: each.score for each in result} == juryrank.fuse({"x": ["a", "b"], "y": ["b"]})

    def test_a_subclass_of_document_stays_one(self) -> None:
        class Passage(Document):  # type: ignore[misc]
            pass

        (document,) = JuryJoiner(["x"]).run(x=[Passage(id="a", content="a")])["documents"]
        assert type(document) is Passage


def test_warnings_point_to_the_line_that_runs_the_pipeline() -> None:
    pipeline = Pipeline()
    pipeline.add_component("joiner", JuryJoiner(["x", "y"], on_missing="skip"))
    with pytest.warns(RetrieverWarning) as said:
        pipeline.run({"joiner": {"x": of("a")}})
    assert [each.filename for each in said] == [__file__]


class TestIdentity:
    TEXTS = [Document(content="tea", meta={"url": "u1", "store": "s"}), Document(content="milk", meta={"url": "u2"})]
    OTHERS = [Document(content="milk", meta={"url": "u2", "page": 3}), Document(content="tea", meta={"url": "u1"})]

    def test_ids_that_haystack_makes_differ_with_the_metadata(self) -> None:
        result = JuryJoiner(["x", "y"]).run(x=self.TEXTS, y=self.OTHERS)["documents"]
        assert len(result) == 4

    def test_many_texts_with_other_ids_are_told_with_the_remedy(self) -> None:
        drinks = ("tea", "milk", "juice")
        x, y = ([Document(content=each, meta={"store": store}) for each in drinks] for store in "xy")
        with pytest.warns(DataWarning, match=r'3 texts are in more than one list.*give key="text"'):
            assert len(JuryJoiner(["x", "y"]).run(x=x, y=y)["documents"]) == 6
        assert len(JuryJoiner(["x", "y"], key="text").run(x=x, y=y)["documents"]) == 3

    @pytest.mark.parametrize("key", ["url", lambda document: document.content], ids=["field", "function"])
    def test_a_field_or_a_function_recognises_the_same_document(self, key: str | Callable[[Document], str]) -> None:
        result = JuryJoiner(["x", "y"], weights={"x": 2.0}, key=key).run(x=self.TEXTS, y=self.OTHERS)["documents"]
        assert [each.content for each in result] == ["tea", "milk"]
        assert [each.meta["juryrank"]["ranks"] for each in result] == [{"x": 1, "y": 2}, {"x": 2, "y": 1}]

    def test_a_document_without_the_field_is_an_error_that_says_where(self) -> None:
        with pytest.raises(DataError, match=r"'y': the document at rank 2 .*'page'"):
            JuryJoiner(["y"], key="page").run(y=self.OTHERS)


class TestDocumentJoiner:
    """Haystack's own joiner, of 3.4: what weights do there."""

    def test_its_scores_are_those_of_the_dialect(self) -> None:
        lists = {"x": of("a", "b", "c"), "y": of("c", "d")}
        theirs = DocumentJoiner("reciprocal_rank_fusion", weights=[1.0, 3.0]).run(list(lists.values()))["documents"]
        ours = JuryJoiner(list(lists), method="rrf", dialect="haystack", weights={"x": 1.0, "y": 3.0}).run(**lists)
        assert ids(theirs) == ids(ours["documents"])
        assert [each.score for each in ours["documents"]] == pytest.approx([each.score for each in theirs], rel=1e-12)
        assert theirs[0].score == pytest.approx(61 * (0.25 / 63 + 0.75 / 61), rel=1e-12)

    @pytest.mark.parametrize("seed", range(20))
    def test_its_scores_are_those_of_the_dialect_for_random_lists(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        lists = {name: of(*(f"d{i}" for i in rng.permutation(30)[: rng.integers(1, 25)])) for name in "xyz"}
        weights = rng.integers(1, 4, 3).astype(float).tolist()
        theirs = DocumentJoiner("reciprocal_rank_fusion", weights=weights).run(list(lists.values()))["documents"]
        options: dict[str, Any] = {
            "method": "rrf",
            "dialect": "haystack",
            "weights": dict(zip("xyz", weights, strict=True)),
        }
        ours = JuryJoiner(list("xyz"), top_k=None, **options).run(**lists)["documents"]
        scores = {each.id: each.score for each in theirs}
        assert {each.id: each.score for each in ours} == pytest.approx(scores, rel=1e-12)
        assert [scores[each.id] for each in ours] == pytest.approx([each.score for each in theirs], rel=1e-12)

    def test_without_one_of_its_lists_it_says_nothing_or_fails_in_zip(self) -> None:
        assert ids(DocumentJoiner("reciprocal_rank_fusion").run([of("a")])["documents"]) == ["a"]
        with pytest.raises(ValueError, match=r"zip\(\) argument 2 is longer"):
            DocumentJoiner("reciprocal_rank_fusion", weights=[0.3, 0.7]).run([of("a")])

    def test_its_weights_go_by_the_names_of_components_and_ours_by_the_names_of_inputs(self) -> None:
        """Weights [1, 0] leave the list of "a", not that of "z", which was connected first."""

        @component
        class Source:
            def __init__(self, name: str) -> None:
                self.name = name

            @component.output_types(documents=list[Document])
            def run(self) -> dict[str, Any]:
                return {"documents": of(self.name)}

        def joined(joiner: Any, inputs: tuple[str, str]) -> list[Document]:
            pipeline = Pipeline()
            pipeline.add_component("joiner", joiner)
            for name, socket in zip(("z", "a"), inputs, strict=True):
                pipeline.add_component(name, Source(name))
                pipeline.connect(f"{name}.documents", f"joiner.{socket}")
            found: list[Document] = pipeline.run({})["joiner"]["documents"]
            return found

        theirs = joined(DocumentJoiner("reciprocal_rank_fusion", weights=[1.0, 0.0]), ("documents", "documents"))
        assert ids(theirs) == ["a", "z"]
        ours = joined(JuryJoiner(["first", "second"], weights={"first": 1.0, "second": 0.0}), ("first", "second"))
        assert ids(ours) == ["z", "a"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: JuryJoiner("bm25"), "experts is a list of names"),
        (lambda: JuryJoiner([]), "experts is a list of names"),
        (lambda: JuryJoiner(["x", "x"]), "a name of its own"),
        (lambda: JuryJoiner(["top_k"]), "neither 'top_k', which is another input, nor 'self', got 'top_k'"),
        (lambda: JuryJoiner(["self"]), "got 'self'"),
        (lambda: JuryJoiner(["bm25"], weights={"bm52": 2.0}), r"weights of no expert: bm52 \(did you mean 'bm25'\?\)"),
        (lambda: JuryJoiner(["x"], top_k=0), "top_k is a whole number >= 1 or None, got 0"),
        (lambda: JuryJoiner(["x"]).run(x=[], top_k=-1), "top_k is a whole number >= 0 or None, got -1"),
        (lambda: JuryJoiner(["x"], on_missing="ignore"), "on_missing must be 'raise' or 'skip', got 'ignore'"),
        (lambda: JuryJoiner(["x"], fitted(), method="rrf"), "model= or method=, not both"),
        (lambda: JuryJoiner(["x"], key=3), "key is 'id'"),
        (lambda: JuryJoiner(["x"], topk=3), "topk"),
    ],
)
def test_a_wrong_argument_is_an_error_that_names_it(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()


def test_an_unknown_expert_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match="bm52 \\(did you mean 'bm25'\\?\\)"):
        JuryJoiner(["bm25", "dense"]).run(bm52=[])


def test_an_expert_that_the_model_has_not_learned_from_is_reported() -> None:
    with pytest.warns(DataWarning, match="experts that the model has not learned from: bm-25"):
        JuryJoiner(["bm-25", "dense"], fitted("bm25", "dense")).run(**{"bm-25": of("a"), "dense": of("b")})


def test_other_things_than_documents_are_an_error_that_says_where() -> None:
    with pytest.raises(DataError, match="'x' must be a list of Haystack Documents, found str at rank 1"):
        JuryJoiner(["x"]).run(x=["a", "b"])
    with pytest.raises(DataError, match="found dict at rank 2"):
        JuryJoiner(["x"]).run(x=[*of("a"), {"id": "b"}])
    for wrong in (of("a")[0], iter(of("a"))):
        with pytest.raises(DataError, match=f"'x' must be a list of Haystack Documents, found {type(wrong).__name__}"):
            JuryJoiner(["x"]).run(x=wrong)
