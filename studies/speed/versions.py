"""Two versions of juryrank in one run: each in a process of its own, timed in turns."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import juryrank as jr
from juryrank.errors import DataError, UnknownNameError
from studies.console import note
from studies.files import make_folder, write_file
from studies.speed.clock import seconds_text
from studies.speed.inputs import find_inputs
from studies.speed.single_query import random_lists
from studies.speed.targets import times
from studies.speed.version_calls import TASKS
from studies.tables import Report, Table

__all__ = ["TASKS", "Comparison", "Pair", "Version", "compare_call", "compare_versions", "source_tree", "write"]

WORKER = Path(__file__).with_name("version_calls.py")
SIZES = ((2, 20), (2, 100), (3, 100), (10, 100), (5, 1000))  # lists, their length
SECONDS = 0.003  # per batch; short, so that on a busy machine some batches are not interrupted
ROUNDS, LEAST, BUDGET = 101, 5, 15.0  # batches of a call in each version: at most, at least, seconds for all


@dataclass(frozen=True)
class Pair:
    """One call in both versions: the fastest batch by clock and by CPU, in seconds per call."""

    task: str
    call: str
    clock: tuple[float, float]  # this version, the other
    cpu: tuple[float, float]
    same: str  # whether both give the same bytes: "yes", "order" (with other scores) or "NO"

    @property
    def ratio(self) -> float:
        """How many times longer the other version takes."""
        return self.clock[1] / self.clock[0]

    @property
    def cpu_ratio(self) -> float:
        """The same by CPU time."""
        return self.cpu[1] / self.cpu[0] if self.cpu[0] else float("nan")


@dataclass(frozen=True, repr=False)
class Comparison(Report):
    """All calls of one run."""

    pairs: list[Pair]
    trees: tuple[str, str]
    description: str
    failed: list[str]  # calls that a version does not have, or that raised an error

    def tables(self) -> list[Table]:
        cells = [
            [pair.task, pair.call, *map(seconds_text, pair.clock), times(pair.ratio), *map(seconds_text, pair.cpu),
             times(pair.cpu_ratio), pair.same]
            for pair in self.pairs
        ]  # fmt: skip
        for task in dict.fromkeys(pair.task for pair in self.pairs):
            ratios = [(pair.ratio, pair.cpu_ratio) for pair in self.pairs if pair.task == task]
            clock, cpu = (times(statistics.geometric_mean(column)) for column in zip(*ratios, strict=True))
            cells.append([task, "geometric mean", "", "", clock, "", "", cpu, ""])
        columns = [
            "task", "call", "this", "other", "other / this", "this, CPU", "other, CPU", "by CPU", "same result?",
        ]  # fmt: skip
        text = (
            f"This: {self.trees[0]}. Other: {self.trees[1]}. {self.description} The fastest of up to {ROUNDS} "
            "batches, in turns; each version runs in a process of its own."
            f"{''.join(f' Failed: {text}.' for text in self.failed)}"
        )
        return [Table("Versions", columns, cells, n_names=2, note=text)]

    def rows(self) -> list[dict[str, Any]]:
        return [{**asdict(pair), "ratio": pair.ratio, "cpu_ratio": pair.cpu_ratio} for pair in self.pairs]

    def to_dict(self) -> dict[str, Any]:
        return {"this": self.trees[0], "other": self.trees[1], "data": self.description, "failed": self.failed,
                "rows": self.rows()}  # fmt: skip


class Asked(Protocol):
    """A version that answers requests."""

    tree: Path

    def ask(self, **request: Any) -> dict[str, Any]: ...


class Version:
    """A process that runs ``version_calls`` with one version; ``ask`` sends a request and returns the answer."""

    def __init__(self, tree: Path, folder: Path) -> None:
        environment, options = {**os.environ, "PYTHONHASHSEED": "0"}, ["-P"]
        if tree != own_tree():
            # -S: an editable installation would be imported first. The libraries come from its folder all the same.
            environment["PYTHONPATH"] = os.pathsep.join([str(tree), sysconfig.get_path("platlib")])
            options.append("-S")
        self.tree = tree
        self.process = subprocess.Popen(
            [sys.executable, *options, str(WORKER), str(folder)],
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        imported = Path(self._answer()["file"])
        if not imported.is_relative_to(tree):
            self.close()
            raise DataError(f"{tree}: Python imports juryrank from {imported}")

    def ask(self, **request: Any) -> dict[str, Any]:
        """The answer to one request."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise DataError(f"{self.tree}: the process of this version ended with exit code {self.process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process."""
        self.process.communicate()


def compare_versions(tasks: Iterable[str], other: Path, folder: Path, *, quiet: bool = False) -> Comparison:
    """Time the tasks in the imported version and in that of the source tree ``other``."""
    names = list(tasks)
    for task in names:
        if task not in TASKS:
            raise UnknownNameError.of("task that compares versions", task, TASKS)
    trees = (own_tree(), source_tree(other))
    inputs = find_inputs(folder)
    inputs.run_files  # noqa: B018 (written when first asked for)
    (folder / "lists.json").write_text(json.dumps(lists_of_one_query()))
    pairs: list[Pair] = []
    failed: list[str] = []
    with started(trees, folder) as versions:
        for task in names:
            asked = [version.ask(task=task)["calls"] for version in versions]
            for call in asked[0]:
                note(f"{task}: {call} …", quiet=quiet)
                found = compare_call(task, call, versions)
                if isinstance(found, Pair):
                    pairs.append(found)
                else:
                    failed.append(found)
    return Comparison(pairs, (str(trees[0]), str(trees[1])), inputs.description, failed)


def compare_call(task: str, call: str, versions: Sequence[Asked]) -> Pair | str:
    """One call in both versions, in turns; or what went wrong."""
    first = [version.ask(call=call) for version in versions]
    for version, answer in zip(versions, first, strict=True):
        if "error" in answer:
            return f"{call} with {version.tree}: {answer['error']}"
    times_of: list[list[dict[str, float]]] = [[], []]
    start = time.perf_counter()
    for n in range(ROUNDS):
        if n >= LEAST and time.perf_counter() - start > BUDGET:
            break
        for which in (0, 1) if n % 2 else (1, 0):
            times_of[which].append(versions[which].ask(call=call, seconds=SECONDS))
    clock, cpu = (tuple(min(batch[unit] for batch in of) for of in times_of) for unit in ("clock", "cpu"))
    return Pair(
        task, call, (clock[0], clock[1]), (cpu[0], cpu[1]), same_parts(*(answer["digests"] for answer in first))
    )


def same_parts(ours: list[str], theirs: list[str]) -> str:
    """Which parts of two results are the same."""
    if ours == theirs:
        return "yes"
    return "order" if len(ours) > 1 and ours[0] == theirs[0] else "NO"


@contextmanager
def started(trees: Iterable[Path], folder: Path) -> Iterator[list[Version]]:
    """A process for each tree."""
    versions: list[Version] = []
    try:
        for tree in trees:
            versions.append(Version(tree, folder))
        yield versions
    finally:
        for version in versions:
            version.close()


def own_tree() -> Path:
    """The folder that contains the package of this process."""
    return Path(jr.__file__).resolve().parents[1]


def source_tree(path: Path) -> Path:
    """The folder that contains the package with its compiled modules, or the project above it."""
    for tree in (path, path / "src"):
        if (tree / "juryrank" / "__init__.py").is_file():
            return tree.resolve()
    raise DataError(f"{path}: expected a folder with the package juryrank, such as pip install --target makes")


def write(report: Comparison, folder: Path) -> list[Path]:
    """Write ``versions.md`` and ``versions.json`` to a folder."""
    make_folder(folder)
    paths = [folder / "versions.md", folder / "versions.json"]
    for path, form in zip(paths, ("markdown", "json"), strict=True):
        write_file(path, report.render(form))
    return paths


def lists_of_one_query() -> dict[str, Any]:
    """Lists in order and with scores, and lists in which an item is repeated."""
    found: dict[str, Any] = {}
    for n_lists, n in SIZES:
        lists = random_lists(n_lists, n)
        found[f"fuse {n_lists}×{n} in order"] = lists
        found[f"fuse {n_lists}×{n} with scores"] = {
            expert: {item: 1.0 / place for place, item in enumerate(items, 1)} for expert, items in lists.items()
        }
    lists = random_lists(3, 100)
    found["fuse 3×100 with a repeated item"] = {expert: [*items[:-1], items[0]] for expert, items in lists.items()}
    return found
