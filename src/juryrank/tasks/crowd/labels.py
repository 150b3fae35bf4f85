"""The labels of tasks with probabilities, the workers, agreement, and the tasks to ask again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from juryrank.annotators.agreement import fleiss, krippendorff_of_counts
from juryrank.annotators.answers import Answers
from juryrank.annotators.estimate import Estimate
from juryrank.data import Consensus, Dataset, Labels
from juryrank.data.arrays import Floats, Ints
from juryrank.data.long_table import from_long, labels_from_rows
from juryrank.errors import DataError, ParameterError
from juryrank.polars import pl
from juryrank.tasks.crowd.accuracy import Accuracy, accuracies
from juryrank.tasks.crowd.review import Worker, average_confusion, expected_information, workers_of

EQUAL = 1e-9  # difference of probabilities up to which labels are tied
KINDS = ("most-likely", "expected")


@dataclass(frozen=True, eq=False, repr=False)
class LabelledTasks:
    """One label per task with its probability; all arrays are in the order of ``answers.tasks``."""

    method: str
    answers: Answers
    fitted: Answers  # the answers as the method saw them: without gold labels if they are only a check
    estimate: Estimate
    grades: Floats | None  # [n_classes] the number of each class, if there is one

    def __len__(self) -> int:
        return self.answers.n_tasks

    @property
    def classes(self) -> tuple[str, ...]:
        """The labels, lowest first where they have an order."""
        return self.answers.classes

    @property
    def probability(self) -> Floats:
        """[n_tasks, n_classes]: the probability of each class."""
        return self.estimate.probability

    @property
    def converged(self) -> bool:
        return self.estimate.converged

    @property
    def steps(self) -> int:
        """The number of EM steps."""
        return self.estimate.steps

    @cached_property
    def _leading(self) -> NDArray[np.bool_]:
        """[n_tasks, n_classes]: the classes of the highest probability."""
        best: NDArray[np.bool_] = self.probability >= self.probability.max(1, keepdims=True) - EQUAL
        return best

    @cached_property
    def choice(self) -> Ints:
        """[n_tasks]: the place of the most likely class; of several that are tied, the first."""
        first: Ints = self._leading.argmax(1)
        return first

    @cached_property
    def tied(self) -> NDArray[np.bool_]:
        """[n_tasks]: whether several classes are equally likely."""
        several: NDArray[np.bool_] = self._leading.sum(1) > 1
        return several

    @cached_property
    def labels(self) -> dict[str, str] | dict[tuple[str, str], str]:
        """The most likely label by task, or by query and task if there are several queries; of tied ones the first."""
        names = [self.classes[c] for c in self.choice.tolist()]
        query, item = (self.answers.tasks[name].to_list() for name in ("query", "item"))
        if len(set(query)) == 1:
            return dict(zip(item, names, strict=True))
        return dict(zip(zip(query, item, strict=True), names, strict=True))

    def tied_labels(self) -> dict[tuple[str, str], list[str]]:
        """The labels that are equally likely, by query and task, of the tasks that are tied."""
        at = np.flatnonzero(self.tied)
        names = np.array(self.classes, dtype=object)
        return {
            (row["query"], row["item"]): names[self._leading[n]].tolist()
            for n, row in zip(at, self.answers.tasks[at].iter_rows(named=True), strict=True)
        }

    @property
    def expected(self) -> Floats:
        """[n_tasks]: the expected grade; a DataError where labels are neither numbers nor in an order."""
        if self.grades is None:
            raise DataError(
                "grades need labels that are numbers, an order of the labels or their grades; use order=[lowest, …, "
                f"highest] or grades={{label: number}}; labels are {', '.join(map(repr, self.classes[:8]))}"
            )
        means: Floats = self.probability @ self.grades
        return means

    def to_labels(self, kind: str = "most-likely") -> Labels:
        """Labels for learning and evaluation: the grade of the most likely class, with its probability as weight.

        With ``kind="expected"`` they are expected grades, of weight 1.
        """
        if kind not in KINDS:
            raise ParameterError(f"kind of labels must be one of {', '.join(KINDS)}, got {kind!r}")
        return labels_from_rows(self._label_rows(kind))

    def _label_rows(self, kind: str) -> pl.DataFrame:
        expected = self.expected
        if kind == "expected":
            return self.answers.tasks.with_columns(label=expected)
        assert self.grades is not None
        return self.answers.tasks.with_columns(
            label=self.grades[self.choice], label_weight=np.clip(self.probability.max(1), 0.0, 1.0)
        )

    def to_dataset(self, kind: str = "most-likely") -> Dataset:
        """The labels as a Dataset without lists, which ``write`` takes, for example as TREC qrels."""
        entries = pl.DataFrame(schema={"query": pl.String, "item": pl.String, "expert": pl.String, "rank": pl.Float64})
        return from_long(entries, candidates=self.answers.tasks, labels=self._label_rows(kind))

    def consensus(self) -> Consensus:
        """The tasks of each query by expected grade, highest first."""
        rankings = self.to_dataset("expected").rankings
        place = {slot: n for n, slot in enumerate(self.answers.tasks.iter_rows())}
        names = rankings.items[rankings.slot_item].tolist()
        query = np.repeat(np.arange(len(rankings)), rankings.query_size)
        at = [place[rankings.queries[q], name] for q, name in zip(query.tolist(), names, strict=True)]
        return Consensus(rankings, self.expected[at])

    def to_frame(self) -> pl.DataFrame:
        """One row per task: query, item, label, its probability (confidence), tied, answers, expected grade, gold."""
        names = pl.Series(self.classes, dtype=pl.String)
        rows = self.answers.tasks.with_columns(
            label=names.gather(self.choice),
            confidence=self.probability.max(1),
            tied=pl.Series(self.tied),
            answers=self.answers.votes.sum(1),
        )
        if self.grades is not None:
            rows = rows.with_columns(expected=self.expected)
        for name, values in self.estimate.of_tasks.items():
            rows = rows.with_columns(pl.Series(name, values))
        if (self.answers.gold >= 0).any():
            known = pl.Series(np.where(self.answers.gold >= 0, self.answers.gold, 0))
            rows = rows.with_columns(
                gold=pl.when(pl.Series(self.answers.gold >= 0)).then(names.gather(known)).otherwise(None)
            )
        return rows

    def probabilities(self) -> pl.DataFrame:
        """One row per task: query, item, and a column of probabilities ``p(LABEL)`` for each label."""
        return self.answers.tasks.with_columns(
            *(pl.Series(f"p({name})", self.probability[:, n]) for n, name in enumerate(self.classes))
        )

    @cached_property
    def workers(self) -> tuple[Worker, ...]:
        """The workers, most reliable first."""
        return workers_of(self.answers, self.probability, self.choice, self.estimate)

    def workers_frame(self) -> pl.DataFrame:
        """One row per worker, most reliable first: counts, reliability, accuracy on gold tasks, reasons to review."""
        return pl.DataFrame([worker.to_dict() for worker in self.workers], infer_schema_length=None)

    def confusion(self, worker: str | None = None) -> pl.DataFrame:
        """How likely each label is given the true one, by worker: worker, true, given, probability.

        With a name, the matrix of one worker: a row per true label and a column per label given.
        """
        matrices, names = self.estimate.confusion, list(self.classes)
        if worker is not None:
            if worker not in self.answers.workers:
                raise DataError(f"no worker {worker!r} among the {len(self.answers.workers)}")
            matrix = matrices[self.answers.workers.index(worker)]
            return pl.DataFrame({"true": names, **{name: matrix[:, n] for n, name in enumerate(names)}})
        size, count = len(names), len(self.answers.workers)
        return pl.DataFrame(
            {
                "worker": np.repeat(np.array(self.answers.workers, dtype=object), size * size),
                "true": np.tile(np.repeat(np.array(names, dtype=object), size), count),
                "given": np.tile(np.array(names, dtype=object), count * size),
                "probability": matrices.ravel(),
            },
            schema_overrides={"worker": pl.String, "true": pl.String, "given": pl.String},
        )

    @cached_property
    def information(self) -> Floats:
        """[n_tasks]: bits that one more answer, of an average worker, is expected to tell about the label."""
        return expected_information(self.probability, average_confusion(self.answers, self.probability))

    def next_tasks(self, n: int | None = None) -> pl.DataFrame:
        """The tasks for which one more answer tells most, first those with most expected information (in bits)."""
        open_tasks = np.flatnonzero(self.fitted.gold < 0)
        best = open_tasks[np.argsort(-np.round(self.information[open_tasks], 12), kind="stable")][:n]
        columns = ("query", "item", "label", "confidence", "tied", "answers")
        return self.to_frame()[best].select(*columns, information=pl.Series(self.information[best]))

    @cached_property
    def alpha(self) -> tuple[float, float, float]:
        """Krippendorff's α of all workers and its 95 % interval; squared differences of grades where there are any."""
        return krippendorff_of_counts(self.answers.votes, self.grades)

    @cached_property
    def kappa(self) -> float:
        """Fleiss' κ of all workers, for which all labels are either equal or different."""
        return fleiss(self.answers.votes)

    @cached_property
    def accuracy(self) -> tuple[Accuracy, ...]:
        """The share of right labels of the gold tasks, of this method and of majority vote, without using the gold."""
        return accuracies(self.method, self.answers, self.grades, self.fitted, self.estimate)
