"""Smith, then instant-runoff voting."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.methods.elections._ballots import Ballots, Standing
from juryrank.methods.elections._base import Count
from juryrank.methods.elections.irv import IRV
from juryrank.methods.elections.rounds import Round, listed
from juryrank.methods.pairwise.majorities import Majorities, margins_of
from juryrank.methods.pairwise.pairwise import MarginLists


@dataclass(kw_only=True)
class SmithIRV(IRV):
    """Smith//IRV: instant-runoff voting among the candidates of the Smith set only.

    The Smith set is the smallest set of candidates of whom each beats every candidate outside of it by majority, so a
    Condorcet winner wins. A ballot prefers the candidates that it ranks to those that it leaves out. The candidates
    outside are placed below, by the same rule among themselves. The first of the ``rounds`` in ``Consensus.details``
    is the restriction to the Smith set, the others are those of ``irv`` in it; ``smith_set`` names the set, and
    ``condorcet`` is as in ``copeland``.

    >>> from juryrank import from_orders
    >>> ballots = from_orders([["a", "b", "c"], ["b", "c", "a"], ["c", "b", "a"]], weights=[4, 2, 3])
    >>> found = SmithIRV().fit_predict(ballots)
    >>> found.winners(), found.details["rounds"][0][0].note
    ({'all': ['b']}, 'b is the Smith set; a and c are out')

    Green-Armytage, Voting Matters 2011; the variant that restricts once, at the start.
    """

    name = "smith-irv"
    facts = (*IRV.facts, "condorcet", "smith_set")

    def _count(self, ballots: Ballots) -> Count:
        majorities = Majorities(_margins(ballots))
        places: list[Ints] = []
        facts: dict[str, Any] = {"rounds": (), "tied": (), "complete": True}
        for k, smith in enumerate(majorities.smith_sets):
            standing = np.zeros(ballots.n, bool)
            standing[smith] = True
            found = self.eliminate(ballots, standing)
            places = [*found.places, *places]
            if k == 0:
                facts = {**found.facts, "rounds": (*_restriction(ballots, smith), *found.facts["rounds"])}
        names = tuple(sorted(ballots.names[c] for c in majorities.smith_set))
        return Count(places, {**facts, "condorcet": majorities.condorcet, "smith_set": names})


def _restriction(ballots: Ballots, smith: Ints) -> list[Round]:
    """The round that leaves the Smith set, with the first places of all candidates; none if it has everyone."""
    out = sorted(set(ballots.names) - {ballots.names[c] for c in smith})
    if not out:
        return []
    inside = sorted(ballots.names[c] for c in smith)
    everyone: Standing = ballots.everyone()
    votes = ballots.first_places(everyone).as_floats().tolist()
    counts = sorted(zip(ballots.names, votes, strict=True), key=lambda pair: (-pair[1], pair[0]))
    sets = "is the Smith set" if len(inside) == 1 else "are the Smith set"
    note = f"{listed(inside)} {sets}; {listed(out)} {'is' if len(out) == 1 else 'are'} out"
    return [Round(dict(counts), tuple(inside) if len(inside) == 1 else (), tuple(out), 0.0, note)]


def _margins(ballots: Ballots) -> Floats:
    """The margins between all pairs; a ballot puts the candidates that it leaves out last."""
    lists = MarginLists(
        np.array([0, ballots.n]), np.array([0, len(ballots.votes)]), ballots.ptr, ballots.cand.astype(np.int32),
        ballots.rank, ballots.votes.astype(np.float64), True,
    )  # fmt: skip
    return margins_of(0, lists)
