"""The parts of an explanation, from which tables, pages and pictures are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from juryrank.learning.verdict import Verdict
from juryrank.tasks.explain.contributions import QueryMatrix
from juryrank.tasks.explain.leave_one_out import LeaveOneOut
from juryrank.tasks.explain.redundancy import Redundancy
from juryrank.tasks.explain.single_expert import SingleExperts


@dataclass(frozen=True, eq=False, repr=False)
class Parts:
    """The parts of an explanation; those that need data, labels or a query are None without."""

    method: str
    params: dict[str, Any]
    summary: str  # the model's own report
    weights: dict[str, dict[str, float]]
    others: str | None  # the key of all other experts in the weights
    single_experts: SingleExperts | None = None
    leave_one_out: LeaveOneOut | None = None
    redundancy: Redundancy | None = None
    matrix: QueryMatrix | None = None
    verdict: Verdict | None = None  # of models that hold out queries themselves
