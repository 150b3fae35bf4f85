"""Documents through the adapters of frameworks: what these add to a ``Fuser``, next to the frameworks' own fusion."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import juryrank as jr
from studies.speed.clock import Effort, Repeated, Timing
from studies.speed.inputs import Inputs
from studies.speed.peers import load, silent
from studies.speed.single_query import Lists, random_lists
from studies.speed.table import BATCH, MOST, Results, Row, in_turns, skipped_text
from studies.speed.targets import Target, at_most, timing_text

SIZE = (3, 100)  # lists, their length
BEST = 10  # documents, as many as the adapters return by default
LIMIT = 100e-6  # seconds that an adapter may add to a Fuser
ABOUT = {"source": "index", "page": 1}  # the metadata of every document

Call = Callable[[], Any]


class Calls(NamedTuple):
    """What is timed for a framework: fusion of documents that have been retrieved, and calls with retrievers."""

    every: Call  # ours, all documents
    best: Call  # ours, the best ones
    whole: Call  # ours, with retrievers that answer at once
    whole_theirs: Call
    theirs: Call | None  # the fusion of the framework, all documents; None where it is not public
    ids: Callable[[Any], list[str]]  # of a result


@dataclass(frozen=True)
class Framework:
    """A framework with an adapter of ours and a fusion of its own."""

    name: str
    packages: tuple[str, ...]
    peer: str
    whole_peer: str  # with retrievers
    dialect: str  # of RRF, with which ours gives the order of the peer
    prepare: Callable[[Lists, str | None], Calls]  # for a dialect, by default that of a Fuser

    @property
    def missing(self) -> str | None:
        """The first of its packages that is not installed."""
        return next((package for package in self.packages if load(package) is None), None)


def langchain_calls(lists: Lists, dialect: str | None = None) -> Calls:
    """JuryRetriever and EnsembleRetriever."""
    document = import_module("langchain_core.documents").Document
    runnable = import_module("langchain_core.runnables").RunnableLambda
    given = {name: [document(id=i, page_content=f"text of {i}", metadata=dict(ABOUT)) for i in listed]
             for name, listed in lists.items()}  # fmt: skip
    answers = {name: runnable(partial(_answer, documents)) for name, documents in given.items()}
    ours = import_module("juryrank.integrations.langchain").JuryRetriever(
        retrievers=answers, params={"dialect": dialect}, k=None
    )
    weights = [1.0] * len(lists)
    theirs = import_module("langchain_classic.retrievers").EnsembleRetriever(
        retrievers=list(answers.values()), weights=weights
    )
    return Calls(
        every=lambda: ours.fuse_documents(given),
        best=lambda: ours.fuse_documents(given, k=BEST),
        theirs=lambda: theirs.weighted_reciprocal_rank(list(given.values())),
        whole=lambda: ours.invoke("query"),
        whole_theirs=lambda: theirs.invoke("query"),
        ids=lambda documents: [each.id for each in documents],
    )


def llama_index_calls(lists: Lists, dialect: str | None = None) -> Calls:
    """JuryRetriever and QueryFusionRetriever, without further queries by an LLM."""
    schema, retrievers = import_module("llama_index.core.schema"), import_module("llama_index.core.retrievers")
    listed = type("Listed", (retrievers.BaseRetriever,), {"_retrieve": lambda self, query: self.nodes})

    def nodes() -> dict[str, list[Any]]:
        return {name: [schema.NodeWithScore(node=schema.TextNode(id_=i, text=f"text of {i}", metadata=dict(ABOUT)))
                       for i in items] for name, items in lists.items()}  # fmt: skip

    def answers(given: dict[str, list[Any]]) -> dict[str, Any]:
        made = {name: listed() for name in given}
        for name, retriever in made.items():
            retriever.nodes = given[name]
        return made

    given, changed = nodes(), nodes()  # the peer writes scores into the nodes that it gets
    ours = import_module("juryrank.integrations.llama_index").JuryRetriever(
        answers(given), params={"dialect": dialect}, k=None
    )
    theirs = retrievers.QueryFusionRetriever(
        list(answers(changed).values()), llm=import_module("llama_index.core.llms").MockLLM(), num_queries=1,
        mode="reciprocal_rerank", similarity_top_k=sum(map(len, lists.values())), use_async=False,
    )  # fmt: skip
    return Calls(
        every=lambda: ours.fuse_nodes(given),
        best=lambda: ours.fuse_nodes(given, k=BEST),
        theirs=None,
        whole=lambda: ours.retrieve("query"),
        whole_theirs=lambda: theirs.retrieve("query"),
        ids=lambda found: [each.node_id for each in found],
    )


def haystack_calls(lists: Lists, dialect: str | None = None) -> Calls:
    """JuryJoiner and DocumentJoiner; with retrievers, JuryRetriever and MultiRetriever."""
    haystack = import_module("haystack")
    given = {name: [haystack.Document(id=i, content=f"text of {i}", meta=dict(ABOUT)) for i in listed]
             for name, listed in lists.items()}  # fmt: skip

    def run(self: Any, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None) -> dict[str, Any]:
        return {"documents": self.documents}

    outputs = haystack.component.output_types(documents=list[Any])
    retriever = haystack.component(type("Listed", (), {"run": outputs(run)}))
    answers = {name: retriever() for name in given}
    for name, each in answers.items():
        each.documents = given[name]
    adapters = import_module("juryrank.integrations.haystack")
    joiner = adapters.JuryJoiner(list(lists), top_k=None, dialect=dialect)
    whole = adapters.JuryRetriever(answers, top_k=None, dialect=dialect)
    theirs = import_module("haystack.components.joiners").DocumentJoiner("reciprocal_rank_fusion")
    multi = import_module("haystack.components.retrievers").MultiRetriever(
        retrievers=answers, top_k=sum(map(len, lists.values()))
    )
    return Calls(
        every=lambda: joiner.run(**given),
        best=lambda: joiner.run(top_k=BEST, **given),
        theirs=lambda: theirs.run(list(given.values())),
        whole=lambda: whole.run("query"),
        whole_theirs=lambda: multi.run("query"),
        ids=lambda result: [each.id for each in result["documents"]],
    )


def _answer(documents: list[Any], query: str) -> list[Any]:
    return documents


FRAMEWORKS = (
    Framework(
        "LangChain", ("langchain_core", "langchain_classic"), "EnsembleRetriever", "EnsembleRetriever", "langchain",
        langchain_calls,
    ),
    Framework(
        "LlamaIndex", ("llama_index",), "QueryFusionRetriever", "QueryFusionRetriever", "llamaindex", llama_index_calls
    ),
    Framework("Haystack", ("haystack",), "DocumentJoiner", "MultiRetriever", "haystack", haystack_calls),
)  # fmt: skip


def measure(inputs: Inputs, effort: Effort) -> Results:
    """Each framework whose packages are installed."""
    os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")
    rows: list[Row] = []
    targets: list[Target] = []
    for framework in FRAMEWORKS:
        found, reached = results_of(framework, random_lists(*SIZE), effort.repetitions(MOST))
        rows += found
        targets += reached
    return rows, targets


def results_of(framework: Framework, lists: Lists, most: int = MOST) -> tuple[list[Row], list[Target]]:
    """The rows and targets of a framework; targets that are not measured if it is not installed."""
    size = f"{len(lists)}×{max(map(len, lists.values()))}"
    names = [f"{framework.name}, {size} documents", f"{framework.name}, best {BEST} of {size} documents"]
    if (missing := framework.missing) is not None:
        return [], [Target(_target(name), "–", None, peer=skipped_text(missing)) for name in names]
    with silent():
        calls, fuser = framework.prepare(lists, None), jr.Fuser("rrf")
        own: list[Call] = [partial(fuser, lists), partial(fuser, lists, top=BEST), calls.every, calls.best, calls.whole]
        timed = [*own, calls.whole_theirs, *([] if calls.theirs is None else [calls.theirs])]
        repeated = [Repeated(call, most=most, batch=BATCH) for call in timed]
        in_turns(*repeated)
        same = gives_the_order_of_the_peer(framework, lists)
    base, base_best, every, best, whole, whole_theirs, *theirs = (each.timing for each in repeated)
    text = f"{'equal' if same else 'other'} order with dialect={framework.dialect!r}"
    rows = [
        Row(names[0], "Fuser on ids", every, base, "without documents"),
        *(Row(names[0], framework.peer, every, timing, text, same) for timing in theirs),
        Row(names[1], "Fuser on ids", best, base_best, "without documents"),
        Row(f"{names[0]}, with retrievers", framework.whole_peer, whole, whole_theirs, text, same),
    ]
    return rows, [overhead(names[0], every, base), overhead(names[1], best, base_best)]


def gives_the_order_of_the_peer(framework: Framework, lists: Lists) -> bool:
    """Whether all put the documents in the same order; with new documents, because some peers change them."""
    calls = framework.prepare(lists, framework.dialect)
    order = list(jr.fuse(lists, dialect=framework.dialect))
    peers = [call for call in (calls.theirs, calls.whole_theirs) if call is not None]
    return all(calls.ids(call()) == order for call in (calls.every, *peers))


def overhead(name: str, adapter: Timing, fuser: Timing) -> Target:
    """The target that an adapter adds at most ``LIMIT`` to a Fuser."""
    cpu = None if adapter.cpu is None or fuser.cpu is None else adapter.cpu - fuser.cpu
    return at_most(
        _target(name),
        replace(adapter, seconds=adapter.seconds - fuser.seconds, cpu=cpu),
        LIMIT,
        f"Fuser: {timing_text(fuser)}",
    )


def _target(name: str) -> str:
    return f"overhead over Fuser: {name}"
