"""Majority vote."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.methods.base import Aggregator, missing_param, weights_param
from juryrank.methods.formula import Formula, ListNumbers, QueryList
from juryrank.methods.lists import slot_weight
from juryrank.params import param


@dataclass(kw_only=True)
class MajorityVote(Aggregator):
    """Majority vote: the share of the experts who voted for the item.

    A score of at least ``threshold`` is a vote for the item (crowd labels 0/1 or graded). Lists without scores vote
    for the upper half of their places. With ``ignore`` only those who judged the item count; an item that nobody judged
    gets 0.

    >>> from juryrank import from_dicts
    >>> judged = {"w1": {"q": {"a": 1, "b": 0}}, "w2": {"q": {"a": 1, "b": 1}}, "w3": {"q": {"b": 0}}}
    >>> MajorityVote().fit_predict(from_dicts(judged)).to_dict()
    {'q': {'a': 1.0, 'b': 0.33...}}

    Snow, O'Connor, Jurafsky, Ng, EMNLP 2008.
    """

    name = "majority-vote"
    coarse = True
    uses_scores = True
    weights: Mapping[str, float] | None = weights_param()
    missing: str = missing_param("ignore", "ignore", "last")
    threshold: float = param(0.5, "lowest score that is a vote for the item")

    def formula(self) -> Formula:
        """The mean of the votes."""
        return Formula("mean", self._numbers, self._weights_by_name(), unranked_last=False)

    def _numbers(self, listed: QueryList) -> ListNumbers:
        if listed.scores is not None:
            votes = [float(score >= self.threshold) for score in listed.scores]
        else:
            votes = [float(place <= (listed.size + 1) / 2) for place in listed.places]
        return ListNumbers(votes, 0.0 if self.missing == "last" else None, listed.weight)

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        r = rankings
        if r.entry_score is not None:
            vote = r.entry_score >= self.threshold
        else:
            vote = r.entry_place <= np.repeat((r.list_size + 1) / 2, r.list_size)
        weight = self.list_weights(r)
        judged = slot_weight(r, weight, last=self.missing == "last")
        voted = np.bincount(r.entry_slot, np.repeat(weight, r.list_size) * vote, minlength=r.n_slots)
        np.divide(voted, judged, out=out, where=judged > 0)
