"""JuryRetriever and JuryPostprocessor in query engines of LlamaIndex, with its own indexes, without a network."""

from typing import Any

import pytest

pytest.importorskip("llama_index.core")

from llama_index.core import Document, QueryBundle, SimpleKeywordTableIndex, SummaryIndex, VectorStoreIndex
from llama_index.core.llms.mock import MockLLM
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index_samples import DEMO, QUERIES, CountTitleWords, Trigrams, corpus, ids, shared_words

import juryrank
from juryrank.integrations.llama_index import JuryPostprocessor, JuryRetriever

TEXTS = list(QUERIES.values())


@pytest.fixture(scope="module")
def retrievers() -> dict[str, Any]:
    """Two vector indexes with different embeddings, and one of keywords."""
    nodes = corpus()
    fine, coarse = (VectorStoreIndex(nodes, embed_model=Trigrams(size=size)) for size in (256, 64))
    words = SimpleKeywordTableIndex(nodes, llm=MockLLM())
    return {
        "fine": fine.as_retriever(similarity_top_k=20),
        "coarse": coarse.as_retriever(similarity_top_k=20),
        "words": words.as_retriever(retriever_mode="simple", num_chunks_per_query=20),
    }


@pytest.fixture(scope="module")
def model(retrievers) -> Any:
    lists = {
        name: {query: ids(retriever.retrieve(text)) for query, text in QUERIES.items()}
        for name, retriever in retrievers.items()
    }
    return juryrank.fit(lists, "jury", labels=DEMO / "cooking.csv")


async def test_real_indexes_are_fused_in_the_order_of_juryrank(retrievers, model) -> None:
    jury, rrf = JuryRetriever(retrievers, model=model, k=5), JuryRetriever(retrievers, k=5)
    differ = 0
    for text in TEXTS[:8]:
        lists = {name: ids(retriever.retrieve(text)) for name, retriever in retrievers.items()}
        assert min(map(len, lists.values())) > 0
        found = ids(jury.retrieve(text))
        assert found == list(juryrank.Fuser(model)(lists, top=5))
        assert found == ids(await jury.aretrieve(text))
        differ += found != ids(rrf.retrieve(text))
    assert differ > 4


def test_every_retriever_embeds_the_query_with_its_own_model(retrievers) -> None:
    """Vector retrievers write the embedding into the query; the fusion of LlamaIndex gives all of them the same one."""
    query = QueryBundle(TEXTS[0])
    chosen = {name: retrievers[name] for name in ("fine", "coarse")}
    assert len(JuryRetriever(chosen).retrieve(query)) == 10
    assert query.embedding is None
    theirs = QueryFusionRetriever(list(chosen.values()), llm=MockLLM(), num_queries=1, use_async=False)
    with pytest.raises(ValueError, match=r"shapes.*256.*64|shapes.*64.*256"):
        theirs.retrieve(query)


def test_an_embedding_that_the_caller_gives_is_used(retrievers) -> None:
    query = QueryBundle(TEXTS[0], embedding=Trigrams().get_text_embedding(TEXTS[1]))
    assert (
        ids(JuryRetriever({"fine": retrievers["fine"]}).retrieve(query))
        == ids(retrievers["fine"].retrieve(TEXTS[1]))[:10]
    )


def test_indexes_that_split_documents_on_their_own_give_a_warning() -> None:
    documents = [Document(text=f"{each} is a drink.") for each in ("tea", "milk")]
    splitter = [SentenceSplitter()]
    summary = SummaryIndex.from_documents(documents, transformations=splitter)
    dense = VectorStoreIndex.from_documents(documents, transformations=splitter, embed_model=Trigrams())
    split_twice = {"all": summary.as_retriever(), "dense": dense.as_retriever()}
    with pytest.warns(juryrank.DataWarning, match="2 texts with the same metadata"):
        assert len(JuryRetriever(split_twice).retrieve("tea")) == 4
    assert len(JuryRetriever(split_twice, key=lambda node: node.hash).retrieve("tea")) == 2


class TestQueryEngine:
    def engine(self, retrievers: Any, model: Any, **options: Any) -> RetrieverQueryEngine:
        retriever = JuryRetriever(retrievers, model=model, k=10)
        return RetrieverQueryEngine.from_args(retriever, llm=MockLLM(), response_mode="compact", **options)

    async def test_its_sources_are_those_of_the_retriever(self, retrievers, model) -> None:
        engine, retriever = self.engine(retrievers, model), JuryRetriever(retrievers, model=model, k=10)
        for text in TEXTS[:3]:
            expected = retriever.retrieve(text)
            assert engine.query(text).source_nodes == expected
            assert (await engine.aquery(text)).source_nodes == expected

    def test_the_prompt_has_the_texts_and_none_of_our_numbers(self, retrievers, model) -> None:
        """MockLLM answers with its prompt."""
        answer = self.engine(retrievers, model).query(TEXTS[0])
        assert len(answer.source_nodes) == 10
        for each in answer.source_nodes:
            assert each.text in answer.response
            assert each.metadata["title"] in answer.response
            assert each.metadata["juryrank"]["ranks"]
        assert "contributions" not in answer.response
        assert "juryrank" not in answer.response

    async def test_a_postprocessor_orders_its_sources(self, retrievers, model) -> None:
        jury = JuryPostprocessor(
            experts={"retriever": None, "title": "title_words"},
            weights={"title": 3.0},
            k=3,
            metadata_key="postprocessor",
        )
        engine = RetrieverQueryEngine.from_args(
            JuryRetriever(retrievers, model=model, k=10), llm=MockLLM(), node_postprocessors=[CountTitleWords(), jury]
        )
        assert jury.callback_manager is engine.callback_manager
        retriever, changed = JuryRetriever(retrievers, model=model, k=10), 0
        for text in TEXTS[:6]:
            listed = retriever.retrieve(text)
            scores = {each.node_id: shared_words(each.metadata["title"], text) for each in listed}
            expected = list(juryrank.fuse({"retriever": ids(listed), "title": scores}, weights={"title": 3.0}, top=3))
            changed += expected != ids(listed)[:3]
            for answer in (engine.query(text), await engine.aquery(text)):
                assert ids(answer.source_nodes) == expected
                assert answer.source_nodes[0].metadata.keys() >= {"juryrank", "postprocessor"}
        assert changed
