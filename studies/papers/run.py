"""Runs experiments one after the other; what is finished is kept, and not run again while nothing has changed."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from juryrank import __version__
from juryrank.errors import DataError, JuryrankError, JuryrankWarning, UnknownNameError
from juryrank.io.files import save
from juryrank.progress import track
from juryrank.report import plain
from studies.papers.experiment import Context, Experiment, code_digest
from studies.papers.findings import Findings


@dataclass(frozen=True)
class Outcome:
    """An experiment with what it found, or with what it lacked or failed at."""

    experiment: Experiment
    findings: Findings | None
    seconds: float = 0.0
    lacking: str = ""
    failed: bool = False


def chosen(names: Sequence[str], experiments: Sequence[Experiment]) -> list[Experiment]:
    """Experiments by name or by paper; all without names."""
    known = {e.name for e in experiments} | {e.paper for e in experiments}
    for name in names:
        if name not in known:
            raise UnknownNameError.of("paper or experiment", name, known)
    return [e for e in experiments if not names or e.name in names or e.paper in names]


def run(
    wanted: Sequence[Experiment], context: Context, say: Callable[[str], None] = lambda line: None
) -> list[Outcome]:
    """Every wanted experiment: kept from before, run now, or skipped for want of data; ``say`` gets a line of each."""
    if not context.data.is_dir():
        raise DataError(f"{context.data}: no such folder; --data names the folder with MQ2008-agg, OHSUMED and others")
    _make(context.out / "results")
    outcomes = []
    for experiment in track(wanted, "experiments"):
        outcome, told = _one(experiment, context)
        say(f"{experiment.name}: {told}")
        outcomes.append(outcome)
    return outcomes


def _one(experiment: Experiment, context: Context) -> tuple[Outcome, str]:
    if lacking := context.missing(experiment.needs):
        text = f"needs {', '.join(lacking)} in {context.data}"
        return Outcome(experiment, None, lacking=text), f"skipped: {text}; see `juryrank data`"
    path, key = context.out / "results" / f"{experiment.name}.json", _key(experiment, context)
    kept, damaged = _kept(path, key)
    if kept is not None:
        return Outcome(experiment, Findings.from_dict(kept["findings"]), kept["seconds"]), "kept from before"
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", JuryrankWarning
            )  # studies stop early on purpose, and take what is not judged
            findings = experiment.run(context)
    except JuryrankError as error:
        return Outcome(experiment, None, lacking=str(error), failed=True), f"FAILED: {error}"
    seconds = round(time.perf_counter() - start, 1)
    found = json.loads(json.dumps({"key": key, "seconds": seconds, "findings": plain(findings.to_dict())}))
    save(path, (json.dumps({**found, "digest": _digest(found)}, ensure_ascii=False) + "\n").encode())
    told = f"done in {seconds:.0f} s{'; the kept result was damaged or edited' if damaged else ''}"
    return Outcome(experiment, Findings.from_dict(found["findings"]), seconds), told


def _key(experiment: Experiment, context: Context) -> dict[str, Any]:
    return {
        "version": __version__,
        "code": context.once("code", lambda: code_digest("reproduce", "compare", "explain")),
        "seeds": list(context.seeds),
        "quick": context.quick,
        "data": context.fingerprint(experiment.needs),
    }


def _kept(path: Path, key: dict[str, Any]) -> tuple[dict[str, Any] | None, bool]:
    """What was found before with the same key, if anything; and whether there is a result that is not as written."""
    try:
        found = json.loads(path.read_bytes())
    except OSError:
        return None, False
    except (ValueError, RecursionError):
        return None, True
    if not isinstance(found, dict) or found.pop("digest", None) != _digest(found):
        return None, True
    return (found, False) if found.get("key") == key else (None, False)


def _digest(found: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot be made: {error.strerror or error}") from None
