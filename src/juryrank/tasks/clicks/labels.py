"""Labels from clicks: the relevance of items that were shown, corrected for position bias, with weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from juryrank.data import Labels
from juryrank.data.arrays import Floats, Ints
from juryrank.errors import DataError
from juryrank.io.pictures import saved_drawing
from juryrank.kernels.ragged import parents, sizes_to_ptr
from juryrank.polars import pl
from juryrank.report import Report, Table, number
from juryrank.tasks.clicks.cascade import Cascade, fit_cascade
from juryrank.tasks.clicks.checks import warn_about_bias
from juryrank.tasks.clicks.counts import ClickCounts
from juryrank.tasks.clicks.log import ClickLog
from juryrank.tasks.clicks.position_bias import GIVEN, Z95, PositionBias, estimate_bias
from juryrank.tasks.clicks.relevance import RELEVANCE, ClickModel

# Chosen in simulations on MQ2008-agg, TREC-COVID round 1 and OHSUMED. Where few items exist, those that were not shown
# may well be relevant, and a larger weight is best; where there are thousands, a smaller one.
LARGEST_WEIGHT = 2.0  # of a label that is sure; an item that was not shown has at most 1
SPREAD = 0.1  # variance of relevance around what experts know, if the most relevant is 1 above the least
LEAST_RELEVANT, MOST_RELEVANT = 0.2, 0.95  # quantiles of the relevance of all pairs
SMALLEST_RANGE = 0.1  # between the two
SURE = 10.0  # examinations from which a label is called sure in the report


@dataclass(frozen=True, eq=False, kw_only=True)
class ClickLabels(Labels):
    """Labels of the items that a click log has shown: the share of examinations with a click, minus ``floor``.

    ``floor`` is the relevance of the least relevant items, which are also clicked at times; labels below 0 are of items
    with fewer clicks than that. ``examinations`` is how often each item was examined, in expectation, and ``error`` the
    standard deviation of its relevance given all clicks. ``cascade`` is the model of users who go down the list and
    stop after a click, if it predicts the clicks better than ``bias``; else None. ``report()`` says what they are based
    on.
    """

    examinations: Floats  # [n_labels]
    error: Floats  # [n_labels]
    floor: float
    bias: PositionBias
    cascade: Cascade | None
    log: ClickLog

    def report(self) -> ClickReport:
        """What was used, the position bias, and how sure the labels are."""
        return ClickReport(self)

    def to_frame(self) -> pl.DataFrame:
        """One row per label: query, item, label, weight, examinations and error."""
        assert self.label_weight is not None
        query = np.array(self.queries, dtype=object)[parents(self.label_ptr)]
        return pl.DataFrame(
            {
                "query": pl.Series(query, dtype=pl.String),
                "item": pl.Series(self.items[self.label_item], dtype=pl.String),
                "label": self.label_value,
                "weight": self.label_weight,
                "examinations": self.examinations,
                "error": self.error,
            }
        )


def click_labels(
    log: ClickLog, *, examination: Sequence[float] | None = None, max_iter: int = 1000, tol: float = 0.1
) -> ClickLabels:
    """Labels with weights from a click log, for ``fit(data, labels=…)``; ``report()`` of them says how they were made.

    A label is the number of clicks over the expected number of examinations, at most 1, minus that of the least
    relevant items. It is below 0 where an item has fewer clicks than these, so that errors in both directions cancel
    out in what is learned. Its weight grows with the examinations; an item that was shown but hardly examined has
    almost none. How often an item was examined is estimated from the log by two models, of which the one that predicts
    the clicks better is used; or ``examination`` gives it for positions 1, 2, … . Queries without a click are left out.
    EM stops when a step raises the log-likelihood by less than ``tol``, or after ``max_iter`` steps with a
    ConvergenceWarning. A DataWarning names what neither model can correct, such as a log without lists that were not
    clicked.

    >>> from juryrank import read_clicks
    >>> import polars as pl
    >>> rows = {"query": ["q"] * 4, "item": ["a", "b", "a", "b"], "position": [1, 2, 1, 2], "clicked": [0, 1, 0, 1]}
    >>> click_labels(read_clicks(pl.DataFrame(rows)), examination=[1, 0.5]).to_frame()["label"].round(2).to_list()
    [-0.03, 0.97]
    """
    if not isinstance(log, ClickLog):
        raise DataError(f"click_labels takes a log from read_clicks, got {type(log).__name__}")
    if len(log) and not log.n_clicks:
        raise DataError(f"{log.name}: nothing was clicked in {len(log)} impressions, so there is nothing to learn from")
    warn_about_bias(log)
    counts = ClickCounts.of(log)
    bias = estimate_bias(counts, examination, max_iter=max_iter, tol=tol)
    cascade = _better_cascade(log, counts, bias)
    used, model = (counts, bias.model) if cascade is None else (cascade.counts, cascade.model)
    examined = used.examinations(model.by_cell(used)) if cascade is None else cascade.examinations
    posterior, _ = model.posterior(used)
    mean = posterior @ RELEVANCE
    useful = np.bincount(counts.pair_query, counts.pair_clicks, len(log.queries)) > 0
    kept = useful[counts.pair_query]
    chosen, floor = np.flatnonzero(useful), _quantile(model, LEAST_RELEVANT)
    return ClickLabels(
        queries=tuple(log.queries[q] for q in chosen),
        items=log.items,
        label_ptr=sizes_to_ptr(np.bincount(counts.pair_query, minlength=len(log.queries))[chosen]),
        label_item=counts.pair_item[kept].astype(np.int32),
        label_value=(np.minimum(counts.pair_clicks / examined, 1.0) - floor)[kept],
        label_weight=_weights(counts.pair_clicks, examined, _quantile(model, MOST_RELEVANT) - floor)[kept],
        examinations=examined[kept],
        error=np.sqrt(np.maximum(posterior @ RELEVANCE**2 - mean**2, 0.0))[kept],
        bias=bias,
        cascade=cascade,
        floor=floor,
        log=log,
    )


def _better_cascade(log: ClickLog, counts: ClickCounts, bias: PositionBias) -> Cascade | None:
    """The cascade model of the log, if the clicks are more likely with it; None also where the bias is given."""
    cascade = None if bias.source == GIVEN else fit_cascade(log)
    if cascade is None or cascade.log_likelihood <= bias.model.posterior(counts)[1]:
        return None
    return cascade


def _weights(clicks: Floats, examined: Floats, extent: float) -> Floats:
    """Weights by the variance of labels: that of a share of clicks, and that of the relevance itself.

    ``extent`` is how much more relevant the most relevant items are than the least relevant. The smaller it is, the
    more of a label is noise.
    """
    rate = np.clip((clicks + 1) / (examined + 2), 0.02, 0.98)
    noise = rate * (1 - rate) / examined / max(extent, SMALLEST_RANGE) ** 2
    weights: Floats = LARGEST_WEIGHT * SPREAD / (SPREAD + noise)
    return weights


def _quantile(model: ClickModel, share: float) -> float:
    """The relevance that this share of all pairs has at most; each value of the grid stands for those near it."""
    edges = np.concatenate([[0.0], (RELEVANCE[1:] + RELEVANCE[:-1]) / 2, [1.0]])
    return float(np.interp(share, np.append(0.0, np.cumsum(model.shares)), edges))


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else np.nan


@dataclass(frozen=True, eq=False, repr=False)
class ClickReport(Report):
    """What labels from clicks are based on."""

    labels: ClickLabels

    def __repr__(self) -> str:
        return f"ClickReport({self.labels!r})"

    def tables(self, percent: bool | None = None) -> list[Table]:
        """The log, the bias by position, and the labels."""
        return [self._log_table(), self._bias_table(), self._label_table()]

    def _log_table(self) -> Table:
        log = self.labels.log
        rows = [["queries", str(len(log.queries))], ["impressions", str(len(log))], ["clicks", str(log.n_clicks)]]
        rows.insert(0, ["sessions", str(log.n_sessions) if log.session is not None else "unknown"])
        if log.rankings:
            rows.append(["rankings shown", str(len(log.rankings))])
        rows += [[f"not used: {reason}", str(n)] for reason, n in log.dropped.items()]
        period = "" if log.period is None else f"From {log.period[0]} to {log.period[1]}. "
        return Table("Log", ["", "count"], rows, note=period + " ".join(f"Assumed: {note}." for note in log.notes))

    def _examined(self) -> tuple[Ints, Floats, Floats, Floats]:
        """Positions, how often they are examined, and the ends of its interval; the cascade model has no interval."""
        bias, cascade = self.labels.bias, self.labels.cascade
        if cascade is None:
            return (bias.positions, bias.examination, *bias.interval)
        unknown = np.full(len(bias.positions), np.nan)
        return bias.positions, cascade.by_position(self.labels.log), unknown, unknown

    def _bias_table(self) -> Table:
        body = [[str(p), *(number(value) for value in values)] for p, *values in zip(*self._examined(), strict=True)]
        return Table("Examination relative to the first position", ["position", "examined", "low", "high"], body,
                     note=self._source().strip())  # fmt: skip

    def _source(self) -> str:
        bias, cascade = self.labels.bias, self.labels.cascade
        if cascade is not None:
            stop = f"stop after a click with probability {cascade.stop:.2f}"
            if cascade.leave:
                stop += f", or leave after an item that they did not click with probability {cascade.leave:.2f}"
            return f"Users go down the list and {stop}: that predicts the clicks better than a bias of positions."
        moved = f"{bias.moved:.0%} of impressions are of items shown at several positions. " if bias.moved else ""
        stop = f"Each click above multiplies it by {bias.model.after_click:.2f}. " if bias.model.after_click < 1 else ""
        how = f"From {bias.source}" if bias.source != GIVEN else "As given"
        steps = f" ({bias.n_steps} steps{'' if bias.converged else ', not converged'})" if bias.source != GIVEN else ""
        return f"{how}{steps}. {moved}{stop}{self._unknown()}"

    def _unknown(self) -> str:
        """What the interval has besides the error of clicks."""
        if not (largest := float(self.labels.bias.unknown.max())):
            return ""
        return (
            "Better items at a position look like a bias of it; for that, low and high allow a factor of "
            f"{np.exp(Z95 * largest):.2f} where least is known, however many clicks there are."
        )

    def _label_table(self) -> Table:
        facts = self._label_facts()
        rows = [[name, number(value) if isinstance(value, float) else str(value)] for name, value in facts.items()]
        return Table("Labels", ["", "value"], rows)

    def _label_facts(self) -> dict[str, int | float]:
        labels = self.labels
        examined = labels.examinations
        return {
            "labels": len(examined),
            "queries left out, without a click": len(labels.log.queries) - len(labels.queries),
            "median examinations of an item": float(np.median(examined)) if len(examined) else np.nan,
            f"labels with at least {SURE:g} examinations": int((examined >= SURE).sum()),
            "click rate of the least relevant items": labels.floor,
            "labels above 0": int((labels.label_value > 0).sum()),
            "mean label": _mean(labels.label_value),
            "mean standard error of a label": _mean(labels.error),
        }

    def rows(self) -> list[dict[str, Any]]:
        """One row per position."""
        names = ("position", "examined", "low", "high")
        return [dict(zip(names, map(float, row), strict=True)) for row in zip(*self._examined(), strict=True)]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values."""
        log, bias, cascade = self.labels.log, self.labels.bias, self.labels.cascade
        return {
            "log": {
                "name": log.name, "sessions": None if log.session is None else log.n_sessions,
                "queries": len(log.queries), "impressions": len(log), "clicks": log.n_clicks,
                "rankings": list(log.rankings), "not_used": dict(log.dropped), "assumed": list(log.notes),
            },
            "bias": {
                "source": bias.source, "moved": bias.moved, "after_click": bias.model.after_click,
                "model": "position" if cascade is None else "cascade",
                "stop": None if cascade is None else cascade.stop,
                "leave": None if cascade is None else cascade.leave,
                "converged": bias.converged, "steps": bias.n_steps, "positions": self.rows(),
                "unknown": None if cascade is not None else bias.unknown.tolist(),
            },
            "labels": self._label_facts(),
        }  # fmt: skip

    def plot(self, path: str | PathLike[str]) -> None:
        """Draw the examination of each position with its interval into a picture file."""
        positions, examined, *interval = self._examined()
        with saved_drawing(path, 6.0, 3.5) as figure:
            axes = figure.subplots()
            axes.fill_between(positions, *interval, alpha=0.25, linewidth=0)
            axes.plot(positions, examined, marker="o", markersize=3)
            axes.set_xlabel("position")
            axes.set_ylabel("examined, relative to the first")
            axes.set_ylim(0, 1.05)
