"""The result of ``crowd``: labels with probabilities as a report."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

from juryrank.report import Report, Table, counted
from juryrank.tasks.crowd.labels import LabelledTasks
from juryrank.tasks.crowd.review import average_confusion
from juryrank.tasks.crowd.tables import SHOWN, tables


@dataclass(frozen=True, eq=False, repr=False)
class CrowdLabels(LabelledTasks, Report):
    """One label per task with its probability, the workers, and what to do next."""

    def __repr__(self) -> str:
        a = self.answers
        counts = (counted(a.n_tasks, "task"), counted(len(a.workers), "worker"), counted(len(a), "answer"))
        return f"CrowdLabels({', '.join(counts)}, by {self.method})"

    def tables(self, percent: bool | None = None) -> list[Table]:
        return tables(self)

    def rows(self) -> list[dict[str, Any]]:
        return self.to_frame().rows(named=True)

    def to_dict(self) -> dict[str, Any]:
        alpha, low, high = self.alpha
        return {
            "method": self.method, "steps": self.steps, "converged": self.converged, "classes": list(self.classes),
            "tasks": len(self), "answers": len(self.answers), "tied": int(self.tied.sum()),
            "krippendorff_alpha": alpha, "alpha_low": low, "alpha_high": high, "fleiss_kappa": self.kappa,
            "accuracy": [vars(each) for each in self.accuracy],
            "workers": [worker.to_dict() for worker in self.workers],
            "next_tasks": self.next_tasks(SHOWN).rows(named=True),
            "labels": self.rows(),
        }  # fmt: skip

    def plot(self, path: str | PathLike[str]) -> None:
        """Draw the workers: reliability by number of answers, and the confusion matrix of the average worker."""
        from juryrank.tasks.crowd.plots import draw_crowd

        draw_crowd(path, self.workers, self.classes, average_confusion(self.answers, self.probability))
