"""Pipelines with juryrank's components as YAML: written, loaded in another process, and run with the same result."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("haystack")

from haystack import Document, Pipeline
from haystack.components.embedders import MockTextEmbedder
from haystack.components.retrievers import TextEmbeddingRetriever
from haystack.core.errors import DeserializationError, SerializationError
from haystack_samples import QUERIES, corpus, embed, fitted, ids, retrieved, retrievers

import juryrank
from copies import ALONE, copy_package, search_path
from juryrank.integrations.haystack import JuryJoiner, JuryRetriever

SOURCE = Path(juryrank.__file__).parents[1]
TESTS = Path(__file__).parent

# A program of a user: it imports nothing of juryrank, fills the store, and runs every query of the demo.
PROGRAM = """
import json, sys
from haystack import Document, Pipeline

rows, queries, inputs = json.loads(sys.stdin.read())
pipeline = Pipeline.loads(open(sys.argv[1]).read())
store = getattr(pipeline.get_component("by_text"), "document_store", None)
store.write_documents([Document(id=row["item"], content=row["text"], embedding=row["embedding"]) for row in rows])
for query in queries:
    given = {component: {name: query[form] for name, form in forms.items()} for component, forms in inputs.items()}
    documents = pipeline.run(given)["joiner"]["documents"]
    print(json.dumps([[document.id, document.score] for document in documents]))
