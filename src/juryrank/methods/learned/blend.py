"""A fixed blend of learned methods."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from juryrank.data import Dataset
from juryrank.data.rankings import Floats, Rankings
from juryrank.kernels.ragged import parents
from juryrank.methods.base import Aggregator, others_key
from juryrank.methods.learned._curves import unjudged_param
from juryrank.methods.learned._members import MemberList, fitted, kept, restored
from juryrank.methods.learned_fields import learned
from juryrank.params import param
from juryrank.training.panel import experts_param, threshold_param

# Method and weight, chosen once, on validation queries: what is best where most items are judged, and what is safest.
RECIPE = {"kernel": 0.6, "jury": 0.2, "crf": 0.2}


@dataclass(kw_only=True)
class Blend(Aggregator):
    """A weighted mean of learned methods' scores, each standardised inside the query.

    The members are fixed: ``kernel``, which also learns what no sum over experts says, ``jury``, which holds it to RRF,
    and ``crf``, which is trained for the metric. For a hundred labelled queries and more; with few, take jury.
    ``experts`` and ``threshold`` concern jury and crf. Validation queries choose crf's passes.

    >>> from juryrank import from_dicts
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
    epochs: int = param(300, "crf's passes over the labelled queries; most of the time goes there", at_least=1)
    seed: int = param(0, "of the members that draw something", at_least=0)

    members_: list[dict[str, Any]] = learned(MemberList(tuple(RECIPE)))

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        self.members_ = [kept(fitted(name, self.params(), data, valid)) for name in RECIPE]

    def experts_seen(self) -> frozenset[str]:
        """Those of all members."""
        return frozenset[str]().union(*(restored(state).experts_seen() for state in self.members_))

    @property
    def others_key(self) -> str:
        return others_key(self.experts_seen())

    def expert_weights(self) -> dict[str, dict[str, float]]:
        """Those of all members, each after its name."""
        out: dict[str, dict[str, float]] = {}
        for member in map(restored, self.members_):
            for key, weights in member.expert_weights().items():
                expert = self.others_key if key == member.others_key else key
                out.setdefault(expert, {}).update({f"{member.name} {name}": w for name, w in weights.items()})
        return out

    def _predict(self, data: Dataset, out: Floats) -> Mapping[str, Any] | None:
        for state in self.members_:
            scores = restored(state).predict(data, warn_unknown=False).scores
            out += RECIPE[state["name"]] * standardised(data.rankings, scores)
        return None


def standardised(rankings: Rankings, scores: Floats) -> Floats:
    """Scores with mean 0 and variance 1 in every query; 0 where they are all equal."""
    query, size = parents(rankings.slot_ptr), np.maximum(rankings.query_size, 1)
    centred = scores - (np.bincount(query, scores, minlength=len(rankings)) / size)[query]
    spread = np.sqrt(np.bincount(query, centred**2, minlength=len(rankings)) / size)[query]
    level = spread <= 1e-12 * np.abs(scores)
    return np.where(level, 0.0, centred / np.where(level, 1.0, spread))
