"""Runs experiments one after the other; a stored result is used again while code, data and options are the same."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import juryrank as jr
from juryrank.errors import DataError, JuryrankError, JuryrankWarning, UnknownNameError
from studies.console import track
from studies.files import make_folder, write_file
from studies.papers.experiment import Context, Experiment, library_digest, studies_digest
from studies.papers.findings import Findings
from studies.tables import without_nan


@dataclass(frozen=True)
class Outcome:
    """An experiment with its findings, or with the reason why there are none."""

    experiment: Experiment
    findings: Findings | None
    seconds: float = 0.0
    lacking: str = ""
    failed: bool = False


def select(names: Sequence[str], experiments: Sequence[Experiment]) -> list[Experiment]:
    """Experiments by name or by paper; without names, all."""
    known = {e.name for e in experiments} | {e.paper for e in experiments}
    for name in names:
        if name not in known:
            raise UnknownNameError.of("paper or experiment", name, known)
    return [e for e in experiments if not names or e.name in names or e.paper in names]


def run(
    wanted: Sequence[Experiment], context: Context, say: Callable[[str], None] = lambda line: None
) -> list[Outcome]:
    """Run the experiments, or load their stored results; ``say`` gets one line about each."""
    if not context.data.is_dir():
        raise DataError(f"{context.data}: no such folder; --data names the folder with MQ2008-agg, OHSUMED and others")
    make_folder(context.out / "results")
    outcomes = []
    for experiment in track(wanted, "experiments"):
        outcome, text = _run_one(experiment, context)
        say(f"{experiment.name}: {text}")
        outcomes.append(outcome)
    return outcomes


def _run_one(experiment: Experiment, context: Context) -> tuple[Outcome, str]:
    if lacking := context.missing(experiment.needs):
        text = f"needs {', '.join(lacking)} in {context.data}"
        return Outcome(experiment, None, lacking=text), f"skipped: {text}; see `python -m studies data`"
    path, key = context.out / "results" / f"{experiment.name}.json", _key(experiment, context)
    stored, damaged = _load(path, key)
    if stored is not None:
        return Outcome(experiment, Findings.from_dict(stored["findings"]), stored["seconds"]), "kept from before"
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", JuryrankWarning)  # studies stop early and use unjudged items on purpose
            findings = experiment.run(context)
    except JuryrankError as error:
        return Outcome(experiment, None, lacking=str(error), failed=True), f"FAILED: {error}"
    seconds = round(time.perf_counter() - start, 1)
    result = json.loads(json.dumps({"key": key, "seconds": seconds, "findings": without_nan(findings.to_dict())}))
    write_file(path, json.dumps({**result, "digest": _digest(result)}, ensure_ascii=False) + "\n")
    text = f"done in {seconds:.0f} s{'; the kept result was damaged or edited' if damaged else ''}"
    return Outcome(experiment, Findings.from_dict(result["findings"]), seconds), text


def _key(experiment: Experiment, context: Context) -> dict[str, Any]:
    return {
        "version": jr.__version__,
        "code": context.once("code", lambda: f"{library_digest()} {studies_digest()}"),
        "seeds": list(context.seeds),
        "quick": context.quick,
        "data": context.fingerprint(experiment.needs),
    }


def _load(path: Path, key: dict[str, Any]) -> tuple[dict[str, Any] | None, bool]:
    """The stored result with the same key, if there is one; and whether the file is not as it was written."""
    try:
        stored = json.loads(path.read_bytes())
    except OSError:
        return None, False
    except (ValueError, RecursionError):
        return None, True
    if not isinstance(stored, dict) or stored.pop("digest", None) != _digest(stored):
        return None, True
    return (stored, False) if stored.get("key") == key else (None, False)


def _digest(result: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(result, sort_keys=True).encode()).hexdigest()
