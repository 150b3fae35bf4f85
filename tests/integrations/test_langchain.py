"""JuryRetriever gives the order of juryrank, on real lists and in LangChain's own tests."""

import asyncio
import inspect
import pickle
import threading
from collections import defaultdict
from typing import Any

import pytest

pytest.importorskip("langchain_core")
pytest.importorskip("langchain_tests")

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_retrievers import DEMO, Waiting, cooking, documents, listing
from langchain_tests.integration_tests import RetrieversIntegrationTests

import juryrank
from juryrank.integrations.langchain import JuryRetriever

TEA, MILK, RICE, SALT, FLOUR = documents("tea", "milk", "rice", "salt", "flour")


class TestStandard(RetrieversIntegrationTests):
    """The tests that LangChain has for all retrievers."""

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return JuryRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"retrievers": {"x": listing(TEA, MILK, RICE, SALT), "y": listing(SALT, FLOUR)}}

    @property
    def retriever_query_example(self) -> str:
        return "q"


def test_ensemble_retriever_fails_the_two_standard_tests_about_k() -> None:
    """What the page says about LangChain's own fusion, of langchain-classic 1.0.8."""
    ensemble = pytest.importorskip("langchain_classic.retrievers").EnsembleRetriever

    class Standard(RetrieversIntegrationTests):
        retriever_constructor = ensemble
        retriever_constructor_params = {"retrievers": [listing(TEA, MILK, RICE, SALT), listing(SALT, FLOUR)]}
        retriever_query_example = "q"

    tests, failed = Standard(), set()
    for name in [name for name in dir(tests) if (name.startswith("test_") and "invoke" in name) or "_k_" in name]:
        run = getattr(tests, name)
        given = {"retriever": ensemble(**tests.retriever_constructor_params)}
        try:
            done = run(**{key: given[key] for key in inspect.signature(run).parameters})
            if inspect.isawaitable(done):
                asyncio.run(done)
        except AssertionError:
            failed.add(name)
    assert failed == {"test_k_constructor_param", "test_invoke_with_k_kwarg"}


@pytest.fixture(scope="module")
def demo() -> tuple[dict[str, dict[str, list[str]]], dict[str, Any]]:
    return cooking()


@pytest.fixture(scope="module")
def model() -> Any:
    return juryrank.fit(DEMO / "cooking.csv", "jury")


class TestOrder:
    def test_a_learned_model_gives_the_order_and_scores_of_juryrank_and_not_those_of_rrf(self, demo, model) -> None:
        lists, retrievers = demo
        predicted = model.predict(juryrank.read(DEMO / "cooking.csv")).to_dict()
        assert len(predicted) == len(lists) == 24
        jury = JuryRetriever(retrievers=retrievers, model=model, k=None)
        rrf = JuryRetriever(retrievers=retrievers, k=None)
        differ = 0
        for (query, by_expert), of_dataset in zip(lists.items(), predicted.values(), strict=True):
            learned, plain = jury.invoke(query), rrf.invoke(query)
            scores = {document.id: document.metadata["juryrank"]["score"] for document in learned}
            expected = juryrank.Fuser(model)(by_expert)
            assert list(scores.items()) == list(expected.items())
            assert scores == of_dataset
            assert [document.id for document in plain] == list(juryrank.fuse(by_expert, "rrf"))
            differ += [document.id for document in plain[:5]] != list(scores)[:5]
        assert differ > 12

    async def test_the_asynchronous_result_is_the_same(self, demo, model) -> None:
        lists, retrievers = demo
        jury = JuryRetriever(retrievers=retrievers, model=model)
        for query in list(lists)[:8]:
            assert await jury.ainvoke(query) == jury.invoke(query)

    def test_a_saved_model_gives_the_same_as_the_model(self, demo, model, tmp_path) -> None:
        lists, retrievers = demo
        juryrank.save(model, tmp_path / "model.json")
        saved = JuryRetriever(retrievers=retrievers, model=str(tmp_path / "model.json"))
        also_saved = JuryRetriever(retrievers=retrievers, model=tmp_path / "model.json")
        given = JuryRetriever(retrievers=retrievers, model=model)
        for query in list(lists)[:8]:
            assert saved.invoke(query) == given.invoke(query) == also_saved.invoke(query)

    @pytest.mark.parametrize(("weights", "c"), [([0.2, 0.5, 0.3], 60), ([3.0, 0.0, 1.0], 2)])
    def test_weighted_rrf_is_that_of_ensemble_retriever(self, demo, weights, c) -> None:
        ensemble_retriever = pytest.importorskip("langchain_classic.retrievers").EnsembleRetriever
        lists, retrievers = demo
        names = ["bm25", "dense", "title"]
        ensemble = ensemble_retriever(retrievers=[retrievers[name] for name in names], weights=weights, c=c)
        ours = JuryRetriever(
            retrievers={name: retrievers[name] for name in names},
            weights=dict(zip(names, weights, strict=True)),
            params={"k": c, "dialect": "langchain"},
            k=None,
        )
        for query, by_expert in lists.items():
            fused = ours.invoke(query)
            assert [document.id for document in fused] == [document.id for document in ensemble.invoke(query)]
            points: dict[str, float] = defaultdict(float)
            for name, weight in zip(names, weights, strict=True):
                for rank, item in enumerate(by_expert.get(name, []), 1):
                    points[item] += weight / (c + rank)
            assert {document.id: document.metadata["juryrank"]["score"] for document in fused} == pytest.approx(
                points, rel=1e-12
            )

    def test_weights_change_the_order(self) -> None:
        retrievers = {"x": listing(TEA, MILK), "y": listing(RICE, SALT)}
        for heavier, first in (("x", "tea"), ("y", "rice")):
            retriever = JuryRetriever(retrievers=retrievers, method="rrf", weights={heavier: 2.0}, k=1)
            assert [document.page_content for document in retriever.invoke("q")] == [first]

    def test_a_retriever_with_an_unknown_name_is_reported_as_in_a_fuser(self, demo, model) -> None:
        lists, retrievers = demo
        renamed = JuryRetriever(retrievers={"bm25": retrievers["bm25"], "vectors": retrievers["dense"]}, model=model)
        with pytest.warns(juryrank.DataWarning, match="experts that the model has not learned from: vectors; known"):
            renamed.invoke(next(iter(lists)))


