"""Labelled pairs: queries in which some items should stand above others, and the lists that could put them there."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from juryrank.data import Dataset
from juryrank.data.rankings import Floats, Ints, Rankings
from juryrank.kernels.ragged import children
from juryrank.training.lessons import lessons_of, nothing_to_learn


@dataclass(frozen=True, eq=False)
class Labelled:
    """Queries with lists, and with gains that differ; no list weighs 0."""

    data: Dataset
    gains: Floats  # [n_slots] NaN where nothing is known

    def __len__(self) -> int:
        return len(self.data)

    @property
    def rankings(self) -> Rankings:
        return self.data.rankings

    @property
    def experts(self) -> list[str]:
        """The experts that have lists here."""
        r = self.rankings
        here = np.bincount(r.list_expert, minlength=len(r.experts)) > 0
        return [name for name, found in zip(r.experts, here, strict=True) if found]

    def list_place(self, experts: list[str]) -> Ints:
        """Where the expert of each list stands in ``experts``."""
        return self.rankings.places_in(experts)[self.rankings.list_expert]

    def take(self, queries: Ints) -> Labelled:
        """The chosen queries, in that order."""
        return Labelled(self.data.take(queries), self.gains[children(self.rankings.slot_ptr, queries)])


def labelled(data: Dataset, unjudged: str) -> Labelled:
    """What ``data`` says about the order of items; ``unjudged`` as for all methods with labels."""
    lessons = lessons_of(data, unjudged)
    gains = np.where(lessons.weights > 0, lessons.gains, np.nan)
    r = lessons.data.rankings
    heard = replace(lessons.data, rankings=r.keep_lists(r.list_weight > 0))
    return Labelled(heard, gains).take(np.flatnonzero(np.diff(heard.rankings.list_ptr) > 0))


def labelled_or_error(name: str, data: Dataset, unjudged: str) -> Labelled:
    """As ``labelled``; an error where the method of that name would find nothing to learn."""
    found = labelled(data, unjudged)
    if not len(found):
        raise nothing_to_learn(name, data)
    return found
