"""Refits: a model learns from all feedback since it was uploaded, and is compared with the one in use.

A refit starts from the model that was uploaded, its base, and adds all feedback to it by one exact ``partial_fit``. So
the result depends on the base and the feedback only, not on how many refits there were: labels that have changed count
as they are now, and nothing counts twice. The store remembers the base of each version, and up to which row it learned.

As a program, it reads a request from stdin and writes its answer to stdout: a process of its own leaves the workers
free for requests.
"""

from __future__ import annotations

import sys
import traceback
import warnings
from copy import copy
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from juryrank.data import Consensus, Dataset
from juryrank.data.arrays import Ints
from juryrank.errors import DataError, JuryrankError, JuryrankWarning, UnknownNameError
from juryrank.evaluation.significance import half_width
from juryrank.kernels.ragged import children
from juryrank.learning.held_out import are_condensed, judged_share
from juryrank.learning.label_survey import NONE as NO_LABELS
from juryrank.learning.label_survey import POSITIVES_ONLY, LabelSurvey
from juryrank.learning.verdict import EXPECTED, NONE, SAME, SHOWN
from juryrank.methods import METHODS
from juryrank.metrics import Truth, parse_metric
from juryrank.metrics.truth import condense
from juryrank.models import from_json, to_json
from juryrank.server.learning import Collected, make_lessons
from juryrank.server.problems import Problem
from juryrank.server.registry import Registry, digest
from juryrank.server.settings import Settings, parse
from juryrank.server.store import Refit, Store
from juryrank.server.store_address import address_of, make_store

FOLDS = 5
FEWEST_QUERIES = 10  # that are new, for the rule gain
MOST_WARNINGS = 20
encode = msgspec.json.encode


@dataclass(frozen=True)
class Running:
    """The version in use: what it started from, and what it has learned."""

    version: str
    model: Any
    base_version: str
    base_content: bytes
    base: Any
    until: int  # number of the last row that it learned


def find_running(name: str, content: bytes, store: Store) -> Running:
    """The version in use, whose file has that content; a Problem if it cannot learn more."""
    model: Any = from_json(content.decode(), name)
    if not hasattr(model, "partial_fit"):
        able = sorted(other for other, kind in METHODS.items() if hasattr(kind, "partial_fit"))
        raise Problem(
            422, f"model {name!r} is {model.name}, which cannot learn more; models of {' and '.join(able)} can"
        )
    version = digest(content)
    made_by = store.find_refit(name, version)
    if made_by is None or made_by.base == version:  # it was uploaded, and has learned nothing here
        return Running(version, model, version, content, model, 0)
    base = store.base(made_by.base)
    return Running(version, model, made_by.base, base, from_json(base.decode(), name), made_by.until)


def refit(settings: Settings, name: str, promote: str, *, only_new: bool = False) -> dict[str, Any]:
    """The report of a refit, after promotion by the rule ``promote``: never, always or gain.

    With ``only_new``, an empty report if all feedback was there at the last refit of this version.
    """
    address = address_of(settings)
    assert address is not None
    registry = Registry(settings.models, keep=settings.versions, largest=settings.max_model)
    with make_store(address, settings.store_seconds) as store, store.refitting():
        content, until = registry.content(name), store.last(name)
        if only_new and _is_known(store, name, digest(content), until):
            return {}
        running = find_running(name, content, store)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", JuryrankWarning)
            report, candidate = learn(running, Collected.of(store.read(name, until)))
        report = {"model": name, "method": running.model.name, "running": running.version, "until": until, **report}
        report["warnings"] = list(dict.fromkeys(str(each.message) for each in caught))[:MOST_WARNINGS]
        report["promoted"], report["reason"] = decide(report, promote)
        # Recorded first: a version in use that the store does not know would learn its feedback a second time.
        _record(store, running, report)
        if report["promoted"]:
            assert candidate is not None
            try:
                registry.put(name, candidate, instead_of=running.version)
            except DataError as error:  # replaced meanwhile, or the disk is full
                report["promoted"], report["reason"] = False, str(error)
                _record(store, running, report)
    return report


def _is_known(store: Store, name: str, version: str, until: int) -> bool:
    """Whether the last refit of the model has seen this version and all rows."""
    reports = store.reports(name, 1)
    if not reports:
        return until == 0
    last = msgspec.json.decode(reports[0][1])
    return last["until"] >= until and version in (last["running"], last["candidate"])


def _record(store: Store, running: Running, report: dict[str, Any]) -> None:
    version = report["candidate"] or running.version
    entry = Refit(report["model"], running.base_version, version, report["until"], encode(report))
    store.record(entry, running.base_content)


def decide(report: dict[str, Any], promote: str) -> tuple[bool, str]:
    """Whether the candidate comes into use, and why."""
    held_out = report["held_out"]
    if report["candidate"] is None:
        if not report["not_used"]:
            return False, "there is no feedback to learn from"
        unused = "; ".join(f"{reason} ({count})" for reason, count in report["not_used"].items())
        return False, f"none of the feedback can be used: {unused}"
    if report["candidate"] == report["running"]:
        return False, "the feedback adds nothing to the version in use"
    if promote == "always":
        return True, "asked for"
    if promote == "never":
        return False, "not asked for"
    if held_out["queries"] < FEWEST_QUERIES:
        return False, f"the gain needs {FEWEST_QUERIES} new queries or more, and there are {held_out['queries']}"
    if held_out["labels"] == POSITIVES_ONLY:
        return False, "the feedback names relevant items only, which cannot show a gain: label other items, too"
    if held_out["evidence"] == SHOWN:
        return True, "the interval of the gain is above 0"
    return False, "the interval of the gain is not above 0"