class TestDocuments:
    def test_a_document_says_where_its_score_comes_from(self) -> None:
        retriever = JuryRetriever(
            retrievers={"x": listing(TEA, MILK), "y": listing(MILK)}, weights={"x": 2.0}, params={"k": 10}
        )
        milk, tea = retriever.invoke("q")
        assert milk.page_content == "milk"
        assert milk.metadata["juryrank"] == {
            "score": pytest.approx(2 / 12 + 1 / 11),
            "ranks": {"x": 2, "y": 1},
            "contributions": {"x": pytest.approx(2 / 12), "y": pytest.approx(1 / 11)},
        }
        assert tea.metadata["juryrank"]["ranks"] == {"x": 1}
        assert tea.metadata["juryrank"]["contributions"] == {"x": pytest.approx(2 / 11)}

    def test_the_name_of_the_metadata_field_can_be_chosen(self) -> None:
        retriever = JuryRetriever(retrievers={"x": listing(TEA)}, metadata_key="fusion")
        assert retriever.invoke("q")[0].metadata.keys() == {"fusion"}

    def test_the_documents_of_the_retrievers_are_not_changed(self) -> None:
        tea = Document("tea", id="1", metadata={"page": 3})
        retriever = JuryRetriever(retrievers={"x": listing(tea)})
        fused = retriever.invoke("q")[0]
        assert (fused.id, fused.page_content, fused.metadata["page"]) == ("1", "tea", 3)
        fused.metadata["page"] = 4
        assert tea == Document("tea", id="1", metadata={"page": 3})

    def test_a_document_of_the_result_is_a_copy_as_pydantic_makes_it(self) -> None:
        for given in (TEA, Document("tea", metadata={"page": 3}), Document(page_content="tea", id="a")):
            (found,) = JuryRetriever(retrievers={"x": listing(given)}).invoke("q")
            expected = given.model_copy(update={"metadata": {**given.metadata, "juryrank": found.metadata["juryrank"]}})
            assert found == expected == pickle.loads(pickle.dumps(found)) == found.model_copy()
            assert found.model_fields_set == expected.model_fields_set
            assert found.model_dump_json() == expected.model_dump_json()
            assert repr(found) == repr(expected)

    def test_a_subclass_of_document_keeps_its_class_and_fields(self) -> None:
        class Paragraph(Document):
            page: int = 0

        fused = JuryRetriever(retrievers={"x": listing(Paragraph("tea", page=7))}).invoke("q")[0]
        assert (type(fused), fused.page) == (Paragraph, 7)

    def test_the_contributions_of_a_method_that_is_no_sum_are_none(self) -> None:
        retriever = JuryRetriever(retrievers={"x": listing(TEA, MILK), "y": listing(TEA)}, method="copeland")
        tea = retriever.invoke("q")[0]
        assert tea.page_content == "tea"
        assert tea.metadata["juryrank"]["contributions"] is None
        assert tea.metadata["juryrank"]["ranks"] == {"x": 1, "y": 1}

    def test_k_limits_the_documents_and_none_gives_all(self) -> None:
        many = documents(*(f"text {n}" for n in range(30)))
        retrievers = {"x": listing(*many)}
        assert len(JuryRetriever(retrievers=retrievers).invoke("q")) == 10
        assert len(JuryRetriever(retrievers=retrievers, k=None).invoke("q")) == 30
        assert len(JuryRetriever(retrievers=retrievers, k=None).invoke("q", k=4)) == 4
        assert len(JuryRetriever(retrievers=retrievers, k=40).invoke("q")) == 30

    def test_no_documents_give_no_documents(self) -> None:
        retriever = JuryRetriever(retrievers={"x": listing(TEA), "y": listing()})
        assert retriever.invoke("a query without results") == []
        assert [document.page_content for document in retriever.invoke("q")] == ["tea"]

    def test_fuse_documents_is_the_step_after_retrieval(self, demo, model) -> None:
        lists, retrievers = demo
        jury = JuryRetriever(retrievers=retrievers, model=model)
        query = next(iter(lists))
        found = {name: retriever.invoke(query) for name, retriever in retrievers.items()}
        assert jury.fuse_documents(found) == jury.invoke(query)
        assert jury.fuse_documents(found, k=3) == jury.invoke(query, k=3)


