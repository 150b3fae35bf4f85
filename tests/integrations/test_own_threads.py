"""Under asyncio, synchronous retrievers have threads of their own: the event loop's may be busy or used up."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any

import pytest

from juryrank.errors import RetrieverError, RetrieverWarning
from juryrank.integrations._retrieval import acollect, in_thread

Answer = Callable[[], list[str]]
Ask = Callable[[], Awaitable[list[str]]]


def langchain_retrievers(answers: dict[str, Answer], **options: Any) -> Ask:
    pytest.importorskip("langchain_core")
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    from juryrank.integrations.langchain import JuryRetriever

    class Answering(BaseRetriever):
        answer: Any

        def _get_relevant_documents(self, query, *, run_manager):
            return [Document(text) for text in self.answer()]

    return langchain_texts({name: Answering(answer=each) for name, each in answers.items()}, JuryRetriever, options)


def langchain_functions(answers: dict[str, Answer], **options: Any) -> Ask:
    pytest.importorskip("langchain_core")
    from langchain_core.documents import Document
    from langchain_core.runnables import RunnableLambda

    from juryrank.integrations.langchain import JuryRetriever

    def function(answer: Answer) -> Any:
        chain = RunnableLambda(str) | RunnableLambda(lambda query: [Document(text) for text in answer()])
        return chain.with_config(tags=["bound"])

    return langchain_texts({name: function(each) for name, each in answers.items()}, JuryRetriever, options)


def langchain_stores(answers: dict[str, Answer], **options: Any) -> Ask:
    pytest.importorskip("langchain_core")
    from langchain_core.documents import Document
    from langchain_core.vectorstores import VectorStore

    from juryrank.integrations.langchain import JuryRetriever

    class Store(VectorStore):
        def __init__(self, answer: Answer) -> None:
            self.answer = answer

        def similarity_search(self, query, k=4, **kwargs):
            return [Document(text) for text in self.answer()]

        @classmethod
        def from_texts(cls, *given, **options):
            raise NotImplementedError

    return langchain_texts({name: Store(each).as_retriever() for name, each in answers.items()}, JuryRetriever, options)


def langchain_embeddings(answers: dict[str, Answer], **options: Any) -> Ask:
    pytest.importorskip("langchain_core")
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import InMemoryVectorStore

    from juryrank.integrations.langchain import JuryRetriever

    class Answering(Embeddings):
        def __init__(self, answer: Answer) -> None:
            self.answer = answer

        def embed_query(self, text):
            return [float(len(self.answer()))]

        def embed_documents(self, texts):
            return [[1.0] for _ in texts]

    def retriever(answer: Answer) -> Any:
        store = InMemoryVectorStore(Answering(answer))
        store.add_documents([Document("tea", id="tea")])
        return store.as_retriever()

    return langchain_texts({name: retriever(each) for name, each in answers.items()}, JuryRetriever, options)


def langchain_texts(retrievers: Any, make: Any, options: dict[str, Any]) -> Ask:
    jury = make(retrievers=retrievers, **options)

    async def ask() -> list[str]:
        return [document.page_content for document in await jury.ainvoke("q")]

    return ask


def llama_retrievers(answers: dict[str, Answer], **options: Any) -> Ask:
    pytest.importorskip("llama_index.core")
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, TextNode

    from juryrank.integrations.llama_index import JuryRetriever

    class Answering(BaseRetriever):
        def __init__(self, answer: Answer) -> None:
            self.answer = answer
            super().__init__()

        def _retrieve(self, query_bundle):
            return [NodeWithScore(node=TextNode(text=text, id_=text)) for text in self.answer()]

    jury = JuryRetriever({name: Answering(each) for name, each in answers.items()}, **options)

    async def ask() -> list[str]:
        return [node.text for node in await jury.aretrieve("q")]

    return ask


def llama_indexes(answers: dict[str, Answer], **options: Any) -> Ask:
    pytest.importorskip("llama_index.core")
    from llama_index.core import MockEmbedding, StorageContext, VectorStoreIndex
    from llama_index.core.schema import TextNode
    from llama_index.core.vector_stores import SimpleVectorStore

    from juryrank.integrations.llama_index import JuryRetriever

    class Answering(SimpleVectorStore):
        answer: Any = None

        def query(self, query, **kwargs):
            self.answer()
            return super().query(query, **kwargs)

    def retriever(answer: Answer) -> Any:
        store, embedding = Answering(), MockEmbedding(embed_dim=2)
        store.answer = answer
        context = StorageContext.from_defaults(vector_store=store)
        nodes = [TextNode(text="tea", id_="tea")]
        return VectorStoreIndex(nodes, storage_context=context, embed_model=embedding).as_retriever()

    jury = JuryRetriever({name: retriever(each) for name, each in answers.items()}, **options)

    async def ask() -> list[str]:
        return [node.text for node in await jury.aretrieve("q")]

    return ask


def llama_rerankers(answers: dict[str, Answer], **options: Any) -> Ask:
    pytest.importorskip("llama_index.core")
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import NodeWithScore, TextNode

    from juryrank.integrations.llama_index import JuryPostprocessor

    class Answering(BaseNodePostprocessor):
        answer: Any

        def _postprocess_nodes(self, nodes, query_bundle=None):
            self.answer()
            return nodes

    jury = JuryPostprocessor(experts={name: Answering(answer=each) for name, each in answers.items()}, **options)

    async def ask() -> list[str]:
        nodes = [NodeWithScore(node=TextNode(text="tea", id_="tea"))]
        return [node.text for node in await jury.apostprocess_nodes(nodes)]

    return ask


def haystack_retrievers(answers: dict[str, Answer], **options: Any) -> Ask:
    pytest.importorskip("haystack")
    from haystack import Document, component

    @component
    class Answering:
        def __init__(self, answer: Answer) -> None:
            self.answer = answer

        @component.output_types(documents=list[Document])
        def run(self, query: str) -> dict[str, Any]:
            return {"documents": [Document(id=text, content=text) for text in self.answer()]}

    return haystack_texts({name: Answering(each) for name, each in answers.items()}, options)


def haystack_embedders(answers: dict[str, Answer], **options: Any) -> Ask:
    pytest.importorskip("haystack")
    from haystack import Document, component
    from haystack.components.retrievers import TextEmbeddingRetriever
    from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    @component
    class Embedder:
        def __init__(self, answer: Answer) -> None:
            self.answer = answer

        @component.output_types(embedding=list[float])
        def run(self, text: str) -> dict[str, Any]:
            self.answer()
            return {"embedding": [1.0]}

    def retriever(answer: Answer) -> Any:
        store = InMemoryDocumentStore()
        store.write_documents([Document(id="tea", content="tea", embedding=[1.0])])
        return TextEmbeddingRetriever(
            retriever=InMemoryEmbeddingRetriever(store, top_k=1), text_embedder=Embedder(answer)
        )

    return haystack_texts({name: retriever(each) for name, each in answers.items()}, options)


def haystack_texts(retrievers: Any, options: dict[str, Any]) -> Ask:
    from juryrank.integrations.haystack import JuryRetriever

    jury = JuryRetriever(retrievers, **options)

    async def ask() -> list[str]:
        return [document.content for document in (await jury.run_async("q"))["documents"]]

    return ask


ADAPTERS = [
    langchain_retrievers, langchain_functions, langchain_stores, langchain_embeddings,
    llama_retrievers, llama_indexes, llama_rerankers, haystack_retrievers, haystack_embedders,
]  # fmt: skip


@pytest.fixture
def released():
    event = threading.Event()
    yield event
    event.set()


@contextmanager
def threads(number: int, released: threading.Event) -> Iterator[None]:
    """So many threads of the event loop, which end once they are released."""
    with ThreadPoolExecutor(number) as executor, ExitStack() as stack:
        stack.callback(released.set)
        asyncio.get_running_loop().set_default_executor(executor)
        yield


def tea() -> list[str]:
    return ["tea"]


@pytest.mark.parametrize("adapter", ADAPTERS)
async def test_a_retriever_answers_while_the_threads_of_the_event_loop_are_busy(adapter, released) -> None:
    with threads(1, released):
        busy = asyncio.create_task(asyncio.to_thread(released.wait))
        await asyncio.sleep(0)
        assert await adapter({"one": tea, "two": tea}, timeout=20)() == ["tea"]
        assert not busy.done()
        released.set()
        await busy


@pytest.mark.parametrize("adapter", ADAPTERS)
async def test_a_retriever_that_hangs_holds_up_no_other(adapter, released) -> None:
    def hang() -> list[str]:
        released.wait(60)
        return []

    with threads(2, released):
        hanging = adapter({"hung": hang}, timeout=0.02)
        for _ in range(5):  # more than the event loop has threads
            with pytest.raises(RetrieverError, match=r"hung.*no answer within 0\.02 s"):
                await hanging()
        assert await adapter({"one": tea}, timeout=20)() == ["tea"]
        skipping = adapter({"one": tea, "hung": hang}, timeout=2, on_error="skip")
        with pytest.warns(RetrieverWarning, match="'hung' failed"):
            assert await skipping() == ["tea"]


def test_a_thread_that_hangs_does_not_keep_the_program_from_ending() -> None:
    script = """
