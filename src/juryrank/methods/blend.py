"""A fixed blend of learned methods."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from juryrank.data import Dataset
from juryrank.data.rankings import Floats, Rankings
from juryrank.errors import DataError
from juryrank.features.log_rank import log_rank
from juryrank.features.missing import missing
from juryrank.kernels.ragged import parents
from juryrank.learners.lessons import Lessons, lessons_of
from juryrank.learners.nystroem import Problem
from juryrank.methods.base import Aggregator, learned
from juryrank.methods.curves import experts_param, threshold_param, unjudged_param
from juryrank.methods.kernel import Kernel, spreads
from juryrank.methods.members import fitted, kept, restored
from juryrank.params import param

# Chosen once, on the validation queries of MQ2008-agg: weights of the members, and the kernel's width and penalty.
RECIPE = {"kernel": 0.7, "ridge": 0.3}
WIDTH, PENALTY = 0.7, 2e-3


@dataclass(kw_only=True)
class Blend(Aggregator):
    """A weighted mean of learned methods' scores, each standardised inside the query.

    The members are fixed: ``ridge``, and ``kernel`` with a width and a penalty that are not chosen anew. For data with
    most items judged; ``experts`` and ``threshold`` concern ridge alone. Validation queries are not needed.

    >>> from juryrank.data.build import from_dicts
    >>> queries = [f"q{n}" for n in range(9)]
    >>> runs = {"good": dict.fromkeys(queries, ["a", "b", "c"]), "bad": dict.fromkeys(queries, ["c", "a", "b"])}
    >>> model = Blend().fit(from_dicts(runs, labels=dict.fromkeys(queries, {"a": 2, "b": 1, "c": 0})))
    >>> model.predict(from_dicts({"bad": {"new": ["x", "y"]}, "good": {"new": ["y", "x"]}})).top()
    {'new': ['y', 'x']}
    """

    name = "blend"
    supervised = True
    experts: str = experts_param()
    threshold: int = threshold_param()
    unjudged: str = unjudged_param()
    seed: int = param(0, "of the members that draw something", at_least=0)

    members_: list[dict[str, Any]] = learned()

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        lessons = lessons_of(data, self.unjudged)
        if not len(lessons):
            raise DataError(
                "blend learns from labels that differ inside a query, and no query has such; jury would be RRF"
            )
        self.members_ = [self._kernel(data, lessons), kept(fitted("ridge", self.params(), data, None))]

    def _kernel(self, data: Dataset, lessons: Lessons) -> dict[str, Any]:
        """The state of a kernel method with the recipe's width and penalty."""
        member = Kernel(unjudged=self.unjudged, seed=self.seed)
        here = np.bincount(data.rankings.list_expert, minlength=len(data.experts)) > 0
        experts = [name for name, found in zip(data.experts, here, strict=True) if found]
        spread = spreads(data, experts)
        x = np.hstack([missing(lessons.data, experts) / spread[0], log_rank(lessons.data, experts) / spread[1]])
        (found,) = Problem(lessons, x, member.landmarks, self.seed).solve(WIDTH, (PENALTY,))
        learned_state = {
            "experts_": experts,
            "spread_": spread,
            "landmarks_": found.landmarks,
            "coefficient_": found.coefficient,
            "linear_": found.linear,
            "sharpness_": found.sharpness,
            "width_": WIDTH,
            "ridge_": PENALTY,
        }
        return {"name": member.name, "params": member.params(), "learned": learned_state}

    def expert_weights(self) -> dict[str, dict[str, float]]:
        """Those of all members, each after its name."""
        out: dict[str, dict[str, float]] = {}
        for member in map(restored, self.members_):
            for expert, weights in member.expert_weights().items():
                out.setdefault(expert, {}).update({f"{member.name} {name}": w for name, w in weights.items()})
        return out

    def _predict(self, data: Dataset, out: Floats) -> Mapping[str, Any] | None:
        for state in self.members_:
            scores = restored(state).predict(data).scores
            out += RECIPE[state["name"]] * standardised(data.rankings, scores)
        return None


def standardised(rankings: Rankings, scores: Floats) -> Floats:
    """Scores with mean 0 and variance 1 in every query; 0 where they are all equal."""
    query, size = parents(rankings.slot_ptr), np.maximum(rankings.query_size, 1)
    centred = scores - (np.bincount(query, scores, minlength=len(rankings)) / size)[query]
    spread = np.sqrt(np.bincount(query, centred**2, minlength=len(rankings)) / size)[query]
    level = spread <= 1e-12 * np.abs(scores)
    return np.where(level, 0.0, centred / np.where(level, 1.0, spread))