class TestIdentity:
    def test_ids_identify_documents_if_all_have_one(self) -> None:
        x = listing(Document("tea", id="1"), Document("milk", id="2"))
        y = listing(Document("tea, as another retriever cuts it", id="1"))
        assert [document.id for document in JuryRetriever(retrievers={"x": x, "y": y}).invoke("q")] == ["1", "2"]

    def test_texts_identify_documents_if_none_has_an_id(self) -> None:
        retriever = JuryRetriever(retrievers={"x": listing(MILK, TEA), "y": listing(TEA, RICE)})
        assert [document.page_content for document in retriever.invoke("q")] == ["tea", "milk", "rice"]

    def test_ids_of_some_documents_only_are_an_error(self) -> None:
        retriever = JuryRetriever(retrievers={"x": listing(MILK, Document("tea", id="1")), "y": listing(TEA)})
        with pytest.raises(juryrank.JuryrankError, match="key"):
            retriever.invoke("q")

    @pytest.mark.parametrize("key", ["url", lambda document: document.metadata["url"]], ids=["field", "function"])
    def test_a_metadata_field_or_a_function_identifies_documents(self, key) -> None:
        x = listing(Document("milk", metadata={"url": "m"}), Document("tea", metadata={"url": "t"}))
        y = listing(Document("Tea!", metadata={"url": "t"}))
        fused = JuryRetriever(retrievers={"x": x, "y": y}, key=key).invoke("q")
        assert [document.metadata["url"] for document in fused] == ["t", "m"]
        assert fused[0].page_content == "Tea!"  # of the list in which it ranks best

    def test_a_document_without_the_field_is_an_error_that_names_it(self) -> None:
        x = listing(Document("tea", metadata={"url": "t"}), MILK)
        with pytest.raises(juryrank.JuryrankError, match="url"):
            JuryRetriever(retrievers={"x": x}, key="url").invoke("q")

    def test_a_document_twice_in_one_list_counts_once(self) -> None:
        once = JuryRetriever(retrievers={"x": listing(TEA, MILK), "y": listing(MILK, SALT)}).invoke("q")
        twice = JuryRetriever(retrievers={"x": listing(TEA, TEA, MILK, TEA), "y": listing(MILK, SALT)}).invoke("q")
        points = {document.page_content: document.metadata["juryrank"]["contributions"] for document in twice}
        assert points["tea"] == {"x": pytest.approx(1 / 61)}
        assert {document.page_content for document in once} == {document.page_content for document in twice}


