"""Other libraries, each behind one call: imported only where installed, silent, and with plain results."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

Scores = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Peer:
    """One way to do a task; ``prepare`` gets the package and gives the call to time."""

    package: str
    prepare: Callable[[ModuleType], Callable[[], Any]]
    plain: Callable[[Any], Any] = lambda result: result  # what the call returned, as it is compared with ours
    note: str = ""
    title: str = ""  # where one package has several ways

    @property
    def name(self) -> str:
        """How the table calls it."""
        return self.title or self.package

    def call(self) -> Callable[[], Any] | None:
        """The call to time, or None where the package is not installed."""
        package = load(self.package)
        if package is None:
            return None
        with silent():
            return self.prepare(package)


@cache
def load(package: str) -> ModuleType | None:
    """The package, or None where it is not installed; one that is installed and broken raises."""
    if find_spec(package) is None:
        return None
    with silent():
        return import_module(package)


@contextmanager
def silent() -> Iterator[None]:
    """Nothing on standard output, also from C, and no warnings: they are the peers' own."""
    sys.stdout.flush()
    kept, nothing = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nothing)


def ranx_fuse(runs: Callable[[], list[Any]], method: str, note: str = "", norm: str | None = None) -> Peer:
    """ranx's method of that name over its own runs, without its min-max step where ranks do not need it."""

    def prepare(ranx: ModuleType) -> Callable[[], Any]:
        built = runs()
        return lambda: ranx.fuse(built, norm=norm, method=method)

    return Peer("ranx", prepare, plain=ranx_scores, note=note)


def ranx_scores(run: Any) -> Scores:
    """The scores in a run of ranx."""
    return {query: dict(run.run[query]) for query in run.keys()}  # noqa: SIM118 (a Run is not a dict)


def ranx_file_to_file(ranx: ModuleType, files: list[Path], queries: list[str], out: Path) -> None:
    """Read, fuse and save by ranx; it refuses to fuse unless ``make_comparable`` adds the queries a file lacks."""
    every = ranx.Qrels({query: {"none": 1} for query in queries})
    runs = [ranx.Run.from_file(str(file), kind="trec").make_comparable(every) for file in files]
    ranx.fuse(runs, norm=None, method="rrf").save(str(out), kind="trec")


def pyflagr(module: str, kind: str, table: Callable[[], Path], note: str = "", **options: Any) -> Peer:
    """pyflagr's aggregator over a table on disk: it has no other input, so reading and writing count."""

    def prepare(package: ModuleType) -> Callable[[], Any]:
        path = table()
        aggregator = getattr(import_module(f"{package.__name__}.{module}"), kind)
        return lambda: aggregator(eval_pts=10, **options).aggregate(input_file=str(path), out_dir=str(path.parent))[0]

    return Peer("pyflagr", prepare, plain=pyflagr_scores, note=note)


def pyflagr_scores(frame: Any) -> Scores:
    """The scores in a result of pyflagr, which makes numbers of names that look like numbers."""
    scores: Scores = {}
    for query, item, score in zip(frame["Query"], frame["ItemID"], frame["Score"], strict=True):
        scores.setdefault(str(query), {})[str(item)] = float(score)
    return scores


def trectools_file_to_file(files: list[Path], out: Path) -> None:
    """Read, fuse and save by trectools, which keeps 1,000 items of a query."""
    runs = [import_module("trectools").TrecRun(str(file)) for file in files]
    fused = import_module("trectools.fusion").reciprocal_rank_fusion(runs, k=60, max_docs=1000)
    fused.print_subset(str(out), topics=fused.topics())
