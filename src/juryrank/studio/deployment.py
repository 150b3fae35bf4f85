"""The model for other systems: what each of them can take, and what is lost."""

from __future__ import annotations

import io
import json
import shlex
from dataclasses import dataclass
from typing import Any

from juryrank.data import Dataset
from juryrank.errors import DataError, JuryrankError, UnknownNameError
from juryrank.io import write
from juryrank.io.dataset_frames import labels_frame
from juryrank.io.tables.frames import frame_lines
from juryrank.models import to_json
from juryrank.studio.assessment import NOTHING, Assessment, WholeFit
from juryrank.studio.studio import Snapshot, Studio
from juryrank.tasks.export import ENGINES, PORTABLE, export
from juryrank.tasks.export.engines import LIMITS, WeightedRRF, nearest_rrf
from juryrank.tasks.export.requests import to_request
from juryrank.tasks.export.rrf_weights import best_experts, fit_weights

MODEL = "model"
MOST_ENTRIES = 2_000_000  # of lists that weights are fitted to; with more, those of the labelled queries
PENDING = {"pending": True}


@dataclass(frozen=True)
class Target:
    """A system that can take the model."""

    title: str
    file: str
    description: str
    exact: bool = True


TARGETS = {
    MODEL: Target("juryrank", "model.json", "The whole model, for juryrank serve, fuse and rank."),
    "json": Target("JSON table", "points.json", "Points by expert and rank, for any language."),
    "csv": Target("CSV table", "points.csv", "Points by expert and rank, for any language."),
    "python": Target("Python", "fuse.py", "A module without dependencies."),
    "sql": Target("SQL", "fuse.sql", "A query for PostgreSQL, DuckDB and others."),
    "sqlite": Target("SQLite", "fuse-sqlite.sql", "A query for SQLite, with FTS5 or sqlite-vec."),
    "qdrant-formula": Target("Qdrant, as a formula", "qdrant-formula.json", "Exact in collections of one shard."),
    "elasticsearch": Target("Elasticsearch", "elasticsearch.json", "The nearest weighted RRF.", exact=False),
    "opensearch": Target("OpenSearch", "opensearch.json", "The nearest weighted RRF.", exact=False),
    "qdrant": Target("Qdrant", "qdrant.json", "The nearest weighted RRF.", exact=False),
}
assert TARGETS.keys() == {MODEL, *PORTABLE, *ENGINES}


