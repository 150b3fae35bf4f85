"""How many files and functions of juryrank a flow uses: ``python flows.py FLOW`` counts in a process of its own.

``sys.setprofile`` does not see compiled functions. Comprehensions, lambdas and what runs while a module is imported are
not counted. Files are read from ``demo`` and written in the working directory.
"""

import json
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import juryrank as jr

PACKAGE = str(Path(jr.__file__).parent)
IDS = {"bm25": ["a", "b", "c"], "dense": ["c", "a"]}
SCORES = {"bm25": {"a": 3.5, "b": 2.0}, "dense": {"b": 0.9, "c": 0.1}}


class Functions:
    """The functions that were called."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, str]] = set()
        self._imports = 0  # bodies of modules that are running

    def watch(self, frame: FrameType, event: str, _: Any) -> None:
        """The function for ``sys.setprofile``."""
        code = frame.f_code
        if code.co_name == "<module>":
            self._imports += (event == "call") - (event == "return")
        elif event == "call" and not self._imports and code.co_name[0] != "<" and code.co_filename.startswith(PACKAGE):
            self._seen.add((code.co_filename, code.co_qualname))

    def take(self) -> tuple[int, int]:
        """Files and functions since the last call."""
        seen, self._seen = self._seen, set()
        return len({file for file, _ in seen}), len(seen)


def count(call: Callable[[], object], *, warm: bool = True) -> tuple[int, int]:
    """Files and functions of a call, by default of one that is not the first."""
    if warm:
        call(), call()
    functions = Functions()
    sys.setprofile(functions.watch)
    try:
        call()
    except SystemExit as end:  # of a command
        if end.code:
            raise
    finally:
        sys.setprofile(None)
    return functions.take()


def command(*args: str) -> tuple[int, int]:
    """A command, from the first import on."""
    from juryrank.cli import main

    sys.argv = ["juryrank", *args]
    return count(main, warm=False)


def learn() -> Callable[[], object]:
    """Fit, save, load, prepare."""
    data = jr.read("demo/cooking.csv")

    def work() -> None:
        jr.save(jr.fit(data), "model.json")
        jr.Fuser(jr.load("model.json"))

    return work


def learn_from_files() -> object:
    """Fit on files, query by query."""
    return jr.fit_files(["runs"], labels="demo/cooking.csv", memory=500_000_000)


def evaluate_dicts() -> Callable[[], object]:
    """Evaluate plain dicts."""
    run = {f"q{q}": {item: 1.0 / rank for rank, item in enumerate("abcd", 1)} for q in range(5)}
    labels = {f"q{q}": {"b": 1, "d": 2} for q in range(5)}
    return lambda: jr.evaluate(run, labels, "nDCG@10")


def serve() -> None:
    """``juryrank serve``; a file ``question`` becomes ``counts``, with those since the last one."""
    functions = Functions()

    def answer() -> None:
        while True:
            time.sleep(0.01)
            if Path("question").exists():
                Path("question").write_text(json.dumps(functions.take()))
                Path("question").rename("counts")

    threading.Thread(target=answer, daemon=True).start()
    threading.setprofile(functions.watch)
    sys.setprofile(functions.watch)
    from juryrank.cli import main

    sys.argv[0] = "juryrank"
    main()


def compare() -> Callable[[], object]:
    """Compare with folds."""
    data = jr.read("demo/cooking.csv")
    return lambda: jr.compare(["rrf", "jury"], data, "nDCG@10", folds=3)


def evaluate_dataset() -> Callable[[], object]:
    """Evaluate the experts of a dataset."""
    data = jr.read("demo/cooking.csv")
    return lambda: jr.evaluate(data, data.labels, "nDCG@10")


FLOWS: dict[str, Callable[[], tuple[int, int]]] = {
    "fuse ids": lambda: count(lambda: jr.fuse(IDS)),
    "fuse scores": lambda: count(lambda: jr.fuse(SCORES)),
    "fuse by mc4": lambda: count(lambda: jr.fuse(IDS, "mc4")),
    "juryrank fuse": lambda: command("fuse", "runs/bm25.run", "runs/dense.run", "-o", "fused.run", "--quiet"),
    "fit, save, load, Fuser": lambda: count(learn()),
    "fit_files": lambda: count(learn_from_files),
    "evaluate dicts": lambda: count(evaluate_dicts()),
    "evaluate a dataset": lambda: count(evaluate_dataset()),
    "compare": lambda: count(compare()),
    "juryrank evaluate": lambda: command("evaluate", "demo/cooking.csv", "-m", "nDCG@10", "--quiet"),
    "juryrank compare": lambda: command(
        "compare", "demo/cooking.csv", "--methods", "rrf,jury", "--folds", "3", "-m", "AP", "--quiet"
    ),
}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1] == "serve":
        serve()
    else:
        Path("counts").write_text(json.dumps(FLOWS[sys.argv[1]]()))