class TestScores:
    def scored(self, *pairs: tuple[str, float]) -> Any:
        return listing(*(Document(text, metadata={"similarity": score}) for text, score in pairs))

    def test_a_method_that_uses_scores_finds_them_in_the_metadata(self) -> None:
        retrievers = {"x": self.scored(("tea", 9.0), ("milk", 8.0), ("rice", 1.0)), "y": self.scored(("rice", 0.5))}
        retriever = JuryRetriever(
            retrievers=retrievers, method="combsum", params={"norm": "none"}, score_key="similarity"
        )
        fused = {document.page_content: document.metadata["juryrank"]["score"] for document in retriever.invoke("q")}
        assert list(fused.items()) == [("tea", 9.0), ("milk", 8.0), ("rice", 1.5)]

    def test_a_jury_with_scores_gives_what_a_fuser_gives(self) -> None:
        runs = {
            "x": {"q1": {"a": 3.0, "b": 2.0, "c": 0.1}, "q2": {"a": 5.0, "b": 4.9, "c": 1.0}},
            "y": {"q1": {"c": 0.9, "a": 0.2}, "q2": {"b": 0.8, "a": 0.7}},
        }
        labels = {"q1": {"a": 1, "b": 0, "c": 0}, "q2": {"a": 0, "b": 1, "c": 0}}
        model = juryrank.fit(juryrank.from_dicts(runs, labels=labels), "jury", scores=True)
        here = {"x": {"a": 1.0, "b": 0.9, "c": 0.8}, "y": {"c": 0.7, "b": 0.1}}
        retrievers = {name: self.scored(*listed.items()) for name, listed in here.items()}
        fused = JuryRetriever(retrievers=retrievers, model=model, score_key="similarity").invoke("q")
        scores = {document.page_content: document.metadata["juryrank"]["score"] for document in fused}
        assert list(scores.items()) == list(juryrank.Fuser(model)(here).items())

    def test_a_method_that_uses_scores_needs_score_key(self) -> None:
        with pytest.raises(juryrank.JuryrankError, match=r"combsum.*score_key"):
            JuryRetriever(retrievers={"x": listing(TEA)}, method="combsum")

    def test_a_document_without_a_score_is_an_error(self) -> None:
        retrievers = {"x": self.scored(("tea", 9.0)), "y": listing(MILK)}
        with pytest.raises(juryrank.JuryrankError, match=r"similarity"):
            JuryRetriever(retrievers=retrievers, method="combsum", score_key="similarity").invoke("q")


class TestConcurrency:
    def waiting(self) -> dict[str, Waiting]:
        together, also_together = threading.Barrier(3), asyncio.Barrier(3)
        lists = {"x": [TEA, MILK], "y": [MILK], "z": [RICE]}
        return {
            name: Waiting(results={"q": listed}, together=together, also_together=also_together)
            for name, listed in lists.items()
        }

    def test_retrievers_are_asked_at_the_same_time(self) -> None:
        fused = JuryRetriever(retrievers=self.waiting()).invoke("q")
        assert [document.page_content for document in fused] == ["milk", "rice", "tea"]

    async def test_retrievers_are_asked_at_the_same_time_in_a_coroutine(self) -> None:
        fused = await JuryRetriever(retrievers=self.waiting()).ainvoke("q")
        assert [document.page_content for document in fused] == ["milk", "rice", "tea"]


class Recorder(BaseCallbackHandler):
    """Notes the tags and the parent of every retriever that starts."""

    def __init__(self) -> None:
        self.started: list[tuple[list[str], bool]] = []

    def on_retriever_start(self, serialized, query, *, parent_run_id=None, tags=None, **kwargs) -> None:
        self.started.append((sorted(tags or ()), parent_run_id is None))


def test_runnables_that_give_documents_may_be_retrievers() -> None:
    retriever = JuryRetriever(retrievers={"x": RunnableLambda(lambda query: [Document(query.upper())])})
    assert [document.page_content for document in retriever.invoke("tea")] == ["TEA"]


def test_tracing_shows_the_retrievers_below_the_fusion() -> None:
    recorder = Recorder()
    retriever = JuryRetriever(retrievers={"x": listing(TEA), "y": listing(MILK)})
    retriever.invoke("q", {"callbacks": [recorder], "tags": ["of the user"]})
    whole, *children = recorder.started
    assert whole == (["of the user"], True)
    assert sorted(children) == [(["of the user", "retriever:x"], False), (["of the user", "retriever:y"], False)]
