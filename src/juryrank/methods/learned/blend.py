"""A fixed blend of learned methods."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from juryrank.data import Dataset
from juryrank.data.arrays import Floats
from juryrank.learning.per_query import standardise
from juryrank.methods.learned._base import GroupedExperts
from juryrank.methods.learned._members import MemberList, fit_member, load_member, member_state
from juryrank.methods.learned_fields import learned
from juryrank.methods.weighting import others_key
from juryrank.params import param

# Method and weight, chosen once, on validation queries: the best where most items are judged, and the safest.
RECIPE = {"kernel": 0.6, "jury": 0.2, "crf": 0.2}


@dataclass(kw_only=True)
class Blend(GroupedExperts):
    """A weighted mean of learned methods' scores, each standardised inside the query.

    The members are fixed: ``kernel``, which also learns interactions of experts, ``jury``, which is regularised towards
    RRF, and ``crf``, which is trained for the metric. Use it with a hundred labelled queries or more; else use jury.
    ``experts`` and ``threshold`` are used by jury and crf, weights of labels by kernel and jury. Validation queries
    choose crf's passes.
    """

    name = "blend"
    uses_label_weights = True
    epochs: int = param(300, "crf's passes over the labelled queries", at_least=1)
    seed: int = param(0, "random seed of the members that sample", at_least=0)

    members_: list[dict[str, Any]] = learned(MemberList(tuple(RECIPE)))

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        self.members_ = [member_state(fit_member(name, self.params(), data, valid)) for name in RECIPE]

    def experts_seen(self) -> frozenset[str]:
        """Those of all members."""
        return frozenset[str]().union(*(load_member(state).experts_seen() for state in self.members_))

    @property
    def others_key(self) -> str:
        return others_key(self.experts_seen())

    def expert_weights(self) -> dict[str, dict[str, float]]:
        """Those of all members, each after its name."""
        out: dict[str, dict[str, float]] = {}
        for member in map(load_member, self.members_):
            for key, weights in member.expert_weights().items():
                expert = self.others_key if key == member.others_key else key
                out.setdefault(expert, {}).update({f"{member.name} {name}": w for name, w in weights.items()})
        return out

    def _predict(self, data: Dataset, out: Floats) -> Mapping[str, Any] | None:
        for state in self.members_:
            scores = load_member(state).predict(data, warn_unknown=False).scores
            out += RECIPE[state["name"]] * standardise(data.rankings.slot_ptr, scores, each_query=True)
        return None
