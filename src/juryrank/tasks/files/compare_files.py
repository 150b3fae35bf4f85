"""``compare_files``: compare methods on files that are larger than memory."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np

from juryrank.data import Consensus, Dataset, Fold
from juryrank.data.arrays import Floats, Ints
from juryrank.errors import DataError, ParameterError, warn_about_data
from juryrank.evaluation.comparison import Comparison
from juryrank.evaluation.evaluate import as_metrics
from juryrank.evaluation.experiment import Experiment
from juryrank.evaluation.expert_rows import ExpertRows, expert_row_values, is_expert_label
from juryrank.evaluation.folds import folds_of, labelled_text
from juryrank.evaluation.judged_shares import shares_beside
from juryrank.evaluation.method_specs import Methods
from juryrank.evaluation.selection import Selection, select_methods
from juryrank.io.tables.columns import Columns
from juryrank.learning.baseline import rrf_scores
from juryrank.learning.expert_lists import experts_with_several_lists
from juryrank.learning.held_out import judged_share
from juryrank.learning.label_survey import LabelSurvey
from juryrank.methods import Aggregator
from juryrank.methods.learned.batched_curves import fit_batches
from juryrank.metrics import Metric, Truth
from juryrank.metrics.inputs import rising_entries, warn_of_rising_scores
from juryrank.scan.batches import Batch
from juryrank.scan.labelled_files import ChosenQueries, LabelledFiles, open_files
from juryrank.tasks.files.fit_files import check_sums

SHARE = 0.4  # of the memory of a batch, for reading it; the rest is for statistics and for the rankings of methods


def compare_files(
    methods: Methods,
    paths: Sequence[str | os.PathLike[str]],
    metrics: Any,
    *,
    memory: int,
    labels: Any = None,
    label_columns: Columns = None,
    format: str | None = None,  # noqa: A002
    options: Mapping[str, Any] | None = None,
    folds: int | None = None,
    baseline: str | None = None,
    experts: bool = False,
    convention: str = "trec",
    unjudged: str = "irrelevant",
    judged_share: bool = True,
    seed: int = 0,
) -> Comparison:
    """Compare methods on the lists in TREC runs or Parquet tables, using about ``memory`` bytes.

    The result is the same as that of ``compare`` on all data, except for the times. Methods that learn nothing from
    the data take part, and ``jury`` and ``ridge``; others are skipped with a DataWarning. ``labels`` are as in
    ``fit_files``; the other parameters are as in ``compare``. The values of all queries are in memory in addition to
    the limit, and with ``folds`` files are read twice for each fold and each method that learns.
    """
    wanted = as_metrics(metrics)
    files = open_files(
        paths, labels, memory=memory, share=SHARE, format=format, options=options, label_columns=label_columns
    )
    experiment = BatchedExperiment(
        methods, files, wanted, folds=folds, baseline=baseline, experts=experts, convention=convention,
        unjudged=unjudged, judged_share=judged_share, seed=seed,
    )  # fmt: skip
    experiment.run()
    return experiment.result()


def open_for_comparison(paths: Sequence[str | os.PathLike[str]], labels: Any = None, **reading: Any) -> LabelledFiles:
    """The files and labels, in batches that leave room for a comparison."""
    return open_files(paths, labels, share=SHARE, **reading)


@dataclass(frozen=True, eq=False)
class _Facts:
    """What must be known of all batches before methods are evaluated."""

    labelled: Ints  # the numbers of the queries with labels
    names: tuple[str, ...]  # of these
    n_queries: int
    several: set[str]  # experts with several lists in a labelled query
    rising: int  # entries of others with a higher score than the entry above
    survey: LabelSurvey

    @classmethod
    def of(cls, batch: Batch) -> _Facts:
        data = batch.data
        assert data.labels is not None
        here = np.flatnonzero(np.diff(data.labels.label_ptr))
        r = data.rankings.take(here)
        several = experts_with_several_lists(r)
        alone = r.keep_lists(np.array([r.experts[k] not in several for k in r.list_expert], bool)) if several else r
        return cls(batch.numbers[here], r.queries, len(data), several, len(rising_entries(alone)), LabelSurvey.of(data))


@dataclass(frozen=True, eq=False)
class _Values:
    """The values of one ranking in some queries."""

    metrics: Floats  # [n_metrics + n_shares, n_queries]
    judged: Floats  # [n_queries] Judged@10


class BatchedExperiment(Experiment):
    """A comparison in which methods are fitted to batches of queries and evaluated on batches of queries."""

    def __init__(
        self,
        methods: Methods,
        files: LabelledFiles,
        metrics: tuple[Metric, ...],
        *,
        folds: int | None = None,
        baseline: str | None = None,
        experts: bool = False,
        convention: str = "trec",
        unjudged: str = "irrelevant",
        judged_share: bool = True,
        seed: int = 0,
    ) -> None:
        if not files.has_labels:
            raise DataError("the data has neither labels nor a reference ranking; give labels=")
        if folds is not None and not isinstance(folds, int):
            raise ParameterError(f"folds must be a number of folds with a memory limit, got {folds!r}")
        self.files, self.metrics, self.convention, self.seed = files, metrics, convention, seed
        self.unjudged, self.left_out = unjudged, {}
        self.shares = shares_beside(metrics) if judged_share else ()
        self._find_queries(folds)
        selection: Selection = select_methods(methods, None, self.folds, baseline=baseline)
        self.methods, self.baseline = selection.methods, selection.baseline
        self.estimates = dict.fromkeys(self.methods)
        self.values = {label: [] for label in self.methods}
        self.judged = {label: [] for label in self.methods}
        self.seconds = dict.fromkeys(self.methods, (0.0, 0.0))
        self.failed: dict[str, Exception] = {}
        self._rrf_values: list[_Values] = []
        self._with_experts = experts or is_expert_label(self.baseline)
        self._expert_values = (np.zeros((len(files.experts), 0, 0)), np.zeros((len(files.experts), 0)))
        self.expert_labels = []
        rows = ExpertRows.from_values(files.experts, self._tested, self._trained, *self._expert_values)
        self.expert_labels = rows.labels() if experts else []
        if is_expert_label(self.baseline) and self.baseline not in self.methods:
            self.expert_labels = list(dict.fromkeys([rows.require(self.baseline), *self.expert_labels]))

    def _find_queries(self, folds: int | None) -> None:
        """The labelled queries, their folds, and their positions among the labelled queries."""
        facts = list(self.files.map(_Facts.of))
        self.labelled = np.concatenate([part.labelled for part in facts])
        names = [name for part in facts for name in part.names]
        n = sum(part.n_queries for part in facts)
        self.several = set[str]().union(*(part.several for part in facts))
        self.rising = sum(part.rising for part in facts)
        self.survey = reduce(LabelSurvey.add, (part.survey for part in facts), LabelSurvey())
        every = self.files.files.queries.to_list()
        if folds is None and n > len(names):
            warn_about_data(f"{n - len(names)} of {n} queries have no labels; left out")
        self.folds: tuple[Fold, ...] = () if folds is None else folds_of(folds, self.labelled, self.seed, every)
        if not names:
            raise DataError(f"a comparison needs queries with labels, and {labelled_text(0, every)}")
        place = np.full(self.files.n_queries, -1, np.int64)
        place[self.labelled] = np.arange(len(names))
        self._tested = [place[list(fold.test)] for fold in self.folds] or [np.arange(len(names))]
        self._trained = [place[list(fold.train)] for fold in self.folds]
        self.part = np.full(self.files.n_queries, -1, np.int64)  # in which each query is tested
        for part, tested in enumerate(self._tested):
            self.part[self.labelled[tested]] = part
        self.queries = tuple(names[q] for tested in self._tested for q in tested)

    def run(self, progress: Any = None, on_finished: Callable[[str], None] | None = None) -> None:
        """Fit the methods that learn, then evaluate all methods batch by batch."""
        models = {label: self._fitted(label) for label in self.methods}
        models = {label: fitted for label, fitted in models.items() if label not in self.failed}
        needs_experts = self._with_experts or bool(self.folds and any(self.methods[m].supervised for m in models))
        if needs_experts and self.rising:
            warn_of_rising_scores(self.rising)
        found: dict[str, list[list[_Values]]] = {}
        experts: list[tuple[Floats, Floats]] = []
        for part, of_experts in self.files.map(lambda batch: self._evaluate(batch, models, needs_experts)):
            experts.append(of_experts)
            for label, result in part.items():
                if isinstance(result, Exception):
                    if label not in self.failed:
                        self._skip(label, result)
                    continue
                values, spent = result
                parts = found.setdefault(label, [[] for _ in range(self.n_parts)])
                for into, value in zip(parts, values, strict=True):
                    into += [] if value is None else [value]
                if label:
                    self.seconds[label] = (self.seconds[label][0], self.seconds[label][1] + spent)
        if needs_experts:
            values, judged = zip(*experts, strict=True)
            self._expert_values = np.concatenate(values, axis=2), np.concatenate(judged, axis=1)
        self._rrf_values = [_join(part) for part in found.pop("", [])]
        for label, parts in found.items():
            if label not in self.failed:
                self.values[label] = [_join(part).metrics for part in parts]
                self.judged[label] = [_join(part).judged for part in parts]
                if on_finished is not None:
                    on_finished(label)

    def _fitted(self, label: str) -> list[Aggregator]:
        """The method for each part, fitted to the training queries if it learns."""
        method = self.methods[label]
        models = [type(method)(**method.params()) for _ in range(self.n_parts)]
        try:
            if method.learns or method.needs_features:
                curves = [check_sums(model) for model in models]
                for model, fold in zip(curves, self.folds, strict=True):
                    start = time.perf_counter()
                    fit_batches(model, ChosenQueries(self.files, np.array(fold.train, np.int64)), held_out=False)
                    self.seconds[label] = (self.seconds[label][0] + time.perf_counter() - start, 0.0)
        except Exception as error:  # as in Experiment.run
            self._skip(label, error)
        return models

    def _evaluate(self, batch: Batch, models: Mapping[str, list[Aggregator]], needs_experts: bool) -> tuple[Any, Any]:
        """The values of each method, and of RRF under an empty label, in each part; and those of the experts."""
        part_of = self.part[batch.numbers]
        tests = [batch.data.take(np.flatnonzero(part_of == part)) for part in range(self.n_parts)]
        out: dict[str, Any] = {}
        for label, fitted in models.items():
            start = time.perf_counter()
            try:
                if label not in self.failed:
                    out[label] = [self._values(test, model, label) for test, model in zip(tests, fitted, strict=True)]
                    out[label] = (out[label], time.perf_counter() - start)
            except Exception as error:
                out[label] = error
        if needs_experts:
            out[""] = ([self._values(test, None, "RRF") for test in tests], 0.0)
            every = batch.data.take(np.flatnonzero(part_of >= 0))
            of_experts = expert_row_values(
                Truth(every, self.unjudged), every, (*self.metrics, *self.shares), self.convention,
                several=self.several, by_rank=self.rising > 0,
            )  # fmt: skip
            return out, of_experts
        return out, None

    def _values(self, test: Dataset, model: Aggregator | None, name: str) -> _Values | None:
        """The values of a model, or of RRF without one, in the queries of a batch; None without queries."""
        if not len(test):
            return None
        if model is None:
            consensus = Consensus(test.rankings, rrf_scores(test.rankings))
        else:
            fitted = model if model.is_fitted else type(model)(**model.params()).fit(test)
            consensus = fitted.predict(test, warn_unknown=not model.supervised)
        judged = Truth(test, self.unjudged).judge(consensus, convention=self.convention, name=name)
        return _Values(
            np.array([metric.per_query(judged) for metric in (*self.metrics, *self.shares)]), judged_share(judged)
        )

    @cached_property
    def experts(self) -> ExpertRows:
        """Each expert alone."""
        return ExpertRows.from_values(self.files.experts, self._tested, self._trained, *self._expert_values)

    def _rrf(self) -> tuple[list[Floats], list[Floats]]:
        return [part.metrics[0] for part in self._rrf_values], [part.judged for part in self._rrf_values]


def _join(parts: Sequence[_Values]) -> _Values:
    return _Values(
        np.concatenate([part.metrics for part in parts], axis=1), np.concatenate([part.judged for part in parts])
    )
