"""The answers of workers about tasks, as flat arrays, and the sums over them that the methods need."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.polars import pl


@dataclass(frozen=True, eq=False)
class Answers:
    """One row per task and worker, ordered by task and then by worker; every task and every worker has a row."""

    tasks: pl.DataFrame  # query, item: the name of each task
    workers: tuple[str, ...]
    classes: tuple[str, ...]
    task: Ints  # [n] places among the tasks, ascending
    worker: Ints  # [n]
    label: Ints  # [n] places among the classes
    gold: Ints  # [n_tasks] place of the true class; -1 where it is unknown

    @property
    def n_tasks(self) -> int:
        return len(self.gold)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    def __len__(self) -> int:
        return len(self.label)

    @cached_property
    def votes(self) -> Ints:
        """[n_tasks, n_classes]: how often each task got each label."""
        cell = self.task * self.n_classes + self.label
        return np.bincount(cell, minlength=self.n_tasks * self.n_classes).reshape(self.n_tasks, -1)

    @cached_property
    def by_worker(self) -> Ints:
        """[n_workers, n_classes]: how often each worker gave each label."""
        cell = self.worker * self.n_classes + self.label
        return np.bincount(cell, minlength=len(self.workers) * self.n_classes).reshape(len(self.workers), -1)

    @cached_property
    def _of_tasks(self) -> Any:
        """[n_tasks, n_workers × n_classes]: 1 where the worker gave the task the label."""
        from scipy.sparse import csr_array

        ptr = np.concatenate([[0], np.cumsum(np.bincount(self.task, minlength=self.n_tasks))])
        cell = (self.worker * self.n_classes + self.label).astype(np.int32)
        return csr_array(
            (np.ones(len(self)), cell, ptr.astype(np.int32)), shape=(self.n_tasks, len(self.workers) * self.n_classes)
        )

    @cached_property
    def _of_workers(self) -> Any:
        return self._of_tasks.T.tocsr()

    def sum_by_task(self, of_answer: Floats) -> Floats:
        """[n_tasks, m]: the sum over the answers to a task of the rows [worker, label] of ``of_answer``."""
        sums: Floats = self._of_tasks @ of_answer.reshape(len(self.workers) * self.n_classes, -1)
        return sums

    def sum_by_answer(self, of_task: Floats) -> Floats:
        """[n_workers, n_classes, m]: the sum over the tasks that a worker gave a label of the rows of ``of_task``."""
        sums: Floats = self._of_workers @ of_task
        return sums.reshape(len(self.workers), self.n_classes, -1)

    def shares(self) -> Floats:
        """[n_tasks, n_classes]: the share of each label among those of a task; certain where the truth is known."""
        return self.with_gold(self.votes / self.votes.sum(1, keepdims=True))

    def with_gold(self, probability: Floats) -> Floats:
        """The probabilities of the classes, certain where the truth is known; changes ``probability``."""
        if len(known := self._known):
            probability[known] = np.eye(self.n_classes)[self.gold[known]]
        return probability

    @cached_property
    def _known(self) -> Ints:
        return np.flatnonzero(self.gold >= 0)

    def without_gold(self) -> Answers:
        """The same answers, as if no truth were known."""
        return Answers(
            self.tasks, self.workers, self.classes, self.task, self.worker, self.label, np.full_like(self.gold, -1)
        )
