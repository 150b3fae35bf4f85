"""The comparison of methods and single experts, and the queries that make a difference."""

from __future__ import annotations

from typing import Any

import numpy as np

from juryrank.data import Consensus
from juryrank.errors import JuryrankError, UnknownNameError
from juryrank.evaluation.comparison import Comparison
from juryrank.evaluation.evaluate import as_metrics
from juryrank.evaluation.experiment import Experiment
from juryrank.evaluation.expert_rows import BEST_EXPERT, EXPERT_PREFIX, is_expert_label
from juryrank.evaluation.folds import splits_of
from juryrank.evaluation.selection import select_methods
from juryrank.evaluation.significance import half_width
from juryrank.kernels.ragged import children
from juryrank.learning.label_survey import POSITIVES_ONLY
from juryrank.methods import Aggregator, method
from juryrank.methods.learned.jury import Jury
from juryrank.server.problems import Problem
from juryrank.studio.assessment import Assessment, WholeFit
from juryrank.studio.studio import Snapshot, Studio
from juryrank.tasks.judge.advice import FEWEST_QUERIES

METRICS = ("nDCG@10", "AP", "P@10", "RR")
BASELINE, FOLDS = "rrf", 5
KEMENY_TRIPLES = 3e7  # of items, over all queries: about five seconds of kemeny
PENDING = {"pending": True}
MOST_QUERIES = 200  # that are shown for a difference


class _HeldOut(Experiment):
    """A comparison in which the model ranks each query by what it learned from all others, as in its verdict."""

    held_out: Consensus

    def _predict(self, label: str, part: int) -> Any:
        if not self.methods[label].supervised:
            return super()._predict(label, part)
        r, wanted = self.held_out.rankings, set(self.test[part].queries)
        queries = np.array([q for q, name in enumerate(r.queries) if name in wanted], np.int64)
        return Consensus(r.take(queries), self.held_out.scores[children(r.slot_ptr, queries)])


def compare_held_out(methods: dict[str, Aggregator], whole: WholeFit) -> Comparison:
    """The methods and all experts alone; the value of the model is the one that its verdict has."""
    splits = splits_of(FOLDS, whole.data, seed=0)
    selection = select_methods(methods, whole.data, splits, baseline=BASELINE, budget=None)
    metrics = as_metrics(METRICS)
    experiment = _HeldOut(
        selection, whole.data, splits, metrics, convention="trec", seed=0, experts=True, unjudged=whole.unjudged
    )
    experiment.held_out = whole.model.held_out_consensus(whole.data)
    experiment.run()
    return experiment.result()


class ComparisonView:
    """Methods and experts on the labelled queries; learned methods are tested on queries they did not learn from."""

    def __init__(self, studio: Studio, assessment: Assessment) -> None:
        self._studio, self._assessment = studio, assessment

    def table(self, metric: str) -> dict[str, Any]:
        """All rows by one metric."""
        if (k := _place(metric)) is None:
            raise Problem(422, f"metric must be one of {', '.join(METRICS)}, got {metric[:50]!r}")
        now = self._studio.refresh()
        if not self._studio.is_ready:
            return PENDING
        if not now.enough:
            return {"hidden": True, "needed": FEWEST_QUERIES, "enough": self._studio.enough(now), "metrics": METRICS}
        if (found := self._comparison(now)) is None:
            return PENDING
        return {
            "metric": METRICS[k], "metrics": METRICS, "baseline": found.baseline,
            "rows": [_row(found, n, k) for n in range(len(found.names))], "note": _note(found),
        }  # fmt: skip

    def queries(self, one: str, other: str, metric: str) -> dict[str, Any]:
        """The queries of two rows, those with the largest difference first."""
        now = self._studio.refresh()
        if (k := _place(metric)) is None or not now.enough:
            raise Problem(422, "there are no such numbers: see /compare")
        if (found := self._comparison(now)) is None:
            return PENDING
        ours, theirs = (found.values[_named(found, name), k] for name in (one, other))
        order = np.lexsort((np.arange(len(ours)), -np.abs(ours - theirs)))[:MOST_QUERIES]
        text = self._studio.material.query_text
        return {
            "queries": [
                {
                    "id": found.queries[q], "text": text(found.queries[q]), "one": float(ours[q]),
                    "other": float(theirs[q]), "difference": float(ours[q] - theirs[q]),
                }
                for q in order.tolist()
            ]
        }  # fmt: skip

    def _comparison(self, now: Snapshot) -> Comparison | None:
        known = self._assessment.known("comparison", now, self._compare)
        if known.working:
            return None
        if isinstance(known.result, JuryrankError):
            raise known.result
        found: Comparison = known.result
        return found

    def _compare(self, now: Snapshot) -> Comparison:
        whole = self._assessment.wait_or_fit(now)
        methods: dict[str, Aggregator] = {"rrf": method("rrf"), "borda": method("borda")}
        if float((whole.data.rankings.query_size.astype(float) ** 3).sum()) <= KEMENY_TRIPLES:
            methods["kemeny"] = method("kemeny")
        methods["jury"] = Jury()
        return compare_held_out(methods, whole)


def _row(found: Comparison, n: int, k: int) -> dict[str, Any]:
    """A row; means are over all queries, so that the differences of queries add up to those of rows."""
    label, metric = found.names[n], str(found.metrics[k])
    values, base = found.values[n, k], found.values[found.names.index(found.baseline), k]
    mean, half = float(values.mean()), half_width(values)
    row = {
        "name": label.removeprefix(EXPERT_PREFIX) if is_expert_label(label) else label,
        "label": label,
        "kind": "expert" if is_expert_label(label) and label != BEST_EXPERT else "method",
        "mean": mean, "low": mean - half, "high": mean + half,
        "judged": found.judged.beside(found.metrics[k], n),
    }  # fmt: skip
    versus = found.versus.get((label, metric))
    if versus is None:
        return {**row, **dict.fromkeys(("difference", "difference_low", "difference_high", "p"))}
    apart, half = float((values - base).mean()), half_width(values - base)
    return {
        **row, "difference": apart, "difference_low": apart - half, "difference_high": apart + half,
        "p": versus.p_random_holm, "wins": versus.win, "ties": versus.tie, "losses": versus.loss,
    }  # fmt: skip


def _place(metric: str) -> int | None:
    return METRICS.index(metric) if metric in METRICS else None


def _named(found: Comparison, name: str) -> int:
    """The row of that label, or of that name of a method or an expert."""
    for label in (name, EXPERT_PREFIX + name):
        if label in found.names:
            return found.names.index(label)
    raise UnknownNameError.of("method or expert here", name, found.names)


def _note(found: Comparison) -> str:
    text = (
        f"{len(found.queries)} queries in which a relevant item was found; jury ranks each by what it learned from the "
        f"others, as in the verdict; best-expert is chosen on the others of {len(found.folds)} folds. Intervals are "
        f"95 %; p is of a randomisation test against {found.baseline}, after Holm's correction."
    )
    if found.unjudged == "ignore":
        text += " Few of the first items are judged, so unjudged items were removed before metrics were computed."
    if found.verdict is not None and found.verdict.labels == POSITIVES_ONLY:
        text += " Labels are of relevant items only, and others may be relevant, too: these values decide nothing."
    return text
