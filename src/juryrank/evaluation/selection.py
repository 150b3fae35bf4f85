"""Which methods take part in a comparison, and which of them is the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from juryrank.data import Dataset, Fold
from juryrank.errors import DataError, ParameterError, UnknownNameError
from juryrank.evaluation.expert_rows import is_expert_label
from juryrank.evaluation.method_specs import Methods, methods_by_label
from juryrank.evaluation.time_budget import methods_within_budget
from juryrank.methods import Aggregator

DEFAULT_BASELINE = "rrf"


@dataclass(frozen=True)
class Selection:
    """The methods of a comparison by label, the baseline among them, and the methods that are too slow."""

    methods: Mapping[str, Aggregator]
    baseline: str
    left_out: Mapping[str, str] = field(default_factory=dict)  # by name: the estimated time


def select_methods(
    methods: Methods | None,
    data: Dataset | None,
    folds: Sequence[Fold],
    *,
    baseline: str | None = None,
    budget: float | None = None,
) -> Selection:
    """The given methods, or without any the methods that need no labels and fit into the budget of seconds.

    ``data`` is for the second case.
    """
    left_out: dict[str, str] = {}
    if methods is None:
        assert data is not None
        methods, left_out = methods_within_budget(data, folds, budget, baseline or DEFAULT_BASELINE)
    elif budget is not None:
        raise ParameterError("a budget selects among all methods; it cannot be combined with named methods")
    selected = methods_by_label(methods)
    if baseline is not None and baseline not in selected and not is_expert_label(baseline):
        raise UnknownNameError.of("method in this comparison", baseline, selected)
    supervised = next((label for label, m in selected.items() if m.supervised), None)
    if supervised is not None and not folds:
        raise DataError(
            f"{supervised} learns from labels and must be evaluated on held-out queries: give folds "
            "(folds=5 in Python, --folds 5 on the command line)"
        )
    return Selection(selected, baseline or default_baseline(list(selected)), left_out)


def default_baseline(labels: Sequence[str]) -> str:
    """``rrf`` if it takes part, else the first method."""
    return DEFAULT_BASELINE if DEFAULT_BASELINE in labels else labels[0]