import asyncio, time
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from juryrank.integrations.langchain import JuryRetriever

hung = RunnableLambda(lambda query: time.sleep(3600))
jury = JuryRetriever(retrievers={"hung": hung, "one": RunnableLambda(lambda query: [Document("tea")])},
                     timeout=2, on_error="skip")
print([document.page_content for document in asyncio.run(jury.ainvoke("q"))])
"""
    pytest.importorskip("langchain_core")
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.returncode) == ("['tea']\n", 0), done.stderr


def test_what_a_thread_raises_is_raised_and_context_is_kept() -> None:
    request: ContextVar[str] = ContextVar("request")

    def fail() -> None:
        raise ValueError(request.get())

    async def run() -> None:
        request.set("r7")
        assert await in_thread("good", request.get) == "r7"
        with pytest.raises(ValueError, match="r7"):
            await in_thread("bad", fail)

    asyncio.run(run())


async def test_an_answer_after_the_time_is_over_is_dropped(released) -> None:
    late = threading.Event()

    def slow() -> list[str]:
        released.wait()
        late.set()
        return ["late"]

    with pytest.raises(RetrieverError, match="no answer within"):
        await acollect({"slow": lambda: in_thread("slow", slow)}, timeout=0.02)
    released.set()
    assert await in_thread("waiting", lambda: late.wait(30))


async def test_callbacks_of_both_kinds_see_a_synchronous_retriever() -> None:
    pytest.importorskip("langchain_core")
    from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
    from langchain_retrievers import documents, listing

    from juryrank.integrations.langchain import JuryRetriever

    seen: list[str] = []

    class Handler(BaseCallbackHandler):
        def on_retriever_end(self, found, **kwargs):
            seen.append("callback")

    class AsyncHandler(AsyncCallbackHandler):
        async def on_retriever_end(self, found, **kwargs):
            seen.append("async callback")

    retriever = JuryRetriever(retrievers={"x": listing(*documents("tea"))})
    await retriever.ainvoke("q", {"callbacks": [Handler(), AsyncHandler()]})
    assert sorted(seen) == ["async callback"] * 2 + ["callback"] * 2  # of the retriever, and of the fusion
    events = [event["event"] async for event in retriever.astream_events("q")]
    assert events.count("on_retriever_start") == events.count("on_retriever_end") == 2
