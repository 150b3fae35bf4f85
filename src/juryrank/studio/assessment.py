"""What the labels say about quality: a whole fit with its verdict, the quality of experts, and a learning curve.

All of it takes longer than an answer may, so the background does it; nothing is said before there are enough queries.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from juryrank.data import Dataset
from juryrank.data.arrays import Floats
from juryrank.errors import DataError, JuryrankError
from juryrank.evaluation import evaluate
from juryrank.evaluation.significance import half_width
from juryrank.learning.label_survey import POSITIVES_ONLY
from juryrank.learning.labelled import AUTO, LabelledQueries
from juryrank.learning.verdict import Verdict
from juryrank.methods.learned.jury import Jury
from juryrank.studio.background import Known
from juryrank.studio.current_labels import CurrentLabels
from juryrank.studio.studio import ADVICE, Snapshot, Studio
from juryrank.tasks.judge.advice import FEWEST_QUERIES, JudgingAdvice, judged_slots, judging_advice
from juryrank.tasks.judge.judgements import Judgement

METRIC = "nDCG@10"
LEARNED_FUSION = "learned fusion"  # what the page calls the model
CURVE_STEP, CURVE_POINTS = 25, 8  # judgements between two points, at least; points, at most
KEPT_POINTS = 64

NOTHING = "nothing can be learned yet: judge items until a relevant one is found"


@dataclass(frozen=True, eq=False)
class WholeFit:
    """A model fitted to all labelled queries, each of which was held out in turn."""

    data: Dataset  # the queries that it has learned from
    model: Jury
    verdict: Verdict | None

    @property
    def unjudged(self) -> str:
        """How metrics use unjudged items: as the verdict does."""
        return "ignore" if self.verdict is not None and self.verdict.n_condensed else "irrelevant"

    @property
    def is_well_judged(self) -> bool:
        """Whether values of whole lists mean something."""
        return self.verdict is not None and not self.verdict.n_condensed and self.verdict.labels != POSITIVES_ONLY


class Assessment:
    """Results about the present labels, computed in the background."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio
        self._points: OrderedDict[int, dict[str, float] | None] = OrderedDict()

    def known(self, name: str, now: Snapshot, compute: Callable[[Snapshot], Any]) -> Known:
        """The newest result of some work on the labels."""
        return self._studio.background.get(name, now.version, lambda: compute(now))

    def fit(self, now: Snapshot) -> Known:
        """The whole fit."""
        return self.known("fit", now, fit_whole)

    def wait_for_fit(self, now: Snapshot) -> WholeFit:
        """The whole fit, when it is there; an error if nothing can be learned."""
        found = self._studio.background.wait("fit", now.version, lambda: fit_whole(now))
        if isinstance(found, JuryrankError):
            raise found
        assert isinstance(found, WholeFit)
        return found

    def after_answer(self, now: Snapshot) -> dict[str, Any]:
        """What a judge sees after an answer: whom the model trusts, and the last verdict, which may be an older one."""
        whole = self._studio.background.latest("fit") if now.enough else None
        verdict = whole.verdict if isinstance(whole, WholeFit) else None
        return {
            "verdict": None if verdict is None else describe_verdict(verdict),
            "trust": shares_of_points(now.model, now.labels.data.experts) if now.enough and now.model else None,
        }

    def quality(self, now: Snapshot) -> Known:
        """Mean and interval of each expert alone."""
        return self.known("quality", now, lambda now: expert_quality(self.wait_or_fit(now)))

    def wait_or_fit(self, now: Snapshot) -> WholeFit:
        """The whole fit, for work in the background, which must not wait for itself."""
        known = self.fit(now)
        if known.working:
            return fit_whole(now)
        if isinstance(known.result, JuryrankError):
            raise known.result
        assert isinstance(known.result, WholeFit)
        return known.result

    def advice(self, now: Snapshot) -> Known:
        """Whether to go on judging."""
        return self.known(ADVICE, now, _advise)

    def learning_curve(self, now: Snapshot) -> Known:
        """The held-out gain over RRF after each number of judgements."""
        return self.known("learning curve", now, self._curve)

    def _curve(self, now: Snapshot) -> list[dict[str, float]]:
        grades, data = now.grades, self._studio.material.data
        if data.labels is None:
            points = (self._point(data, grades[:n]) for n in _sizes(len(grades)))
        else:
            points = (_gain_of_part(now.labels, n) for n in _doublings(len(now.labels.counts)))
        return [point for point in points if point is not None]

    def _point(self, data: Dataset, grades: list[Judgement]) -> dict[str, float] | None:
        key = hash(tuple(grades))
        if key not in self._points:
            self._points[key] = gain_after(CurrentLabels.of(data, grades))
            while len(self._points) > KEPT_POINTS:
                self._points.popitem(last=False)
        return self._points[key]


