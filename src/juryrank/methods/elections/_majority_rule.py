"""What the rules share that look at the majorities between pairs of candidates."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.kernels.ragged import put_last
from juryrank.methods.cost import Cost, check_matrix_size
from juryrank.methods.elections._votes import exact_votes
from juryrank.methods.pairwise.majorities import Flags, Majorities, empty_facts, item_names, margins_of, note_facts
from juryrank.methods.pairwise.pairwise import PairwiseMethod
from juryrank.progress import track


class PairVotes(NamedTuple):
    """The majorities of one query; margins are whole numbers where ``unit`` of them are one vote."""

    majorities: Majorities
    unit: float


class Result(NamedTuple):
    """What a rule finds in one query."""

    scores: Floats
    facts: Mapping[str, Any] = MappingProxyType({})  # by name; every query has the same names


@dataclass(kw_only=True)
class MajorityRule(PairwiseMethod):
    """A rule that depends on the margins between pairs of candidates alone."""

    cost = Cost("triples of items", 3.0, per_query=200_000.0, threaded=False)

    def _scores(self, rankings: Rankings, out: Floats) -> Mapping[str, NDArray[Any]]:
        check_matrix_size(self.name, rankings, "copeland")
        r, lists, facts = rankings, self._lists(rankings), empty_facts(len(rankings))
        votes = lists.list_weight.copy()
        lists = lists._replace(list_weight=votes)
        for q in track(range(len(r)), self.name):
            ballots = slice(r.list_ptr[q], r.list_ptr[q + 1])
            exact, unit = exact_votes(votes[ballots], factor=4 * (int(r.query_size[q]) + 1))
            votes[ballots] = exact.astype(np.float64)
            majorities = Majorities(margins_of(q, lists))
            found = self._decide(PairVotes(majorities, float(unit)))
            out[r.slot_ptr[q] : r.slot_ptr[q + 1]] = found.scores
            note_facts(facts, q, majorities, item_names(r, q))
            for name, fact in found.facts.items():
                facts.setdefault(name, np.empty(len(r), type(fact)))[q] = fact
        if self.missing == "ignore":  # a candidate whom nobody ranks loses to nobody
            put_last(r.slot_ptr, r.slot_lists == 0, out)
        return facts

    @abstractmethod
    def _decide(self, votes: PairVotes) -> Result:
        """One score for each candidate, and what else is reported."""


def defeat_scores(defeats: Flags, winners: Flags) -> Floats:
    """The number of candidates that each defeats; the winners share the highest score, above all others.

    ``defeats`` is transitive, so a candidate that defeats another has the higher score.
    """
    scores: Floats = defeats.sum(1).astype(np.float64)
    if winners.any():
        scores[winners] = max(scores[winners].max(), scores[~winners].max(initial=-1.0) + 1.0)
    return scores


def undefeated(defeats: Flags) -> Flags:
    """Whether no candidate defeats each."""
    free: Flags = np.logical_not(np.any(defeats, axis=0))
    return free
