"""The ballots of one election, and the places of candidates on them among those that are still in."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.ragged import children, parents
from juryrank.methods.elections._votes import Tally, Votes, add_up, exact_votes, share_out

Standing = NDArray[np.bool_]  # [n_candidates] who is still in


class Places(NamedTuple):
    """The candidates that are still in, ballot by ballot and from best to worst: one row for each that is ranked."""

    ballot: Ints
    cand: Ints
    above: Ints  # candidates that the ballot ranks strictly above
    size: Ints  # candidates in the same place, with this one
    ranked: Ints  # [n_ballots] how many candidates the ballot ranks


@dataclass(frozen=True)
class Ballots:
    """The ballots of one query; candidates are numbered by slot."""

    query: str
    names: list[str]
    ptr: Ints  # [n_ballots + 1] entries of each ballot, from best to worst
    cand: Ints  # [n_entries]
    rank: Floats  # [n_entries] equal ranks are ties
    score: Floats | None  # [n_entries]
    votes: Votes  # [n_ballots]
    unit: Fraction  # how many of these are one vote
    voters: list[str]  # [n_ballots]

    @property
    def n(self) -> int:
        """The number of candidates."""
        return len(self.names)

    @cached_property
    def owner(self) -> Ints:
        """The ballot of each entry."""
        out: Ints = parents(self.ptr)
        return out

    def everyone(self) -> Standing:
        """All candidates."""
        return np.ones(self.n, bool)

    def places(self, standing: Standing, ballots: Ints | None = None) -> Places:
        """The places of the candidates that are still in, on all ballots or on some."""
        entry = slice(None) if ballots is None else children(self.ptr, ballots)
        cand, ballot, rank = self.cand[entry], self.owner[entry], self.rank[entry]
        kept = standing[cand]
        cand, ballot, rank = cand[kept], ballot[kept], rank[kept]
        number = np.arange(len(cand))
        new_ballot = np.diff(ballot, prepend=-1) != 0
        new_place = new_ballot | (np.diff(rank, prepend=np.nan) != 0)
        first = np.maximum.accumulate(np.where(new_ballot, number, 0))
        start = np.flatnonzero(new_place)
        group = np.cumsum(new_place) - 1
        size = np.diff(start, append=len(cand))
        ranked = np.bincount(ballot, minlength=len(self.votes))
        return Places(ballot, cand, start[group] - first, size[group], ranked)

    def first_places(self, standing: Standing) -> Tally:
        """The first places among those that are still in; candidates that share one share the vote."""
        places = self.places(standing)
        top = places.above == 0
        return self.share(places.cand[top], places.size[top], self.votes[places.ballot[top]])

    def last_places(self, standing: Standing) -> Tally:
        """The last places; candidates that share one, or that the ballot leaves out, share the vote."""
        places = self.places(standing)
        left_out = np.count_nonzero(standing) - places.ranked
        partial = (left_out > 0) & (places.ranked > 0)
        bottom = (left_out[places.ballot] == 0) & (places.above + places.size == places.ranked[places.ballot])
        # Whom a ballot leaves out: everyone who is still in, less those whom it ranks.
        sizes = np.unique(left_out[partial])
        everyone, ranked = np.flatnonzero(standing), partial[places.ballot]
        votes = add_up(np.searchsorted(sizes, left_out[partial]), self.votes[partial], len(sizes))
        return self.share(
            np.concatenate([places.cand[bottom], np.tile(everyone, len(sizes)), places.cand[ranked]]),
            np.concatenate(
                [places.size[bottom], np.repeat(sizes, len(everyone)), left_out[places.ballot[ranked]]],
            ),
            np.concatenate(
                [
                    self.votes[places.ballot[bottom]],
                    np.repeat(votes, len(everyone)),
                    -self.votes[places.ballot[ranked]],
                ]
            ),
        )

    def borda(self, standing: Standing) -> Tally:
        """Borda points among those that are still in: 1 for each below, 1/2 for each other in the same place."""
        places = self.places(standing)
        left = np.flatnonzero(standing)
        # Twice the points, beyond what the ballot gives to everyone whom it leaves out, below all others.
        lowest = len(left) - places.ranked - 1
        points = 2 * (len(left) - places.above - places.size) + places.size - 1 - lowest[places.ballot]
        numbers = add_up(places.cand, self.votes[places.ballot] * points, self.n)
        numbers[left] += (self.votes * lowest).sum()
        return Tally(numbers, 2 * self.unit)

    def share(self, cand: Ints, sharers: Ints, votes: Votes) -> Tally:
        """As ``share_out``, for the candidates and the unit of these ballots."""
        return share_out(cand, sharers, votes, self.n, self.unit)

    def over_half(self, tally: Tally, cast: int) -> Ints:
        """The candidates with more than half of the votes that were cast, in units."""
        return np.flatnonzero(tally.numbers * 2 > cast * int(tally.unit / self.unit))

    def exhausted(self, standing: Standing) -> int:
        """The votes of ballots that rank nobody who is still in, in units."""
        used = np.zeros(len(self.votes), bool)
        used[self.owner[standing[self.cand]]] = True
        return int(self.votes[~used].sum())

    @cached_property
    def total(self) -> int:
        """All votes, in units."""
        return int(self.votes.sum())


def ballots_of(rankings: Rankings, query: int, weights: Floats) -> Ballots:
    """The ballots of one query, with weights of all lists."""
    r = rankings
    first, last = r.list_ptr[query : query + 2]
    low, high = r.entry_ptr[first], r.entry_ptr[last]
    slots = slice(r.slot_ptr[query], r.slot_ptr[query + 1])
    names = r.items[r.slot_item[slots]].tolist()
    votes, unit = exact_votes(weights[first:last], factor=4 * (len(names) + 1))
    return Ballots(
        query=r.queries[query],
        names=names,
        ptr=r.entry_ptr[first : last + 1] - low,
        cand=r.entry_slot[low:high].astype(np.int64) - slots.start,
        rank=r.entry_rank[low:high],
        score=None if r.entry_score is None else r.entry_score[low:high],
        votes=votes,
        unit=unit,
        voters=[r.experts[k] for k in r.list_expert[first:last].tolist()],
    )
