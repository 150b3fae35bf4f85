"""Boosted trees on features from lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Dataset
from juryrank.data.arrays import Floats, Ints
from juryrank.learning.columns import (
    N_CONSENSUS,
    consensus_columns,
    feature_names,
    item_features,
    log_rank_columns,
    missing_columns,
)
from juryrank.learning.expert_groups import experts_with_lists
from juryrank.learning.labelled import unjudged_param
from juryrank.learning.target import check_truth, target_param
from juryrank.methods.base import Aggregator
from juryrank.methods.learned.boosting import Boosting
from juryrank.methods.learned.boosting_libraries import LIBRARIES, Grower
from juryrank.methods.learned.forest import Forest
from juryrank.methods.learned_fields import Array, Names, Sizes, learned
from juryrank.params import param


@dataclass(kw_only=True)
class Boosted(Aggregator):
    """Gradient boosted trees that learn to rank, by LightGBM, XGBoost or CatBoost.

    Features are, for every expert, the logarithm of the item's rank or a missing value, and for all lists together
    the means of RRF's and Borda's points and the share of the lists with the item; unknown experts count in these
    alone. With ``item_features``, those of the items are added. Each library has its own loss (lambdarank, rank:ndcg,
    YetiRank); the number of trees is chosen by the target on validation queries. Fitting needs
    ``pip install 'juryrank[boost]'``; a fitted model is plain numbers, and scoring needs no library.

    Learns from graded labels; with the targets nDCG and KendallTau also from a reference ranking or preference pairs.

    Friedman, Annals of Statistics 2001; Burges, Microsoft Research 2010.
    """

    name = "boosted"
    supervised = True
    library: str = param("lightgbm", "the library that grows the trees", choices=LIBRARIES)
    target: str = target_param()  # type: ignore[misc]
    trees: int = param(300, "maximum number of trees", at_least=1)
    rate: float = param(0.05, "learning rate: the weight of each tree", above=0)
    leaves: int = param(8, "maximum leaves of a tree; with catboost, the nearest power of 2", at_least=2, at_most=1024)
    least: int = param(50, "minimum number of items in a leaf (lightgbm), or the nearest equivalent", at_least=1)
    columns: float = param(0.3, "share of the features that each tree uses", above=0, at_most=1)
    shrink: float = param(1.0, "regularisation of the leaves' values towards 0", at_least=0)
    item_features: bool = param(False, "also use the features of the items")
    unjudged: str = unjudged_param()
    seed: int = param(0, "random seed of the sampled features and of the validation split", at_least=0)

    experts_: list[str] = learned(Names("experts"))
    item_features_: list[str] = learned(Names("item features", distinct=False))
    feature_: Ints = learned(Array("nodes", whole=True, at_least=0, below="columns"))
    threshold_: Floats = learned(Array("nodes"))
    left_: Ints = learned(Array("nodes", whole=True, at_least=-1, below="nodes"))
    right_: Ints = learned(Array("nodes", whole=True, at_least=-1, below="nodes"))
    missing_left_: Ints = learned(Array("nodes", whole=True, at_least=0, at_most=1))
    value_: Floats = learned(Array("nodes"))
    root_: Ints = learned(Array("trees", whole=True, at_least=0, below="nodes"))

    def experts_seen(self) -> frozenset[str]:
        """The experts with features of their own."""
        return frozenset(self.experts_)

    def _sizes(self) -> Sizes:
        return {"columns": len(self.experts_) + N_CONSENSUS + len(self.item_features_) * self.item_features}

    def _fault(self) -> str | None:
        return super()._fault() or self._forest().fault(self._sizes()["columns"])

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        check_truth(self.name, self.target, data)
        self.experts_ = experts_with_lists(data.rankings)
        self.item_features_ = feature_names(self.name, data) if self.item_features else []
        grow = Grower(self.library, self.rate, self.leaves, self.least, self.columns, self.shrink, self.seed)
        forest = Boosting(grow, self.trees, self.target, self.seed, self.unjudged, self._columns).run(data, valid)
        self.root_, self.feature_, self.threshold_ = forest.root, forest.feature, forest.threshold
        self.left_, self.right_ = forest.left, forest.right
        self.missing_left_, self.value_ = forest.missing_left.astype(np.int64), forest.value

    def _predict(self, data: Dataset, out: Floats) -> Mapping[str, NDArray[Any]] | None:
        x = self._columns(replace(data, rankings=self._drop_zero_weights(data.rankings)))
        self._forest().add_scores(x, data.rankings.slot_ptr, out)
        return None

    def _forest(self) -> Forest:
        nodes = (self.feature_, self.threshold_, self.left_, self.right_, self.missing_left_ > 0, self.value_)
        return Forest(self.root_, *nodes)

    def _columns(self, data: Dataset) -> Floats:
        r = data.rankings
        missing = missing_columns(r, self.experts_) > 0
        columns = [np.where(missing, np.nan, log_rank_columns(r, self.experts_)), consensus_columns(r)]
        if self.item_features:
            columns.append(item_features(self.name, data, len(self.item_features_)))
        return np.hstack(columns).astype(np.float32).astype(np.float64)  # some of the libraries use float32