def learn(running: Running, found: Collected) -> tuple[dict[str, Any], bytes | None]:
    """What was learned from all feedback: the report, and the new model file."""
    lessons = make_lessons(found, with_scores=running.base.uses_scores)
    new = {query for query, number in found.first.items() if number > running.until}
    report: dict[str, Any] = {
        "feedback": {"rows": found.rows, "queries": len(found.first), "new_queries": len(new)},
        "learned_queries": 0, "not_used": lessons.not_used, "candidate": None,
        "held_out": no_comparison(running.model.target, NO_LABELS),
    }  # fmt: skip
    if (data := lessons.data) is None:
        return report, None
    model = copy(running.base).partial_fit(data)
    learned = model.n_queries_ - running.base.n_queries_
    if unused := len(data.queries) - learned:
        report["not_used"] = {
            **lessons.not_used,
            "queries of which no listed item has a better label than another": unused,
        }
    if not learned:
        return report, None
    content = to_json(model).encode()
    is_new = np.array([query in new for query in data.queries], bool)
    return {
        **report, "learned_queries": learned, "candidate": digest(content),
        "held_out": compare(running, data, np.flatnonzero(~is_new), np.flatnonzero(is_new)),
    }, content  # fmt: skip


def no_comparison(target: str, labels: str) -> dict[str, Any]:
    """The held-out values where fewer than two queries are new."""
    values = dict.fromkeys(("running_mean", "candidate_mean", "gain", "low", "high"))
    return {
        "metric": target, "queries": 0, **values, "without_unjudged_items": False, "labels": labels, "evidence": NONE,
    }  # fmt: skip


def compare(running: Running, data: Dataset, old: Ints, new: Ints) -> dict[str, Any]:
    """The version in use against models that learned from the other new queries as well, on each new query.

    The queries that the version in use has learned are in the training part of every fold.
    """
    labels = LabelSurvey.of(data).kind
    if len(new) < 2:
        return no_comparison(running.model.target, labels)
    start = copy(running.base).partial_fit(data.take(old)) if len(old) else running.base
    scores = np.zeros(data.rankings.n_slots)
    for part in np.array_split(np.random.default_rng(0).permutation(new), min(FOLDS, len(new))):
        test = np.sort(part)
        model = copy(start).partial_fit(data.take(np.setdiff1d(new, test)))
        scores[children(data.rankings.slot_ptr, test)] = model.predict(data.take(test), warn_unknown=False).scores
    tested = data.take(new)
    candidate = Consensus(tested.rankings, scores[children(data.rankings.slot_ptr, new)])
    before = running.model.predict(tested, warn_unknown=False)
    return difference(before, candidate, tested, running.model.target, labels)


def difference(running: Consensus, candidate: Consensus, data: Dataset, target: str, labels: str) -> dict[str, Any]:
    """The target metric of both, the mean of the difference with its 95 % interval, and how well a gain is shown.

    Where few of the first items are judged, unjudged items are removed first: feedback is of items that were shown,
    and the version in use has chosen those. With ``labels`` of relevant items only, they stay, and nothing is shown.
    """
    truth, metric = Truth(data), parse_metric(target)
    judged = [truth.judge(each) for each in (running, candidate)]
    condensed = are_condensed(np.array([judged_share(each) for each in judged]), labels)
    values = [metric.per_query(condense(each) if condensed else each) for each in judged]
    known = ~np.isnan(values).any(axis=0)
    before, after = (each[known] for each in values)
    if len(before) < 2:
        return no_comparison(target, labels)
    gain, spread = float(np.mean(after - before)), half_width(after - before)
    unknown = labels == POSITIVES_ONLY or bool((np.abs(after - before) <= SAME).all())
    return {
        "metric": target, "queries": len(before), "running_mean": float(before.mean()),
        "candidate_mean": float(after.mean()), "gain": gain, "low": gain - spread, "high": gain + spread,
        "without_unjudged_items": condensed, "labels": labels,
        "evidence": NONE if unknown else SHOWN if gain - spread > 0 else EXPECTED,
    }  # fmt: skip


def main() -> None:
    """Answer the request on stdin: settings, model, rule, and whether only new feedback is of interest."""
    request = msgspec.json.decode(sys.stdin.buffer.read())
    try:
        found = refit(parse(request["settings"]), request["model"], request["promote"], only_new=request["only_new"])
        answer: dict[str, Any] = {"status": 200, "report": found}
    except Problem as problem:
        answer = {"status": problem.status, "detail": problem.detail, "headers": problem.headers}
    except JuryrankError as error:
        answer = {"status": 404 if isinstance(error, UnknownNameError) else 422, "detail": str(error)}
    except Exception:
        answer = {"status": 500, "detail": traceback.format_exc()}
    sys.stdout.buffer.write(encode(answer))


if __name__ == "__main__":
    main()