def fit_whole(now: Snapshot) -> WholeFit:
    """Fit the model to all labelled queries."""
    data = now.labels.dataset
    if data is None or not len(queries := LabelledQueries.of(data, AUTO)):
        raise DataError(NOTHING)
    model = Jury().fit(data)
    return WholeFit(queries.data, model, model.verdict())


def expert_quality(whole: WholeFit) -> dict[str, dict[str, float]]:
    """The mean of each expert alone over the labelled queries, with its 95 % interval; 0 where it ranks nothing."""
    found = evaluate(whole.data, whole.data, METRIC, unjudged=whole.unjudged, judged_share=False)
    return {
        name: interval for name, (values,) in zip(found.names, found.values, strict=True)
        if (interval := mean_and_interval(values[~np.isnan(values)])) is not None
    }  # fmt: skip


def mean_and_interval(values: Floats) -> dict[str, float] | None:
    """The mean and its 95 % interval; None with fewer than two values."""
    if len(values) < 2:
        return None
    mean, half = float(values.mean()), half_width(values)
    return {"mean": mean, "low": mean - half, "high": mean + half}


def gain_after(labels: CurrentLabels) -> dict[str, float] | None:
    """The held-out gain over RRF with these labels, as in their verdict; None where they say nothing of it."""
    data = labels.dataset
    if data is None or len(LabelledQueries.of(data, AUTO)) < FEWEST_QUERIES:
        return None
    verdict = Jury().fit(data).verdict()
    if verdict is None or verdict.labels == POSITIVES_ONLY:
        return None
    gain = verdict.differences["learned - rrf"]
    return {"judgements": int(judged_slots(data).sum()), "gain": gain.mean, "low": gain.low, "high": gain.high}


def _advise(now: Snapshot) -> JudgingAdvice:
    if now.labels.whole is None:
        raise DataError(NOTHING)
    return judging_advice(replace(now.labels.data, labels=now.labels.whole))


def shares_of_points(model: Jury, experts: Sequence[str]) -> dict[str, float] | None:
    """The share of each expert in the points of an item that is first in all lists; None if there are no points."""
    formula = model.formula()
    if formula is None:
        return None
    found = {name: max(0.0, float(formula.of(name, np.ones(1))[0])) for name in experts}
    total = sum(found.values())
    return {name: value / total for name, value in found.items()} if total > 0 else None


def describe_verdict(verdict: Verdict) -> dict[str, Any]:
    """A verdict for the page."""
    differences = {name: asdict(difference) for name, difference in verdict.differences.items()}
    names = ("choice", "name", "evidence", "text", "details", "labels", "means", "expert", "metric", "n_queries")
    plain = {name: getattr(verdict, name) for name in names}
    headline = replace(verdict, method=LEARNED_FUSION).headline
    return {**plain, "headline": headline, "differences": differences}


def _sizes(n: int) -> list[int]:
    """Numbers of judgements, evenly spaced, up to all."""
    step = CURVE_STEP * max(1, -(-n // (CURVE_STEP * CURVE_POINTS)))
    return [*range(step, n, step), n]


def _doublings(n: int) -> list[int]:
    """Numbers of queries, for labels that came all at once: all, half of them, and so on."""
    found = [n >> k for k in range(CURVE_POINTS) if n >> k >= FEWEST_QUERIES]
    return found[::-1]


def _gain_of_part(labels: CurrentLabels, n: int) -> dict[str, float] | None:
    """The gain with the labels of ``n`` queries, drawn at random; more queries include fewer."""
    data = labels.dataset
    if data is None:
        return None
    order = np.random.default_rng(0).permutation(len(data))
    return gain_after(CurrentLabels(data.take(np.sort(order[:n]))))
