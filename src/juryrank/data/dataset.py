"""Dataset: rankings with labels, features and folds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike

import numpy as np

from juryrank.data.arrays import Codes, Floats, Ints, freeze
from juryrank.data.by_query import ByQuery
from juryrank.data.label_matching import check_match
from juryrank.data.labels import Labels
from juryrank.data.rankings import Rankings
from juryrank.errors import DataError
from juryrank.kernels.ragged import children, parents, sizes_to_ptr


@dataclass(frozen=True, eq=False, kw_only=True)
class Pairs:
    """Ground truth as preferences: in query q, ``better[p]`` beats ``worse[p]`` (slots), ``weight[p]`` times."""

    pair_ptr: Ints  # [n_queries + 1]
    better: Codes  # [n_pairs]
    worse: Codes  # [n_pairs]
    weight: Floats  # [n_pairs]

    def __post_init__(self) -> None:
        freeze(self)

    def take(self, chosen: Ints, rankings: Rankings) -> Pairs:
        """The pairs of the chosen queries of ``rankings``, with slots numbered as in ``rankings.take(chosen)``."""
        kept = children(self.pair_ptr, chosen)
        pair_ptr = sizes_to_ptr(np.diff(self.pair_ptr)[chosen])
        moved = sizes_to_ptr(rankings.query_size[chosen])[:-1] - rankings.slot_ptr[chosen]
        shift = moved[parents(pair_ptr)]
        return Pairs(
            pair_ptr=pair_ptr,
            better=(self.better[kept] + shift).astype(np.int32),
            worse=(self.worse[kept] + shift).astype(np.int32),
            weight=self.weight[kept],
        )


@dataclass(frozen=True)
class Fold:
    """One split by query: the positions of the training, validation and test queries."""

    name: str
    train: tuple[int, ...]
    valid: tuple[int, ...]
    test: tuple[int, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Dataset(ByQuery):
    """Rankings with any of: graded labels, a reference ranking, preference pairs, item features, folds."""

    rankings: Rankings
    labels: Labels | None = None
    reference: Floats | None = None  # [n_slots] rank in a true ranking, 1 is best; NaN where it is unknown
    pairs: Pairs | None = None
    features: Floats | None = None  # [n_slots, n_features]
    feature_names: tuple[str, ...] = ()
    folds: tuple[Fold, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)  # name of a file -> the one expert in it
    seats: Mapping[str, int] = field(default_factory=dict)  # query -> how many are elected, where a file says so

    def __post_init__(self) -> None:
        n = self.rankings.n_slots
        for name in ("reference", "features"):
            value = getattr(self, name)
            if value is not None and len(value) != n:
                raise DataError(f"{name} has {len(value)} rows for {n} slots")
        if self.labels is not None and self.labels.queries != self.rankings.queries:
            object.__setattr__(self, "labels", self.labels.align_to(self.rankings))
        freeze(self)

    @property
    def queries(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.rankings.queries

    @property
    def experts(self) -> tuple[str, ...]:
        return self.rankings.experts

    @property
    def has_truth(self) -> bool:
        """Whether there are labels, a reference ranking or preference pairs for learning and evaluation."""
        return self.labels is not None or self.reference is not None or self.pairs is not None

    @cached_property
    def slot_labels(self) -> Floats:
        """The label of each slot; NaN if it is unjudged."""
        if self.labels is None:
            raise DataError("the data has no labels; read it with labels=, or give a label column")
        out = self.labels.by_slot(self.rankings)
        out.flags.writeable = False
        return out

    @cached_property
    def slot_label_weights(self) -> Floats:
        """The weight of the label of each slot; NaN if it is unjudged."""
        if self.labels is None:
            raise DataError("the data has no labels; read it with labels=, or give a label column")
        out = self.labels.weights_by_slot(self.rankings)
        out.flags.writeable = False
        return out

    @cached_property
    def ignoring_label_weights(self) -> Dataset:
        """The same data with labels of weight 1 (or 0), for methods that do not use weights of labels."""
        if self.labels is None or not self.labels.has_partial_weights:
            return self
        return replace(self, labels=self.labels.ignore_weights())

    def __repr__(self) -> str:
        parts = [repr(self.rankings)[9:-1]]
        if self.labels is not None:
            parts.append(f"{len(self.labels.label_value)} labels")
        if self.reference is not None:
            parts.append("a reference ranking")
        if self.pairs is not None:
            parts.append(f"{len(self.pairs.better)} preference pairs")
        if self.features is not None:
            parts.append(f"{self.features.shape[1]} features")
        if self.folds:
            parts.append(f"{len(self.folds)} folds")
        return f"Dataset({', '.join(parts)})"

    def _repr_html_(self) -> str:
        from juryrank.report import Table, notebook_html

        r = self.rankings
        lists = np.bincount(r.list_expert, minlength=len(r.experts))
        entries = np.bincount(r.list_expert, r.list_size, minlength=len(r.experts)).astype(int)
        rows = [[name, f"{lists[k]:,}", f"{entries[k]:,}"] for k, name in enumerate(r.experts)]
        return notebook_html([Table("", ["expert", "lists", "entries"], rows, note=repr(self))])

    def with_labels(self, other: Labels | Dataset) -> Dataset:
        """A copy with other labels, joined by the names of queries and items.

        Raises a DataError if no query or no ranked item has a label; gives a warning if only a few have.
        """
        labels = other.labels if isinstance(other, Dataset) else other
        if labels is None:
            raise DataError("the other dataset has no labels")
        check_match(labels, self.rankings)
        return replace(self, labels=labels.align_to(self.rankings))

    def take(self, chosen: Ints) -> Dataset:
        """The chosen queries, in that order, without folds, which refer to positions in the whole dataset."""
        slots = children(self.rankings.slot_ptr, chosen)
        return replace(
            self,
            rankings=self.rankings.take(chosen),
            labels=None if self.labels is None else self.labels.take(chosen),
            reference=None if self.reference is None else self.reference[slots],
            pairs=None if self.pairs is None else self.pairs.take(chosen, self.rankings),
            features=None if self.features is None else self.features[slots],
            folds=(),
        )


def as_dataset(data: Dataset | Rankings) -> Dataset:
    """A Dataset from a Dataset or Rankings."""
    if isinstance(data, Dataset):
        return data
    if isinstance(data, Rankings):
        return Dataset(rankings=data)
    given, source = type(data).__name__, "…"
    if isinstance(data, str | PathLike):
        given, source = f"the path {str(data)!r}", repr(str(data))
    elif hasattr(data, "columns"):
        given, source = "a table", "table"
    raise DataError(f"expected a Dataset or Rankings, got {given}; juryrank.read({source}) reads one")
