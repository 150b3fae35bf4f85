"""What a fitted model holds of each expert, what each expert does to each item, and whom it could do without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from juryrank._explain.alone import Alone, alone
from juryrank._explain.contributions import QueryMatrix, contributions, query_matrix
from juryrank._explain.redundancy import Redundancy, redundancy
from juryrank._explain.texts import alone_table, matrix_table, redundancy_table, weights_table, without_table
from juryrank._explain.without import Without, leave_one_out
from juryrank.data import Dataset, Rankings, as_dataset
from juryrank.errors import NotFittedError
from juryrank.methods import Aggregator
from juryrank.report import Report, Table

__all__ = ["Explanation", "contributions", "explain"]

METRICS = ("nDCG@10", "AP")


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Report):
    """A model explained; parts that need data or a query are None without."""

    method: str
    params: dict[str, Any]
    told: str  # what the model says of itself
    weights: dict[str, dict[str, float]]
    alone: Alone | None = None
    without: Without | None = None
    redundancy: Redundancy | None = None
    matrix: QueryMatrix | None = None

    def __repr__(self) -> str:
        parts = [p for p in ("alone", "without", "redundancy", "matrix") if getattr(self, p) is not None]
        return f"Explanation({', '.join([self.method, f'{len(self.weights)} experts', *parts])})"

    def tables(self, percent: bool | None = None) -> list[Table]:
        """Weights, experts alone and left out, redundancy and the matrix of a query, as far as they are there."""
        found = [weights_table(self.method, self.told, self.weights)]
        if self.alone is not None:
            found.append(alone_table(self.alone, self.weights, bool(percent)))
        if self.without is not None:
            found.append(without_table(self.without, bool(percent)))
        if self.redundancy is not None:
            found.append(redundancy_table(self.redundancy))
        if self.matrix is not None:
            found.append(matrix_table(self.method, self.matrix))
        return found

    def rows(self) -> list[dict[str, Any]]:
        """One row per expert and weight."""
        return [
            {"expert": expert, "weight": name, "value": value}
            for expert, weights in self.weights.items()
            for name, value in weights.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values."""
        out: dict[str, Any] = {"method": self.method, "params": self.params, "report": self.told}
        out["weights"] = self.weights
        if self.alone is not None:
            out["alone"] = {"metric": self.alone.metric, "experts": self.alone.values}
        if (w := self.without) is not None:
            names = ("mean", "change", "standard_error")
            out["without"] = {
                "refitted": w.refitted,
                "all": dict(zip(w.metrics, w.whole, strict=True)),
                "experts": {
                    expert: {m: dict(zip(names, row, strict=True)) for m, row in zip(w.metrics, rows, strict=True)}
                    for expert, rows in w.left_out.items()
                },
                "dispensable": w.dispensable,
            }
        if (r := self.redundancy) is not None:
            out["redundancy"] = {"experts": list(r.experts), "share": r.share.tolist()}
        if (q := self.matrix) is not None:
            arrays = ("labels", "scores", "rrf", "rrf_places", "ranks", "contributions")
            names_of = {"query": q.query, "items": list(q.items), "experts": list(q.experts)}
            out["matrix"] = {**names_of, **{name: getattr(q, name).tolist() for name in arrays}}
        return out

    def render(self, form: str = "markdown", *, percent: bool | None = None) -> str:
        """The explanation as text in one of the formats of a report; HTML has pictures, too."""
        if form == "html":
            from juryrank._explain.page import page

            return page(self)
        return super().render(form, percent=percent)

    def picture(self, form: str = "png") -> bytes:
        """The explanation as a picture, ``png`` or ``svg``; needs matplotlib."""
        from juryrank._explain.pictures import picture

        return picture(self, form)


def explain(
    model: Aggregator,
    data: Dataset | Rankings | None = None,
    query: str | None = None,
    *,
    metrics: Sequence[str] = METRICS,
    refit: bool = False,
    top: int = 20,
) -> Explanation:
    """A fitted model explained: its weights; with data, redundancy; with labels, experts alone and left out; one query.

    ``refit`` fits the method anew for every expert left out, and ``top`` is how many items of the query are shown.
    """
    if not model.is_fitted:
        raise NotFittedError(f"{model.name} must be fitted before it is explained; call fit(data) first")
    given = None if data is None else as_dataset(data)
    told = getattr(model, "report", str)()
    start = Explanation(model.name, model.params(), told, model.expert_weights())
    if given is None:
        return start
    labelled = given.labels is not None or given.reference is not None or given.pairs is not None
    return Explanation(
        start.method,
        start.params,
        start.told,
        start.weights,
        alone=alone(given, metrics[0]) if labelled else None,
        without=leave_one_out(model, given, metrics, refit=refit) if labelled else None,
        redundancy=redundancy(given.rankings),
        matrix=None if query is None else query_matrix(model, given, query, top),
    )
