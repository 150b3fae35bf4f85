"""A process that times public calls of one version of juryrank, one line of JSON per request.

It is a program of its own, so that another version can run it: it uses only calls that old versions have, too, and
imports nothing from ``studies``.
"""

from __future__ import annotations

import hashlib
import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import juryrank as jr

Call = Callable[[], Any]
FUSED = {
    "RRF": {"name": "rrf"},
    "Borda": {"name": "borda", "missing": "mean"},
    "CombMNZ": {"name": "combmnz", "norm": "min-max"},
    "Condorcet": {"name": "condorcet"},
    "Copeland": {"name": "copeland"},
    "MC4": {"name": "mc4"},
}


def single_query(folder: Path) -> dict[str, Call]:
    """``juryrank.fuse`` of the lists in ``lists.json``."""
    lists = json.loads((folder / "lists.json").read_text())

    def fuse(given: Any) -> tuple[list[Any], list[Any]]:
        fused = jr.fuse(given)
        return list(fused), list(fused.values())

    return {name: partial(fuse, given) for name, given in lists.items()}


def files(folder: Path) -> dict[str, Call]:
    """From the folder ``runs`` to a file, in this process and by the command ``fuse``; and reading alone."""
    runs, out = folder / "runs", folder / f"out-{abs(hash(jr.__file__))}.run"

    def file_to_file() -> bytes:
        data = jr.read(runs)
        jr.write(jr.method("rrf").fit(data).predict(data), out)
        return out.read_bytes()

    def command() -> bytes:
        subprocess.run([sys.executable, "-m", "juryrank", "fuse", "-q", str(runs), "-o", str(out)], check=True)
        return out.read_bytes()

    return {
        "read 25 files": lambda: jr.read(runs).rankings.n_entries,
        "RRF, 25 files to a file": file_to_file,
        "juryrank fuse, 25 files to a file": command,
    }


def fusion(folder: Path) -> dict[str, Call]:
    """Scores and order of every query, from arrays."""
    data = jr.read(folder / "runs")

    def fuse(model: Any) -> Any:
        rankings = replace(data.rankings)  # without cached results of earlier calls
        consensus = model.fit(rankings).predict(rankings)
        return consensus.order, consensus.scores

    return {name: partial(fuse, jr.method(**method)) for name, method in FUSED.items()}


TASKS = {"single-query": single_query, "files": files, "fusion": fusion}


def digests(result: Any) -> list[str]:
    """A short text for each part of a result, equal for equal parts: the order, if it has one, then the scores."""
    parts = result if isinstance(result, tuple) else (result,)
    content = [part.tobytes() if hasattr(part, "tobytes") else repr(part).encode() for part in parts]
    return [hashlib.sha256(part).hexdigest()[:16] for part in content]


def cpu_seconds() -> float:
    """CPU time of this process and of the processes that it has started and that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def time_batch(call: Call, seconds: float) -> dict[str, float]:
    """Seconds per call, by clock and by CPU, of as many calls as fit into ``seconds``, at least one."""
    n, cpu, start = 0, cpu_seconds(), time.perf_counter()
    while n == 0 or time.perf_counter() - start < seconds:
        call()
        n += 1
    return {"clock": (time.perf_counter() - start) / n, "cpu": (cpu_seconds() - cpu) / n}


def answer(request: dict[str, Any], calls: dict[str, Call], folder: Path) -> dict[str, Any]:
    """The answer to one request: the calls of a task, the digests of a result, or times."""
    if "task" in request:
        calls.clear()
        calls.update(TASKS[request["task"]](folder))
        return {"calls": list(calls)}
    call = calls[request["call"]]
    return time_batch(call, request["seconds"]) if "seconds" in request else {"digests": digests(call())}


def main(folder: Path) -> None:
    """Answer requests until the input ends; an error is an answer, too."""
    warnings.simplefilter("ignore")
    calls: dict[str, Call] = {}
    print(json.dumps({"file": jr.__file__}), flush=True)
    for line in sys.stdin:
        try:
            found = answer(json.loads(line), calls, folder)
        except Exception as error:  # an old version may not have a call
            found = {"error": f"{type(error).__name__}: {str(error).partition(chr(10))[0][:100]}"}
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