"""


def run_in_another_process(program: str, *args: str, given: Any = None, path: str = "") -> list[str]:
    """The lines that a program prints in a fresh process; ``path`` is put on its search path."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [str(SOURCE), path]))}
    done = subprocess.run(
        [sys.executable, "-c", program, *args], input=json.dumps(given), capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def hybrid(joiner: JuryJoiner) -> Pipeline:
    found = retrievers()
    pipeline = Pipeline()
    pipeline.add_component("by_text", found["bm25"])
    pipeline.add_component("by_vector", found["dense"])
    pipeline.add_component("joiner", joiner)
    pipeline.connect("by_text.documents", "joiner.bm25")
    pipeline.connect("by_vector.documents", "joiner.dense")
    return pipeline


def first_word(document: Document) -> str:
    return str(document.content).split()[0]


class TestJoiner:
    @pytest.mark.parametrize("way", ["model", "method"])
    def test_a_pipeline_loads_in_another_process_and_gives_the_same_result(self, way: str, tmp_path: Path) -> None:
        file = tmp_path / "model.json"
        juryrank.save(fitted("bm25", "dense"), file)
        params: dict[str, Any] = {"method": "rrf", "weights": {"bm25": 2, "dense": 0.5}, "k": 7}
        options: dict[str, Any] = {"model": file} if way == "model" else params
        pipeline = hybrid(JuryJoiner(["bm25", "dense"], top_k=5, **options))
        (tmp_path / "pipeline.yaml").write_text(pipeline.dumps())
        rows = [{"item": row["item"], "text": row["text"], "embedding": embed(row["text"])} for row in corpus()]
        queries = [{"text": text, "embedding": embed(text)} for text in QUERIES.values()]
        inputs = {"by_text": {"query": "text"}, "by_vector": {"query_embedding": "embedding"}}
        lines = run_in_another_process(PROGRAM, str(tmp_path / "pipeline.yaml"), given=[rows, queries, inputs])
        fuser = juryrank.Fuser(file) if way == "model" else juryrank.Fuser("rrf", weights=params["weights"], k=7)
        assert len(lines) == len(QUERIES)
        for line, query in zip(lines, QUERIES.values(), strict=True):
            lists = {name: ids(listed) for name, listed in retrieved(query).items() if name != "title"}
            assert [tuple(each) for each in json.loads(line)] == list(fuser(lists, top=5).items())

    def test_all_settings_survive(self) -> None:
        joiner = JuryJoiner(
            ["x", "y"], method="combsum", weights={"x": 2}, top_k=None, key="url", on_missing="skip", norm="z-score"
        )
        data = joiner.to_dict()
        assert data["init_parameters"] == {
            "experts": ["x", "y"],
            "model": None,
            "method": "combsum",
            "weights": {"x": 2.0},
            "top_k": None,
            "key": "url",
            "on_missing": "skip",
            "norm": "z-score",
        }
        before = json.dumps(data)
        assert JuryJoiner.from_dict(data).to_dict() == data
        assert json.dumps(data) == before  # loading does not change the data

    def test_a_component_written_by_hand_needs_only_its_experts(self) -> None:
        text = """
        components:
          joiner:
            type: haystack_integrations.components.joiners.juryrank.JuryJoiner
            init_parameters: {experts: [x, y]}
        connections: []
        """
        given = {
            "x": [Document(id="a", content="a")],
            "y": [Document(id="b", content="b"), Document(id="a", content="a")],
        }
        assert ids(Pipeline.loads(text).run({"joiner": given})["joiner"]["documents"]) == ["a", "b"]

    def test_a_model_in_memory_says_that_it_must_be_saved(self) -> None:
        pipeline = hybrid(JuryJoiner(["bm25", "dense"], fitted("bm25", "dense")))
        with pytest.raises(SerializationError, match=r"save it, juryrank.save\(model, 'model.json'\)"):
            pipeline.dumps()

    def test_a_file_that_is_gone_is_named(self, tmp_path: Path) -> None:
        juryrank.save(fitted("bm25", "dense"), tmp_path / "model.json")
        text = hybrid(JuryJoiner(["bm25", "dense"], tmp_path / "model.json")).dumps()
        (tmp_path / "model.json").unlink()
        with pytest.raises(DeserializationError, match=r"model\.json"):
            Pipeline.loads(text)

    def test_a_function_as_key_is_written_as_its_name(self) -> None:
        pipeline = Pipeline()
        pipeline.add_component("joiner", JuryJoiner(["x", "y"], key=first_word))
        text = pipeline.dumps()
        with pytest.raises(DeserializationError, match="allowed_modules"):
            Pipeline.loads(text)  # Haystack trusts no other modules by default
        loaded = Pipeline.loads(text, allowed_modules=[__name__])
        given = {"x": [Document(content="tea with milk")], "y": [Document(content="tea alone")]}
        assert len(loaded.run({"joiner": given})["joiner"]["documents"]) == 1

    def test_a_function_without_a_name_cannot_be_written(self) -> None:
        with pytest.raises(SerializationError, match="lambdas"):
            JuryJoiner(["x"], key=lambda document: document.id).to_dict()


class TestRetriever:
    def test_nested_components_load_in_another_process(self, tmp_path: Path) -> None:
        file = tmp_path / "model.json"
        juryrank.save(fitted("bm25", "dense"), file)
        found = retrievers()
        embedder = MockTextEmbedder(dimension=64)  # an embedding from the hash of the text: the same in every process
        dense = TextEmbeddingRetriever(retriever=found["dense"], text_embedder=embedder)
        retriever = JuryRetriever(
            {"bm25": found["bm25"], "dense": dense}, file, top_k=5, on_error="skip", timeout=60, top_k_per_retriever=9
        )
        pipeline = Pipeline()
        pipeline.add_component("by_text", found["title"])  # for the program: a component with a store
        pipeline.add_component("joiner", retriever)
        text = pipeline.dumps().replace("index: cooking-titles", "index: cooking")
        (tmp_path / "pipeline.yaml").write_text(text)
        rows = [{"item": row["item"], "text": row["text"], "embedding": embed(row["text"])} for row in corpus()]
        queries = [{"text": text} for text in QUERIES.values()]
        inputs = {"by_text": {"query": "text"}, "joiner": {"query": "text"}}
        lines = run_in_another_process(PROGRAM, str(tmp_path / "pipeline.yaml"), given=[rows, queries, inputs])
        expected = [retriever.run(query)["documents"] for query in QUERIES.values()]
        assert [json.loads(line) for line in lines] == [[[each.id, each.score] for each in one] for one in expected]
        assert len(lines) == len(QUERIES)

    def test_all_settings_survive(self) -> None:
        filters = {"field": "meta.title", "operator": "==", "value": "Tea"}
        found = {"bm25": retrievers()["bm25"]}
        retriever = JuryRetriever(
            found,
            method="rrf",
            weights={"bm25": 2.0},
            top_k=3,
            top_k_per_retriever=7,
            filters=filters,
            key="id",
            timeout=2,
        )
        data = retriever.to_dict()
        assert JuryRetriever.from_dict(data).to_dict() == data
        kept = {name: value for name, value in data["init_parameters"].items() if name != "retrievers"}
        assert kept == {
            "model": None,
            "method": "rrf",
            "weights": {"bm25": 2.0},
            "top_k": 3,
            "top_k_per_retriever": 7,
            "filters": filters,
            "key": "id",
            "on_error": "raise",
            "timeout": 2,
        }
        assert data["init_parameters"]["retrievers"]["bm25"]["type"].endswith(".InMemoryBM25Retriever")


class TestNamespace:
    def test_haystack_refuses_the_same_component_elsewhere(self) -> None:
        """The reason for the folder haystack_integrations."""
        text = "components: {x: {type: juryrank.integrations.haystack.JuryJoiner, init_parameters: {experts: [x]}}}"
        with pytest.raises(DeserializationError, match="not on the trusted-module allowlist"):
            Pipeline.loads(text + "\nconnections: []")

    def test_other_integrations_are_found_beside_ours(self, tmp_path: Path) -> None:
        other = tmp_path / "haystack_integrations" / "components" / "joiners" / "other"
        other.mkdir(parents=True)
        (other / "__init__.py").write_text("NAME = 'other'")
        program = """
from haystack_integrations.components.joiners.juryrank import JuryJoiner
from haystack_integrations.components.joiners.other import NAME
print(JuryJoiner.__module__, NAME)
"""
        copy_package(tmp_path / "installed")
        environment = os.environ | {"PYTHONPATH": search_path(tmp_path / "installed", tmp_path)}
        lines = subprocess.check_output([sys.executable, ALONE, "-c", program], env=environment, text=True).splitlines()
        assert lines == ["haystack_integrations.components.joiners.juryrank other"]

    def test_the_folders_that_integrations_share_have_no_init_file(self) -> None:
        shared = SOURCE / "haystack_integrations"
        own = {file.parent for file in shared.rglob("__init__.py")}
        assert {folder.relative_to(shared).as_posix() for folder in own} == {
            "components/joiners/juryrank",
            "components/retrievers/juryrank",
        }
        assert all((folder / "py.typed").is_file() for folder in own)
