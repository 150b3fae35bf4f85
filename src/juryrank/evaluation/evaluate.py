"""``evaluate``: a consensus, a run or each expert against labels; values per query, then means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Consensus, Dataset, Rankings
from juryrank.data.arrays import Floats, freeze
from juryrank.data.label_matching import SURE, unmatched_items
from juryrank.errors import DataError, ParameterError, UnknownNameError, warn_about_data
from juryrank.evaluation.baseline_differences import Differences, against_table, differences_to_baseline, row_of
from juryrank.evaluation.judged_shares import CONDENSED, JudgedShares, shares_beside
from juryrank.metrics import Judged, JudgedConsensus, Metric, Truth, parse_metric
from juryrank.metrics.inputs import Evaluable, consensus_by_expert, consensus_by_name, is_run
from juryrank.metrics.plain_dicts import judge_dicts
from juryrank.metrics.truth import check_unjudged, condense
from juryrank.polars import pl
from juryrank.report import Report, Table, number


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Evaluation(Report):
    """Values of metrics by name and query; only one name if a single ranking was evaluated."""

    queries: tuple[str, ...]
    names: tuple[str, ...]
    metrics: tuple[Metric, ...]
    values: NDArray[np.float64]  # [n_names, n_metrics, n_queries]; NaN where a metric is not defined
    convention: str
    single: bool  # a single ranking was given, so results are not keyed by name
    judged: JudgedShares
    unjudged: str = "irrelevant"
    baseline: str | None = None
    versus: Differences = field(default_factory=dict)  # to the baseline

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def per_query(self) -> dict[str, Any]:
        """``{metric: values}``, or ``{name: {metric: values}}`` for several rankings."""
        return self._by_name(lambda name, metric: self.values[name, metric])

    def means(self) -> dict[str, Any]:
        """``{metric: mean}``, or ``{name: {metric: mean}}`` for several rankings."""
        means = mean_over_queries(self.values)
        return self._by_name(lambda name, metric: float(means[name, metric]))

    def _by_name(self, cell: Any) -> dict[str, Any]:
        rows = {
            name: {str(metric): cell(n, k) for k, metric in enumerate(self.metrics)}
            for n, name in enumerate(self.names)
        }
        return rows[self.names[0]] if self.single else rows

    def __getitem__(self, key: str | Metric) -> Any:
        """The mean of a metric (by name if there are several), or all means of a name."""
        if isinstance(key, str) and not self.single and key in self.names:
            return self.means()[key]
        metric = str(parse_metric(key))
        if metric not in map(str, self.metrics):
            raise UnknownNameError.of("metric or name here", str(key), [*map(str, self.metrics), *self.names])
        means = self.means()
        return means[metric] if self.single else {name: row[metric] for name, row in means.items()}

    def __repr__(self) -> str:
        shape = f"{len(self.names)} × {len(self.metrics)} metrics × {len(self.queries)} queries, {self.convention}"
        if not self.single:
            return f"Evaluation({shape})"
        return f"Evaluation({', '.join(f'{metric} {mean:.4f}' for metric, mean in self.means().items())})"

    def to_frame(self) -> pl.DataFrame:
        """A polars frame with one row per name and query and one column per metric."""
        flat = self.values.transpose(1, 0, 2).reshape(len(self.metrics), -1)
        return pl.DataFrame(
            {
                "name": [name for name in self.names for _ in self.queries],
                "query": list(self.queries) * len(self.names),
                **{str(metric): column for metric, column in zip(self.metrics, flat, strict=True)},
            }
        )

    def to_dict(self) -> dict[str, Any]:
        means = mean_over_queries(self.values)
        return {
            "convention": self.convention,
            "metrics": [str(metric) for metric in self.metrics],
            "queries": list(self.queries),
            "means": {name: _values_by_metric(self.metrics, means[n]) for n, name in enumerate(self.names)},
            "per_query": {name: _values_by_metric(self.metrics, self.values[n]) for n, name in enumerate(self.names)},
            "unjudged": self.unjudged,
            "judged": {name: self.judged.of_row(n) for n, name in enumerate(self.names)},
            **({} if self.baseline is None else {"baseline": self.baseline, "results": self.rows()}),
        }

    def rows(self) -> list[dict[str, Any]]:
        means = mean_over_queries(self.values)
        rows = []
        for n, name in enumerate(self.names):
            for k, metric in enumerate(self.metrics):
                row = {"name": name, "metric": str(metric), "mean": float(means[n, k])}
                compared = {} if self.baseline is None else row_of(self.versus.get((name, str(metric))))
                rows.append({**row, "judged": self.judged.beside(metric, n), **compared})
        return rows

    def tables(self, percent: bool | None = None) -> list[Table]:
        percent = self.convention == "letor" if percent is None else percent
        means = mean_over_queries(self.values)
        shares = self.judged.incomplete
        numbers = np.concatenate([means, shares.means], axis=1)
        body = [[name, *(number(v, percent) for v in numbers[n])] for n, name in enumerate(self.names)]
        note = f"{len(self.queries)} queries, convention {self.convention}{', × 100' if percent else ''}."
        note += self.judged.note() if self.unjudged == "irrelevant" else f" {CONDENSED}"
        columns = ["name", *map(str, self.metrics), *map(str, shares.metrics)]
        tables = [Table("", columns, body, note=note, best=range(1, 1 + len(self.metrics)))]
        return tables if self.baseline is None else [*tables, self._against(percent)]

    def _against(self, percent: bool) -> Table:
        assert self.baseline is not None
        note = "low, high: 95 % interval of the difference (t); Holm: p-value corrected for the number of rankings."
        return against_table("name", self.baseline, self.versus, percent, note)


def evaluate(
    consensus: Any,
    labels: Any,
    metrics: Any,
    *,
    convention: str = "trec",
    unjudged: str = "irrelevant",
    judged_share: bool = True,
    baseline: str | None = None,
    seed: int = 0,
) -> Evaluation:
    """Evaluate against labels, or against the reference ranking of a Dataset.

    ``consensus`` is a Consensus (all its slots are ranked), a run ``{query: {item: score}}``, a Dataset (each single
    expert, with the items it ranked), anything else that ``read`` takes, or ``{name: any of these}``. ``labels`` are
    what ``read`` takes as labels, ``metrics`` names or measures of ir_measures, one or several. Queries without labels
    are left out; labelled queries that are not ranked count as 0; both with a warning. It is an error if no query is
    shared.

    Unjudged items count as not relevant; with ``unjudged="ignore"`` they are removed from the rankings before the
    metrics are computed (condensed lists). Beside metrics with a cutoff k the result has Judged@k, the share of the
    first k items that are judged, unless ``judged_share`` is false; tables show it where it is below 1.

    With the name of one of the rankings as ``baseline``, the result has the differences of the others to it, with
    confidence intervals and significance tests as in ``compare``; ``seed`` is that of the randomisation test.

    >>> evaluate({"q": {"a": 2.0, "b": 1.0}}, {"q": {"b": 1}}, ["RR", "P@1"])
    Evaluation(RR 0.5000, P@1 0.0000)
    """
    wanted = as_metrics(metrics)
    check_unjudged(unjudged)
    judged, queries, single = _judge_plain_dicts(consensus, labels, convention, unjudged) or _judge(
        consensus, labels, convention, unjudged
    )
    check_baseline(baseline, list(judged))
    shares = shares_beside(wanted) if judged_share and all(one.labels is not None for one in judged.values()) else ()
    values = np.array([[metric.per_query(one) for metric in (*wanted, *shares)] for one in judged.values()])
    return evaluation_of(
        values.reshape(len(judged), len(wanted) + len(shares), len(queries)),
        (wanted, shares),
        seed,
        queries=queries,
        names=tuple(judged),
        convention=convention,
        single=single,
        unjudged=unjudged,
        baseline=baseline,
    )


def evaluation_of(
    values: Floats, metrics: tuple[tuple[Metric, ...], tuple[Judged, ...]], seed: int, **rest: Any
) -> Evaluation:
    """The evaluation with these values of the metrics and of the shares, [n_names, n_metrics + n_shares, n_queries]."""
    (wanted, shares), names, baseline = metrics, rest["names"], rest["baseline"]
    values, beside = values[:, : len(wanted)], values[:, len(wanted) :]
    warn_of_undefined(wanted, values)
    versus: Differences = {}
    if baseline is not None:
        means = mean_over_queries(values)
        versus = differences_to_baseline(names, list(map(str, wanted)), values, means, baseline, seed)
    judged = [[float(mean_over_queries(value)) for value in of_name] for of_name in beside]
    share_means = JudgedShares(shares, np.array(judged).reshape(len(names), len(shares)))
    return Evaluation(metrics=wanted, values=values, judged=share_means, versus=versus, **rest)


def check_baseline(baseline: str | None, names: Sequence[str]) -> None:
    """An error if the baseline, if there is one, is not one of several rankings."""
    if baseline is not None and baseline not in names:
        raise UnknownNameError.of("ranking for the baseline", baseline, names)
    if baseline is not None and len(names) == 1:
        raise ParameterError(f"{baseline!r} is the only ranking; a baseline needs another one to compare with it")


# By name; the queries; whether there is only one.
JudgedByName = tuple[dict[str, JudgedConsensus], tuple[str, ...], bool]


def _judge(consensus: Any, labels: Any, convention: str, unjudged: str) -> JudgedByName:
    from juryrank.io import read_labels  # not needed for plain dicts

    truth = Truth(read_labels(labels), unjudged)
    if not truth.queries:
        raise DataError("no query has labels")
    things, single = consensus_by_name(_evaluable(consensus))
    judged = {name: truth.judge(thing, convention=convention, name=name) for name, thing in things.items()}
    if not any(one.any_known for one in judged.values()):
        _report_unjudged(things, truth)
    return judged, truth.queries, single


def _evaluable(given: Any) -> Evaluable:
    """Files, frames and runs of other libraries as a Consensus, or a Dataset if they have several experts."""
    from juryrank.io import read
    from juryrank.io.records import consume, is_run_of_library

    if isinstance(given, Consensus | Dataset | Rankings):
        return given
    if isinstance(given, Mapping):
        things = {name: consume(thing) for name, thing in given.items()}
        return {name: _evaluable(thing) if is_run_of_library(thing) else thing for name, thing in things.items()}
    rankings = read(given).rankings
    experts = consensus_by_expert(rankings)
    return next(iter(experts.values())) if len(experts) == 1 else rankings


def _judge_plain_dicts(consensus: Any, labels: Any, convention: str, unjudged: str) -> JudgedByName | None:
    """As ``_judge``, if everything is plain dicts; else None."""
    if not (isinstance(consensus, Mapping) and isinstance(labels, Mapping)):
        return None
    single = is_run(consensus)
    runs = {"run": consensus} if single else {str(name): run for name, run in consensus.items()}
    if not all(isinstance(run, Mapping) and is_run(run) for run in runs.values()):
        return None
    judged = judge_dicts(runs, labels, convention)
    if judged is not None and unjudged == "ignore":
        judged = {name: condense(one) for name, one in judged.items()}
    return None if judged is None else (judged, next(iter(judged.values())).queries, single)


def _report_unjudged(things: Mapping[str, Consensus], truth: Truth) -> None:
    """No ranked item has a label: an error if several other names would match, else a warning, as 0 may be correct."""
    reports = [unmatched_items(truth.known, thing.rankings) for thing in things.values() if len(thing.scores)]
    for text, cause in reports:
        if cause is not None and cause.count >= SURE:
            raise DataError(f"no ranked item is judged in any query with labels; {text}{cause}")
    if reports:
        names, cause = reports[0]
        text = f"no ranked item is judged in any of the {len(truth.queries)} queries with labels; {names}{cause or ''}"
        warn_about_data(text)


def as_metrics(metrics: Any) -> tuple[Metric, ...]:
    """Metrics given as text or values, one or several, without duplicates."""
    given = list(metrics) if isinstance(metrics, Iterable) and not isinstance(metrics, str) else [metrics]
    if not given:
        raise ParameterError("at least one metric is needed, for example nDCG@10")
    return tuple(dict.fromkeys(map(parse_metric, given)))


def values_of(thing: Consensus, truth: Truth, metrics: Sequence[Metric], convention: str, name: str) -> list[Floats]:
    """The values per query of each metric."""
    judged = truth.judge(thing, convention=convention, name=name)
    return [metric.per_query(judged) for metric in metrics]


def mean_over_queries(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean over the last axis, without queries that have no value; NaN if none has a value."""
    known = ~np.isnan(values)
    counts = known.sum(axis=-1)
    total = np.where(known, values, 0.0).sum(axis=-1)
    means: NDArray[np.float64] = np.divide(total, counts, out=np.full(counts.shape, np.nan), where=counts > 0)
    return means


def warn_of_undefined(metrics: Sequence[Metric], values: NDArray[np.float64]) -> None:
    """Warn of queries for which a metric is undefined."""
    for metric, undefined in zip(metrics, np.isnan(values).any(axis=0).sum(axis=-1), strict=True):
        if undefined:
            text = f"{metric} is not defined for {undefined} of {values.shape[-1]} queries; left out of the mean"
            warn_about_data(text)


def _values_by_metric(metrics: Sequence[Metric], values: NDArray[np.float64]) -> dict[str, Any]:
    return {str(metric): value for metric, value in zip(metrics, values.tolist(), strict=True)}
