"""``juryrank warm``: fill the cache of compiled code before the first use, for example in a container image."""

from __future__ import annotations

import functools
import os
import platform
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from juryrank.cli import options
from juryrank.cli.bytecode import Bytecode, store_bytecode
from juryrank.cli.compare import ALL
from juryrank.cli.terminal import bars, note

if TYPE_CHECKING:
    from juryrank.data import Dataset
    from juryrank.kernels.cache import CacheUse
    from juryrank.methods import Aggregator

DEFAULTS = ("rrf", "jury")  # of fuse and fit; those of compare need no labels
BOARD = "bradley-terry"  # of leaderboard
N_QUERIES, N_ITEMS, N_EXPERTS = 6, 13, 3


def run(
    methods: Annotated[
        list[str] | None,
        options.several_methods(
            "Methods to compile; repeatable. Default: rrf, jury and the methods that need no labels; all: every method."
        ),
    ] = None,
    portable: Annotated[
        bool, typer.Option("--portable", help="Compile for any CPU of this architecture, not only for this one.")
    ] = False,
    cache: Annotated[
        Path | None,
        typer.Option(
            "--cache", metavar="DIR", help="Parent folder of the cache, as XDG_CACHE_HOME; default: ~/.cache."
        ),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Compile the code of the commands and methods, so that their first run does not wait for it.

    Everything is run once on a few made-up lists. Code that came with the package or is already in the cache is not
    compiled again. Bytecode of juryrank and of the libraries is stored beside them, also with PYTHONDONTWRITEBYTECODE.
    """
    from juryrank.kernels.cache import USE, compile_for_any_cpu

    chosen = chosen_methods(methods)
    if portable:
        compile_for_any_cpu()
        os.environ["JURYRANK_KERNELS"] = "numba"  # the library that comes with the package is not for any CPU
    folder = prepare_folder(cache)
    USE.accepts_portable = portable
    begin = time.perf_counter()
    with TemporaryDirectory() as name, silent_about_data(), bars(quiet=quiet) as show:
        for label, work in show(jobs(chosen, Path(name)), "compiling"):
            started, before = time.perf_counter(), USE.misses
            work()
            if compiled := USE.misses - before:
                took = time.perf_counter() - started
                note(f"{label}: {kernels(compiled)} compiled in {took:.1f} s", quiet=quiet)
    check_stored(USE, folder)
    bytecode = store_bytecode()
    if bytecode.not_writable:
        note(not_writable(bytecode), quiet=quiet)
    print(summary(len(USE.stored), folder, portable, bytecode, time.perf_counter() - begin))


def chosen_methods(texts: list[str] | None) -> dict[str, Aggregator]:
    """The methods of ``--methods`` by label."""
    from juryrank.evaluation.method_specs import methods_by_label, split_methods
    from juryrank.methods import METHODS, consensus_methods

    if texts is None:
        return methods_by_label(list(dict.fromkeys([*DEFAULTS, *consensus_methods()])))
    named = dict.fromkeys(name for text in texts for name in split_methods(text))
    if ALL in named:
        named = dict.fromkeys([*METHODS, *(name for name in named if name != ALL)])
    return methods_by_label(list(named))


def prepare_folder(parent: Path | None) -> str:
    """The folder of the cache; an error if it cannot be used."""
    from juryrank.errors import ParameterError
    from juryrank.kernels.cache import prepare_own_folder

    if parent is not None:
        os.environ["XDG_CACHE_HOME"] = str(parent.absolute())
    folder = prepare_own_folder()
    if folder.problem is not None:
        raise ParameterError(f"the cache {folder.path} {folder.problem}; choose another folder with --cache DIR")
    return folder.path


@contextmanager
def silent_about_data() -> Iterator[None]:
    """Within this context, only warnings about the cache are shown: the data is made up."""
    from juryrank.errors import CacheWarning, JuryrankWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JuryrankWarning)
        warnings.simplefilter("always", CacheWarning)
        yield


def jobs(methods: dict[str, Aggregator], folder: Path) -> list[tuple[str, Callable[[], None]]]:
    """What is run, by label: reading, evaluating and writing, each method, and the leaderboard."""
    write_files(folder)
    data = functools.cache(lambda: read_files(folder))
    work: list[tuple[str, Callable[[], None]]] = [
        ("read and write", lambda: read_and_write(folder)),
        ("evaluate", lambda: evaluate_all(data())),
    ]
    work += [(label, functools.partial(fit_and_predict, each, label, data)) for label, each in methods.items()]
    if BOARD in methods:
        work.append(("leaderboard", lambda: make_leaderboard(folder)))
    return work


def write_files(folder: Path) -> None:
    """Made-up runs, labels, features, a table of ranks, and comparisons."""
    (folder / "runs").mkdir()
    queries, items = range(N_QUERIES), range(N_ITEMS)
    ranks = [
        (f"q{q}", f"d{i * (expert + 2) * 7 % N_ITEMS}", f"e{expert}", i + 1)  # another order for each expert
        for expert in range(N_EXPERTS)
        for q in queries
        for i in items[: N_ITEMS - (q + expert) % 4]
    ]
    for expert in {expert for _, _, expert, _ in ranks}:
        lines = [f"{q} Q0 {d} {rank} {(N_ITEMS - rank) / 8} {e}\n" for q, d, e, rank in ranks if e == expert]
        (folder / "runs" / f"{expert}.run").write_text("".join(lines))
    labels = [(f"q{q}", f"d{i}", (i * i + q) % 3) for q in queries for i in items]
    (folder / "labels.qrels").write_text("".join(f"{q} 0 {d} {label}\n" for q, d, label in labels))
    battles = [
        (f"d{i}", f"d{(i + step) % 5}", ("left", "right", "tie")[i * step % 3], f"e{(i + step) % N_EXPERTS}")
        for i in range(5)
        for step in (1, 2, 3)
    ]
    _write_table(folder / "features.csv", "query,item,length,age", [(q, d, n + 0.5, len(d)) for q, d, n in labels])
    _write_table(folder / "ranks.csv", "query,item,expert,rank", ranks)
    _write_table(folder / "battles.csv", "left,right,winner,expert", battles)


def _write_table(path: Path, header: str, rows: Sequence[tuple[object, ...]]) -> None:
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows), ""]))


def read_files(folder: Path) -> tuple[Dataset, ...]:
    """Lists with scores, some of their queries as in a fold of ``compare``, and lists with ranks only."""
    from juryrank.io import read

    labels, features = folder / "labels.qrels", folder / "features.csv"
    scores, ranks = (read(folder / name, labels=labels, features=features) for name in ("runs", "ranks.csv"))
    return scores, scores[list(range(N_QUERIES - 1))], ranks


def read_and_write(folder: Path) -> None:
    """What ``fuse`` compiles beside the method, for small and large runs, and with ``--memory``."""
    from juryrank.io import fast_trec
    from juryrank.io.sources import inputs_of, load_sources
    from juryrank.methods import method
    from juryrank.tasks.files.rank_files import rank_files

    os.environ["JURYRANK_THREADS"] = "2"  # a machine with one core also compiles what several threads need
    fast_trec.read(load_sources(inputs_of(folder / "runs")), bytes_per_thread=1)
    rank_files(sorted((folder / "runs").iterdir()), method("rrf"), folder / "fused.run", memory=10**9)


def evaluate_all(datasets: Sequence[Dataset]) -> None:
    """What ``evaluate`` compiles."""
    from juryrank.evaluation.evaluate import evaluate

    for data in datasets:
        evaluate(data, data, list(options.DEFAULT_METRICS))


def fit_and_predict(method: Aggregator, label: str, datasets: Callable[[], Sequence[Dataset]]) -> None:
    """What ``rank``, ``fit`` and ``compare`` compile for one method."""
    from juryrank.errors import MissingExtraError

    try:
        for data in datasets():
            if data.rankings.entry_score is not None or not method.needs_scores:
                method.fit(data).predict(data)
    except MissingExtraError as error:
        note(f"{label}: skipped: {error}", quiet=False)


def make_leaderboard(folder: Path) -> None:
    """What ``leaderboard`` does by default."""
    from juryrank.io import read
    from juryrank.tasks.leaderboard import leaderboard

    leaderboard(read(folder / "battles.csv"), BOARD)


def check_stored(use: CacheUse, folder: str) -> None:
    """An error if compiled code was not stored in the folder: the disk may be full."""
    from juryrank.errors import ParameterError

    stored = sum(path.startswith(folder + os.sep) for path in use.stored)
    if stored < use.misses:
        lost = use.misses - stored
        raise ParameterError(f"{kernels(lost)} could not be stored in {folder}; choose another folder with --cache DIR")


def not_writable(bytecode: Bytecode) -> str:
    """Where bytecode could not be stored."""
    folder, *others = bytecode.not_writable
    more = f" and {len(others)} other folder{'' if len(others) == 1 else 's'}" if others else ""
    return f"bytecode could not be stored in {folder}{more}: not writable; every command compiles these modules again"


def summary(compiled: int, folder: str, portable: bool, bytecode: Bytecode, seconds: float) -> str:
    """How much compiled code the folder has now, how many modules have bytecode, and how long it took."""
    sizes = [path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()]
    cpu = f"any {platform.machine()} CPU" if portable else "this CPU"
    size = f"{kernels(len(sizes))}, {sum(sizes) / 1e6:.1f} MB"
    modules = f"bytecode of {bytecode.modules} modules, {bytecode.compiled} compiled now"
    return f"{folder}: {size}; {compiled} compiled now, for {cpu}; {modules}, in {seconds:.1f} s"


def kernels(count: int) -> str:
    """``"1 kernel"``, ``"2 kernels"``."""
    return f"{count} kernel{'' if count == 1 else 's'}"
