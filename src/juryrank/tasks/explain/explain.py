"""``explain``: a fitted model explained, with or without data."""

from __future__ import annotations

from collections.abc import Sequence

from juryrank.data import Dataset, Rankings, as_dataset
from juryrank.errors import NotFittedError
from juryrank.methods import Aggregator
from juryrank.models import demand_model
from juryrank.tasks.explain.contributions import query_matrix
from juryrank.tasks.explain.explanation import Explanation
from juryrank.tasks.explain.leave_one_out import leave_one_out
from juryrank.tasks.explain.parts import single_experts
from juryrank.tasks.explain.redundancy import redundancy

METRICS = ("nDCG@10", "AP")


def explain(
    model: Aggregator,
    data: Dataset | Rankings | None = None,
    query: str | None = None,
    *,
    metrics: Sequence[str] = METRICS,
    refit: bool = False,
    top: int = 20,
) -> Explanation:
    """Explain a fitted model.

    The expert weights are always shown, and the verdict if the model has one. With ``data``, so is the agreement of
    experts; with labelled data, the quality of each single expert and the change when it is left out (``refit``:
    refitting the method each time, evaluated on held-out queries). With ``query``, the contributions of experts to the
    ``top`` best items of that query.
    """
    demand_model(model)
    if not model.is_fitted:
        raise NotFittedError(f"{model.name} must be fitted before it is explained; call fit(data) first")
    others = model.others_key
    weights, summary, verdict = model.expert_weights(), getattr(model, "report", str)(), model.verdict()
    if data is None:
        return Explanation(model.name, model.params(), summary, weights, others, verdict=verdict)
    dataset = as_dataset(data)
    labelled = dataset.has_truth
    return Explanation(
        model.name,
        model.params(),
        summary,
        weights,
        others,
        single_experts=single_experts(dataset, metrics[0]) if labelled else None,
        leave_one_out=leave_one_out(model, dataset, metrics, refit=refit) if labelled else None,
        redundancy=redundancy(dataset.rankings),
        matrix=None if query is None else query_matrix(model, dataset, query, top),
        verdict=verdict,
    )
