"""Write ``exports.txt``: ``python native/record.py`` runs methods and commands, and notes which kernels Python calls.

Run it after a change of a kernel or of what calls it, then ``make kernels``.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "src"))

from juryrank import cli  # noqa: E402 - from this source tree
from juryrank.cli import warm  # noqa: E402
from juryrank.data.comparisons import from_pairs  # noqa: E402
from juryrank.errors import JuryrankError  # noqa: E402
from juryrank.kernels import jit, library  # noqa: E402
from juryrank.methods import METHODS, method  # noqa: E402
from juryrank.params import parameters  # noqa: E402
from juryrank.tasks.fuse.json_lists import JsonRoom, JsonSums  # noqa: E402
from juryrank.tasks.fuse.python_lists import PythonRoom  # noqa: E402

HEADER = (
    "# Kernels of the library, and the types of their arguments as juryrank.kernels.library.represent writes them.\n"
)
DEMO = HERE.parent / "src/juryrank/demo"
QRELS = DEMO / "trec-covid/qrels.parquet"
# Ranks that contradict the scores, in runs that are otherwise in order; ranks out of order within ties.
ODD = "".join(f"q{q} Q0 d{i} {i + 1} {9 - i + 3 * (i == 2)} odd\n" for q in range(3) for i in range(6)) + (
    "q4 Q0 d1 2 5 odd\nq4 Q0 d2 1 5 odd\nq4 Q0 d3 3 4 odd\n"
)
COMMANDS = [
    f"convert {DEMO}/trec-covid/runs.parquet OUT/demo --to trec-run",
    "fuse OUT/demo -o OUT/fused.run",
    "fuse OUT/demo -o OUT/fused.run --memory 64MB",
    "fuse OUT/odd.run OUT/e0.run -o OUT/odd-fused.run",
    "fuse OUT/odd.run OUT/e0.run -o OUT/odd-fused.run --memory 64MB",
    f"rank {DEMO}/trec-covid/runs.parquet --method rrf -o OUT/fused.parquet",
    f"fuse {DEMO}/trec-covid/runs.parquet -o OUT/streamed.parquet --memory 64MB",
    f"evaluate OUT/fused.run --qrels {QRELS}",
    f"evaluate OUT/demo --qrels {QRELS}",
    f"evaluate OUT/fused.run --qrels {QRELS} -m nDCG@10 -m AP -m P@5 -m RR -m ERR@20 -m RBP",
    f"evaluate OUT/fused.run --qrels {QRELS} -m KendallTau -m Footrule -m RBO -m SpearmanRho",
    f"fit OUT/demo --labels {QRELS} -o OUT/model.json",
    "rank OUT/demo --model OUT/model.json -o OUT/ranked.run",
    "explain OUT/model.json OUT/demo --query 1",
    f"compare OUT/demo --labels {QRELS} --methods rrf,borda,jury --folds 5 -m nDCG@10",
    "demo",
    *(
        f"leaderboard {DEMO}/battles.csv --bootstrap 20 {more}"
        for more in ("", "-p ties=davidson", "-p ties=rao-kupper")
    ),
    *(f"leaderboard {DEMO}/battles.csv --interval {kind}" for kind in ("sandwich --by expert", "sandwich", "fisher")),
    f"leaderboard {DEMO}/battles.csv --method plackett-luce --bootstrap 20",
    f"leaderboard {DEMO}/battles.csv --method plackett-luce --interval fisher",
    f"leaderboard {DEMO}/battles.csv --method kemeny",
    f"rank {DEMO}/cooking.csv --method generalised-mallows -o OUT/searched.run",
    f"leaderboard {DEMO}/battles.csv --method crowd-bt --bootstrap 20",
    f"leaderboard {DEMO}/battles.csv --method elo --bootstrap 20",
]


def main() -> None:
    """Run everything, and write the list."""
    calls: set[str] = set()
    with recording(calls), TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for label, work in warm.jobs(warm.chosen_methods(["all", *every_choice()]), Path(name)):
            print(label, flush=True)
            with suppress(JuryrankError):  # a choice may need other data
                work()
        (Path(name) / "odd.run").write_text(ODD)
        (Path(name) / "e0.run").write_text((Path(name) / "runs/e0.run").read_text())
        for command in COMMANDS:
            print(command, flush=True)
            run(command, name)
        print("lists in JSON", flush=True)
        JsonSums(lambda expert, ranks: 1 / ranks, by_name=True, room=JsonRoom(lambda _: b"[1.0]"))({"e": b'["a"]'})
        PythonRoom()
        print("comparisons and games", flush=True)
        from_pairs(["a", "b"], ["b", "c"])
        method("elo").stream().update(["a", "b"])
    (HERE / "exports.txt").write_text(HEADER + "".join(f"{line}\n" for line in sorted(calls)))


def every_choice() -> Iterator[str]:
    """Every method with each value of its choices and switches that is not the default."""
    for name, cls in METHODS.items():
        for f in parameters(cls):
            values = [str(not f.default).lower()] if isinstance(f.default, bool) else f.metadata["choices"] or []
            yield from (f"{name}:{f.name}={value}" for value in values if value != f.default)


@contextmanager
def recording(calls: set[str]) -> Iterator[None]:
    """Note every call of a kernel from Python."""

    def recorded(call: Callable[..., Any]) -> Callable[..., Any]:
        def record(self: jit.CompiledFunction, *args: Any) -> Any:
            module = self.function.__module__.rpartition(".")[2]
            calls.add(f"{module}.{self.function.__name__} {library.represent(args)[0]}")
            return call(self, *args)

        return record

    with ExitStack() as stack:
        for name in ("__call__", "prepare"):
            call = recorded(getattr(jit.CompiledFunction, name))
            stack.enter_context(mock.patch.object(jit.CompiledFunction, name, call))
        yield


def run(command: str, folder: str) -> None:
    """A command of juryrank in this process; what it prints is shown if it fails."""
    output = StringIO()
    words = command.replace("OUT", folder).split()
    with mock.patch.object(sys, "argv", ["juryrank", *words]), redirect_stdout(output), redirect_stderr(output):
        try:
            cli.main()
        except SystemExit as end:
            if end.code:
                print(f"{command}: {output.getvalue()}", file=sys.__stdout__)


if __name__ == "__main__":
    main()