class Deployment:
    """The targets, and the model as the file of each."""

    def __init__(self, studio: Studio, assessment: Assessment) -> None:
        self._studio, self._assessment = studio, assessment

    def show(self) -> dict[str, Any]:
        """All targets, with the loss that each brings."""
        now = self._studio.refresh()
        if not self._studio.is_ready:
            return PENDING
        if now.model is None:
            rows = [_row(name, available=False, reason=NOTHING) for name in TARGETS]
            return {"targets": rows, "curl": self.curl(), "note": None}
        known = self._engines(now)
        if known is None:
            return PENDING
        return {
            "targets": [self._describe(name, known.get(name), now) for name in TARGETS],
            "curl": self.curl(), "note": self._note(now),
        }  # fmt: skip

    def _note(self, now: Snapshot) -> str:
        if not now.enough:
            return f"{self._studio.enough(now)['text']} Until then, nothing is known of the gain."
        whole = self._assessment.fit(now).result
        return str(whole.verdict.text) if isinstance(whole, WholeFit) and whole.verdict is not None else ""

    def _engines(self, now: Snapshot) -> dict[str, WeightedRRF | JuryrankError] | None:
        known = self._assessment.known("weights for engines", now, self._fit_engines)
        if known.working:
            return None
        if isinstance(known.result, JuryrankError):
            raise known.result
        found: dict[str, WeightedRRF | JuryrankError] = known.result
        return found

    def _fit_engines(self, now: Snapshot) -> dict[str, WeightedRRF | JuryrankError]:
        whole = self._assessment.wait_or_fit(now)
        data = self._studio.material.data
        if data.rankings.n_entries > MOST_ENTRIES:
            data = whole.data
        elif now.labels.whole is not None:
            data = data.with_labels(now.labels.whole)
        found: dict[str, WeightedRRF | JuryrankError] = {}
        for engine in ENGINES:
            try:
                found[engine] = fit_engine(whole, data, engine)
            except JuryrankError as error:
                found[engine] = error
        return found

    def _describe(self, name: str, weights: WeightedRRF | JuryrankError | None, now: Snapshot) -> dict[str, Any]:
        if isinstance(weights, JuryrankError):
            return _row(name, available=False, reason=str(weights))
        whole = self._assessment.fit(now).result
        measured = now.enough and isinstance(whole, WholeFit) and whole.is_well_judged
        return _row(name, loss=None if weights is None else describe_loss(weights, measured=measured))

    def file(self, target: str) -> tuple[str, bytes]:
        """Name and content of the file for a target."""
        if target not in TARGETS:
            raise UnknownNameError.of("target", target, TARGETS)
        now = self._studio.refresh()
        whole = self._assessment.wait_for_fit(now)
        if target == MODEL:
            return TARGETS[target].file, to_json(whole.model).encode()
        if target in PORTABLE:
            return TARGETS[target].file, export(whole.model, target).encode()
        engines = self._studio.background.wait("weights for engines", now.version, lambda: self._fit_engines(now))
        weights = engines if isinstance(engines, JuryrankError) else engines[target]
        if isinstance(weights, JuryrankError):
            raise weights
        return TARGETS[target].file, to_request(weights).encode()

    def qrels(self, table: bool) -> tuple[str, bytes]:
        """The labels so far as TREC qrels, or as a table, which also takes names with blanks, and weights of labels."""
        labels = self._studio.refresh().labels.dataset
        if labels is None:
            raise DataError("there are no labels yet: judge some items first")
        if table:
            return "labels.csv", b"".join(frame_lines(labels_frame(labels), "labels.csv", for_people=True))
        out = io.BytesIO()
        write(labels, out, "trec-qrels")
        return "judgements.qrels", out.getvalue()

    def curl(self) -> str:
        """How the service that has the model is asked, with the first items of a query of the data."""
        r = self._studio.material.data.rankings
        lists: dict[str, list[str]] = {}
        for n in range(int(r.list_ptr[1]) if len(r) else 0):
            entries = slice(int(r.entry_ptr[n]), min(int(r.entry_ptr[n]) + 2, int(r.entry_ptr[n + 1])))
            lists[r.experts[r.list_expert[n]]] = r.items[r.slot_item[r.entry_slot[entries]]].tolist()
        body = json.dumps({"model": MODEL, "lists": lists}, ensure_ascii=False)
        service = "http://127.0.0.1:8347/v1/fuse"
        return f"curl -s {service} -H 'Content-Type: application/json' -d {shlex.quote(body)}"


def fit_engine(whole: WholeFit, data: Dataset, engine: str) -> WeightedRRF:
    """The weights for an engine; where it takes only a few experts, those that explain most of the model."""
    most = LIMITS[engine].most
    if most is None or len(data.experts) <= most:
        return nearest_rrf(whole.model, data, engine)
    target = whole.model.predict(data)
    weights, constant = fit_weights(target, division=False)
    chosen, _, _ = best_experts(target, weights, constant, most)
    return nearest_rrf(whole.model, data, engine, experts=[data.experts[n] for n in chosen])


def describe_loss(weights: WeightedRRF, *, measured: bool) -> dict[str, Any]:
    """How much of the model is left; metrics only where enough is judged: RRF's first items are judged first."""
    common = {f"first {top} in common": share for top, share in weights.common.items()}
    parts = [f"{share:.0%} of the first {top} items are those of the model" for top, share in weights.common.items()]
    left_out = [name for name in weights.experts if name not in weights.by_name()]
    if measured and weights.loss:  # differences: values on these queries are above the held-out ones of the verdict
        apart = [
            f"{metric} {this - full:+.3f} (RRF {plain - full:+.3f})"
            for metric, (full, this, plain) in weights.loss.items()
        ]
        parts.append(f"on the queries that it has learned from, against the model: {', '.join(apart)}")
    if left_out:
        parts.append(f"{len(left_out)} of {len(weights.experts)} experts have no weight")
    return {"text": "; ".join(parts), **common}


def _row(name: str, *, loss: Any = None, available: bool = True, reason: str | None = None) -> dict[str, Any]:
    target = TARGETS[name]
    return {
        "name": name, "title": target.title, "file": target.file, "description": target.description,
        "exact": target.exact, "loss": loss, "available": available, "reason": reason,
    }  # fmt: skip
