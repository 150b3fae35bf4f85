"""The contract of every method: fit, predict, plain parameters."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from reprlib import repr as shortened
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Consensus, Dataset, Rankings, as_dataset
from juryrank.data.arrays import Floats
from juryrank.errors import DataError, NotFittedError, ParameterError, warn_about_data
from juryrank.methods.cost import Cost
from juryrank.methods.finite import LIKELY_CAUSES, check_list_weights, check_scores, refuse_arithmetic_errors
from juryrank.methods.formula import Formula
from juryrank.methods.learned_fields import Sizes, first_learned_fault, learned_kinds
from juryrank.methods.weighting import Weighting
from juryrank.params import check_parameters, check_weights, param, parameters, plain

if TYPE_CHECKING:
    from juryrank.learning.verdict import Verdict

MISSING_POLICIES = {
    "ignore": "an expert has no effect on an item that it did not rank",
    "last": "an expert puts every item that it did not rank in the last place",
    "mean": "the items that an expert did not rank share the places below its list",
}

COPIES = "A list of weight w counts as w copies of it."


def weights_param() -> Any:
    """The parameter ``weights``, with the same meaning in every method that has it."""
    return param(None, "expert name -> weight >= 0; other experts have weight 1")


def missing_param(default: str, *allowed: str) -> Any:
    """The parameter ``missing``, with the same meaning everywhere; methods differ in the choices and the default."""
    doc = "; ".join(f"{name}: {MISSING_POLICIES[name]}" for name in allowed)
    return param(default, doc, choices=allowed)


@dataclass(kw_only=True)
class Aggregator(Weighting, ABC):
    """A method: rankings in, one score per slot out."""

    name: ClassVar[str]
    supervised: ClassVar[bool] = False
    validates: ClassVar[bool] = True  # whether ``fit`` may use validation queries
    needs_features: ClassVar[bool] = False  # item features, beside the lists
    needs_scores: ClassVar[bool] = False  # of the lists, on one scale
    coarse: ClassVar[bool] = False  # scores take few values, so that items tie even where all experts agree
    uses_label_weights: ClassVar[bool] = False  # in learning; others treat all labels alike, with a warning
    uses_scores: ClassVar[bool] = False  # of the lists, where they have some; others go by rank alone
    cost: ClassVar[Cost] = Cost("entries", 500.0)  # in time, of methods that need no labels
    target: ClassVar[str] = "nDCG@10"  # the metric of ``score``
    weight_of_list: ClassVar[str] = COPIES  # documented, and tested where it is this

    @property
    def is_fitted(self) -> bool:
        """Whether ``fit`` has been called, or the model was loaded."""
        return bool(vars(self).get("_fitted", False))

    @property
    def learns(self) -> bool:
        """Whether ``fit`` learns something from the data, with labels or without."""
        return type(self)._learn is not Aggregator._learn

    def fit(self, data: Dataset | Rankings, y: object = None, *, valid: Dataset | Rankings | None = None) -> Self:
        """Check the parameters and, if the method learns, learn from ``data``; ``valid`` has validation queries."""
        self.check()
        data = as_dataset(data)
        check_list_weights(data.rankings)
        if self.supervised and not data.has_truth:
            raise DataError(f"{self.name} learns from labels, and the data has none; give labels, or a fitted model")
        if self.supervised and not data.rankings.n_lists:
            raise DataError(f"{self.name} learns from lists, and the data has none; also read the runs")
        if data.rankings.n_slots and not data.rankings.n_lists and data.features is None:
            text = "the data has no lists, only items, so there is nothing to rank by; also read the runs"
            warn_about_data(f"{self.name}: {text}")
        if self.supervised and not self.uses_label_weights and data is not data.ignoring_label_weights:
            warn_about_data(
                f"{self.name} does not use weights of labels: all labels count alike; jury and ridge use them"
            )
        for name in learned_kinds(type(self)):
            vars(self).pop(name, None)
        with refuse_arithmetic_errors(self.name):
            self._learn(data, None if valid is None else as_dataset(valid))
        if fault := self._fault():
            raise DataError(f"{self.name}: {fault}; {LIKELY_CAUSES}")
        self._fitted = True
        return self

    def predict(self, data: Dataset | Rankings, *, warn_unknown: bool = True) -> Consensus:
        """One finite score for every slot of ``data``.

        Gives a warning that names the experts that were not in the training data, and an error if all have weight 0,
        unless ``warn_unknown`` is false.
        """
        if not self.is_fitted:
            raise NotFittedError(f"{self.name} must be fitted before it predicts; call fit(data) first")
        data = as_dataset(data)
        r = data.rankings
        if warn_unknown:
            present = {r.experts[k] for k in np.unique(r.list_expert)}
            self.demand_a_weight(present)
            if message := self.unseen_experts(present):
                warn_about_data(message)
        check_list_weights(r)
        out = np.zeros(r.n_slots)
        with refuse_arithmetic_errors(self.name):
            details = self._predict(data, out)
        check_scores(self.name, r, out)
        return Consensus(r, out, details or {})

    def fit_predict(self, data: Dataset | Rankings) -> Consensus:
        """Fit, then predict the same data."""
        return self.fit(data).predict(data)

    def score(self, data: Dataset, y: object = None) -> float:
        """The mean of the target metric over the labelled queries of ``data``, higher is better."""
        from juryrank.metrics import Truth, parse_metric

        truth = Truth(data)
        if not truth.queries:
            raise DataError(f"{self.name}: no query has labels, so there is nothing to score by")
        return float(np.nanmean(parse_metric(self.target).per_query(truth.judge(self.predict(data)))))

    def verdict(self) -> Verdict | None:
        """Use this model, stay with RRF, or use one expert alone; None without held-out values of its own.

        ``juryrank.verdict`` answers by cross-validation for every method that learns from labels.
        """
        return None

    def params(self) -> dict[str, Any]:
        """The parameters as plain values: ``method(name, **params)`` is the same method."""
        return {f.name: getattr(self, f.name) for f in parameters(self)}

    def check(self) -> None:
        """Raise a ParameterError for the first parameter that is out of bounds; keep the others as plain values."""
        check_parameters(self)
        weights = getattr(self, "weights", None)
        if weights is not None and not isinstance(weights, Mapping):
            raise ParameterError(f"weights of {type(self).__name__} must map expert names to numbers, got {weights!r}")
        check_weights(weights or {})
        for f in parameters(self):
            setattr(self, f.name, plain(f.default, getattr(self, f.name)))

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        """Fill the ``x_`` attributes; methods without labels learn nothing."""

    def _predict(self, data: Dataset, out: Floats) -> Mapping[str, NDArray[Any]] | None:
        """As ``_scores``; methods that look at more than the lists (item features, say) write this instead."""
        return self._scores(self._drop_zero_weights(data.rankings), out)

    def _scores(self, rankings: Rankings, out: Floats) -> Mapping[str, NDArray[Any]] | None:
        """Write one score per slot into ``out``, which starts as zeros; may report values per query."""
        raise NotImplementedError(f"{self.name} has neither _scores nor _predict")

    def formula(self) -> Formula | None:
        """How numbers that the lists give to an item, or points of its positions, become its score; None for others."""
        return None

    def warning_of_gaps(self, n_lists: int, n_all: int) -> str | None:
        """What is said of lists whose ranks have gaps, where that matters."""
        return None

    @property
    def ties_by_appearance(self) -> bool:
        """Whether ``fuse`` leaves equal scores in the order in which the lists have the items, not in that of names."""
        return False

    def snapshot(self) -> Self:
        """A copy with checked parameters that does not change when this method does; learned arrays are shared."""
        same = copy(self)
        same.check()
        if (weights := getattr(same, "weights", None)) is not None:
            same.weights = dict(weights)  # type: ignore[attr-defined]
        return same

    def learned(self) -> dict[str, Any]:
        """What ``fit`` learned, by name: arrays, numbers, texts, and lists and dicts of these."""
        return {name: getattr(self, name) for name in learned_kinds(type(self))}

    def _sizes(self) -> Sizes:
        """Dimensions of learned arrays that follow from learned names and parameters."""
        return {}

    def _fault(self) -> str | None:
        """What is wrong with what was learned; more than its declarations say, where a method needs more."""
        return first_learned_fault(self, self._sizes)

    @classmethod
    def from_learned(cls, params: Mapping[str, Any], learned: Mapping[str, Any]) -> Self:
        """A fitted method from its parameters and what it had learned; a DataError where they do not fit."""
        known = {f.name for f in parameters(cls)}
        if not isinstance(params, Mapping) or not params.keys() <= known:
            raise DataError(f"{cls.name} has the parameters {sorted(known)}, but the model has {shortened(params)}")
        model = cls(**params if "unjudged" not in known else {"unjudged": "irrelevant", **params})  # once the default
        model.check()
        wanted = learned_kinds(cls).keys()
        learned = cls._complete(learned) if isinstance(learned, Mapping) else learned
        if not isinstance(learned, Mapping) or learned.keys() != wanted:
            raise DataError(f"{cls.name} learns {sorted(wanted)}, but the model has {shortened(learned)}")
        vars(model).update(learned)
        if fault := model._fault():
            raise DataError(f"{cls.name}: {fault}; the model is damaged, fit it again")
        model._fitted = True
        return model

    @classmethod
    def _complete(cls, learned: Mapping[str, Any]) -> Mapping[str, Any]:
        """What a model learned, with values for what earlier versions did not save."""
        return learned

    # What scikit-learn's clone, GridSearchCV and cross_val_score ask for.

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, under scikit-learn's name for them."""
        return self.params()

    def set_params(self, **values: Any) -> Self:
        """Set parameters by name."""
        known = self.params()
        for name, value in values.items():
            if name not in known:
                raise ParameterError(f"{self.name} has no parameter {name!r}; it has {', '.join(known) or 'none'}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))
