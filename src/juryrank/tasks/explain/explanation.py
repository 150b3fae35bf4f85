"""The result of ``explain``, as tables, plain values, an HTML page or a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from juryrank.report import Report, Table
from juryrank.tasks.explain.leave_one_out import LeaveOneOut
from juryrank.tasks.explain.parts import Parts
from juryrank.tasks.explain.texts import (
    leave_one_out_table,
    matrix_table,
    redundancy_table,
    single_experts_table,
    weights_table,
)

OPTIONAL = ("single_experts", "leave_one_out", "redundancy", "matrix")
MATRIX_ARRAYS = ("labels", "scores", "rrf", "rrf_places", "ranks", "contributions")


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Parts, Report):
    """A model explained; parts that need data, labels or a query are None without."""

    def __repr__(self) -> str:
        parts = [name for name in OPTIONAL if getattr(self, name) is not None]
        return f"Explanation({', '.join([self.method, f'{len(self.weights)} experts', *parts])})"

    def tables(self, percent: bool | None = None) -> list[Table]:
        """One table per part that is present: weights, verdict, single experts, leave-one-out, agreement, query."""
        summary = self.summary if self.verdict is None else self.summary.replace(self.verdict.text, "")
        tables = [weights_table(self.method, " ".join(summary.split()), self.weights, self.others)]
        if self.verdict is not None:
            tables += self.verdict.tables(percent)
        if self.single_experts is not None:
            tables.append(single_experts_table(self.single_experts, self.weights, bool(percent)))
        if self.leave_one_out is not None:
            tables.append(leave_one_out_table(self.leave_one_out, bool(percent)))
        if self.redundancy is not None:
            tables.append(redundancy_table(self.redundancy))
        if self.matrix is not None:
            tables.append(matrix_table(self.method, self.matrix))
        return tables

    def rows(self) -> list[dict[str, Any]]:
        """One row per expert and weight."""
        return [
            {"expert": expert, "weight": name, "value": value}
            for expert, weights in self.weights.items()
            for name, value in weights.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values."""
        out: dict[str, Any] = {"method": self.method, "params": self.params, "report": self.summary}
        out["weights"] = self.weights
        if self.verdict is not None:
            out["verdict"] = self.verdict.to_dict()
        if (s := self.single_experts) is not None:
            out["alone"] = {"metric": s.metric, "experts": s.values}
        if self.leave_one_out is not None:
            out["without"] = _leave_one_out_values(self.leave_one_out)
        if (r := self.redundancy) is not None:
            out["redundancy"] = {"experts": list(r.experts), "share": r.share.tolist()}
        if (q := self.matrix) is not None:
            names = {"query": q.query, "items": list(q.items), "experts": list(q.experts)}
            out["matrix"] = {**names, **{name: getattr(q, name).tolist() for name in MATRIX_ARRAYS}}
        return out

    def render(self, form: str = "markdown", *, percent: bool | None = None) -> str:
        """The explanation as text in one of the formats of a report; HTML includes pictures."""
        if form == "html":
            from juryrank.tasks.explain.page import page

            return page(self, self.tables())
        return super().render(form, percent=percent)

    def picture(self, form: str = "png") -> bytes:
        """The explanation as a picture, ``png`` or ``svg``; needs matplotlib."""
        from juryrank.tasks.explain.pictures import picture

        return picture(self, form)


def _leave_one_out_values(found: LeaveOneOut) -> dict[str, Any]:
    names = ("mean", "change", "standard_error")
    return {
        "refitted": found.refitted,
        "all": dict(zip(found.metrics, found.whole, strict=True)),
        "experts": {
            expert: {m: dict(zip(names, row, strict=True)) for m, row in zip(found.metrics, rows, strict=True)}
            for expert, rows in found.left_out.items()
        },
        "dispensable": found.dispensable,
    }
