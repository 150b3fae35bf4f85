"""Calls of other libraries: imported if installed, without output, with plain results."""

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
    """A library for a task; ``prepare`` takes the package and returns the call to time."""

    package: str
    prepare: Callable[[ModuleType], Callable[[], Any]]
    plain: Callable[[Any], Any] = lambda result: result  # converts the result for the comparison with ours
    note: str = ""
    title: str = ""  # if one package has several variants

    @property
    def name(self) -> str:
        """The name in the table."""
        return self.title or self.package

    def call(self) -> Callable[[], Any] | None:
        """The call to time, or None if the package is not installed."""
        package = load(self.package)
        if package is None:
            return None
        with silent():
            return self.prepare(package)


@cache
def load(package: str) -> ModuleType | None:
    """The package, or None if it is not installed; a broken package raises."""
    if find_spec(package) is None:
        return None
    with silent():
        return import_module(package)


@contextmanager
def silent() -> Iterator[None]:
    """Suppress standard output, also from C, and warnings of peers."""
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
    """A method of ranx on its own runs, by default without min-max normalisation."""

    def prepare(ranx: ModuleType) -> Callable[[], Any]:
        built = runs()
        return lambda: ranx.fuse(built, norm=norm, method=method)

    return Peer("ranx", prepare, plain=ranx_scores, note=note)


def ranx_scores(run: Any) -> Scores:
    """The scores in a run of ranx."""
    return {query: dict(run.run[query]) for query in run.keys()}  # noqa: SIM118 (a Run is not a dict)


def ranx_file_to_file(ranx: ModuleType, files: list[Path], queries: list[str], out: Path) -> None:
    """Read, fuse and save by ranx, which needs ``make_comparable`` to add missing queries."""
    every = ranx.Qrels({query: {"none": 1} for query in queries})
    runs = [ranx.Run.from_file(str(file), kind="trec").make_comparable(every) for file in files]
    ranx.fuse(runs, norm=None, method="rrf").save(str(out), kind="trec")


def pyflagr(module: str, kind: str, table: Callable[[], Path], note: str = "", **options: Any) -> Peer:
    """An aggregator of pyflagr on a table on disk, its only input; reading and writing are included."""

    def prepare(package: ModuleType) -> Callable[[], Any]:
        path = table()
        aggregator = getattr(import_module(f"{package.__name__}.{module}"), kind)
        return lambda: aggregator(eval_pts=10, **options).aggregate(input_file=str(path), out_dir=str(path.parent))[0]

    return Peer("pyflagr", prepare, plain=pyflagr_scores, note=note)


def pyflagr_scores(frame: Any) -> Scores:
    """The scores in a result of pyflagr, which converts names to numbers if it can."""
    scores: Scores = {}
    for query, item, score in zip(frame["Query"], frame["ItemID"], frame["Score"], strict=True):
        scores.setdefault(str(query), {})[str(item)] = float(score)
    return scores


def trectools_file_to_file(files: list[Path], out: Path) -> None:
    """Read, fuse and save by trectools, which keeps 1,000 items of a query."""
    runs = [import_module("trectools").TrecRun(str(file)) for file in files]
    fused = import_module("trectools.fusion").reciprocal_rank_fusion(runs, k=60, max_docs=1000)
    fused.print_subset(str(out), topics=fused.topics())
