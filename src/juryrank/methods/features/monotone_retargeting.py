"""Monotone retargeting: aggregation of lists and item features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Consensus, Dataset
from juryrank.data.arrays import Floats
from juryrank.errors import DataError, ParameterError, warn_not_converged
from juryrank.io.pictures import saved_drawing
from juryrank.learning.columns import feature_columns, feature_names
from juryrank.learning.per_query import standardise
from juryrank.methods.base import missing_param
from juryrank.methods.features._base import FeatureCoefficients, loss_param, weighted_sum
from juryrank.methods.features.alternation import Alternation, Monitor
from juryrank.methods.features.glm import LOSSES, Linear, Penalty
from juryrank.methods.features.list_columns import VALUES, list_columns
from juryrank.methods.features.margins import Pairs
from juryrank.methods.features.monotone_targets import Scale
from juryrank.methods.learned_fields import Array, Names, learned
from juryrank.methods.weighting import named_weights
from juryrank.params import param

OUTPUT = {
    "start+features": "the start and the features with their coefficients, each standardised",
    "lists+features": "the lists and the features with their coefficients, each standardised",
    "lists": "the lists with their coefficients",
    "features": "the features with their coefficients",
}
MOVES = {
    "free": "the order may change wherever that lowers the objective",
    "ties": "only items that the lists or the features tie may change places, as in the paper; always so with a margin",
}
COEFFICIENTS = {
    "shared": "learned by fit, the same for all queries",
    "query": "learned for each query separately, as in the paper; fit learns nothing",
}


def _choice(default: str, choices: Mapping[str, str]) -> Any:
    return param(default, "; ".join(f"{name}: {doc}" for name, doc in choices.items()), choices=tuple(choices))


@dataclass(kw_only=True)
class MonotoneRetargeting(FeatureCoefficients):
    r"""Coefficients of lists and of item features, fitted so that both give the same order.

    Minimises :math:`D(r, R\beta) + D(z, X\omega)` over the coefficients and over scores r and z in the same order,
    starting from a consensus. R has a column per expert, X one per item feature, all standardised in the query; no
    labels are needed. With an l1 penalty, coefficients of lists that do not agree with the others become 0:
    ``dropped()`` names them. Tied items share a place of their list; an item that no list ranks is placed by its
    features.

    >>> import numpy as np
    >>> from dataclasses import replace
    >>> from juryrank import from_orders
    >>> data = from_orders([["a", "b", "c", "d"], ["b", "a", "d", "c"], ["d", "a", "b", "c"]])
    >>> data = replace(data, features=np.array([[4.0], [3.0], [1.0], [2.0]]))
    >>> MonotoneRetargeting(output="features").fit_predict(data).top()
    {'all': ['a', 'b', 'd', 'c']}

    Bhowmik, Ghosh, LETOR Methods for Unsupervised Rank Aggregation, WWW 2017.
    """

    name = "monotone-retargeting"
    start: str = param("rbc", "the consensus method to start from")
    output: str = _choice("start+features", OUTPUT)
    coefficients: str = _choice("shared", COEFFICIENTS)
    moves: str = _choice("free", MOVES)
    loss: str = loss_param()
    list_loss: str | None = param(None, "the loss of the lists, if it differs from loss", choices=tuple(LOSSES))
    values: str = _choice("score", VALUES)
    missing: str = missing_param("last", "ignore", "last", "mean")
    list_l1: float = param(0.0, "penalty on the absolute coefficients of lists", at_least=0)
    list_l2: float = param(0.01, "penalty on the squared coefficients of lists", at_least=0)
    feature_l1: float = param(0.0, "penalty on the absolute coefficients of features", at_least=0)
    feature_l2: float = param(0.01, "penalty on the squared coefficients of features", at_least=0)
    margin: float | None = param(
        None,
        "minimum difference of the best and worst score of a query; default: none, scores have variance 1",
        above=0,
    )
    pairs: bool = param(False, "preference pairs of the data must hold with the margin (weak supervision)")
    inner: int = param(1, "steps in a row on the features, then on the lists", at_least=1)
    tol: float = param(1e-3, "stop when a step lowers the objective by less than this share", above=0)
    max_iter: int = param(200, "maximum number of steps", at_least=1)

    experts_: list[str] = learned(Names("experts"))
    weights_: Floats = learned(Array("experts"))

    def experts_seen(self) -> frozenset[str]:
        """The experts with a coefficient."""
        return frozenset(self.experts_)

    def expert_weights(self) -> dict[str, dict[str, float]]:
        """The coefficient of each expert's lists."""
        return named_weights(self.experts_, self.weights_) if self.is_fitted else {}

    def dropped(self) -> list[str]:
        """The experts whose coefficient is 0."""
        return [name for name, weight in zip(self.experts_, self.weights_, strict=True) if weight == 0]

    def plot(self, path: str) -> None:
        """Draw the history: the objective and, where there were labels, Kendall's tau by step."""
        draw_history(self.history_, path)

    def check(self) -> None:
        super().check()
        from juryrank.methods import method

        start = method(self.start)
        if start.supervised or start.needs_features:
            raise ParameterError(f"start of {self.name} must be a method that needs only lists, got {self.start!r}")
        if self.pairs and self.margin is None:
            raise ParameterError(f"{self.name} with pairs=True needs a margin; give margin=…")

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        self.experts_, self.features_, self.history_ = list(data.experts), feature_names(self.name, data), {}
        self.weights_, self.feature_weights_ = np.zeros(len(self.experts_)), np.zeros(len(self.features_))
        if self.coefficients == "query" or not data.rankings.n_slots:
            return
        monitor = _tau(data) if data.labels is not None else None
        result = self._alternation(data).run(self._start(data), monitor)
        self.weights_, self.feature_weights_, self.history_ = result.state.b, result.state.w, result.history
        self._warn_not_converged(0 if result.converged else 1, 1)

    def _predict(self, data: Dataset, out: Floats) -> Mapping[str, NDArray[Any]]:
        start = self._start(data)
        if self.coefficients == "query":
            return self._query_by_query(data, start, out)
        features = self._feature_scores(data)
        r = list_columns(data.rankings, data.experts, self.values, self.missing)
        unknown = float(self.weights_.mean()) if len(self.weights_) else 0.0
        weights = np.append(self.weights_, unknown)[data.rankings.positions_in(self.experts_)]
        self._add_output(data, start, weighted_sum(r, weights), features, out)
        return {}

    def _query_by_query(self, data: Dataset, start: Floats, out: Floats) -> Mapping[str, NDArray[Any]]:
        ptr, failed = data.rankings.slot_ptr, 0
        steps, objective = np.zeros(len(data), np.int64), np.zeros(len(data))
        for q in range(len(data)):
            if ptr[q] == ptr[q + 1]:
                continue
            own, slots = data[q], slice(ptr[q], ptr[q + 1])
            alternation = self._alternation(own)
            result = alternation.run(start[slots])
            lists = alternation.lists.predictor(result.state.b)
            features = alternation.features.predictor(result.state.w)
            self._add_output(own, start[slots], lists, features, out[slots])
            steps[q], objective[q], failed = result.steps, result.state.objective, failed + (not result.converged)
        self._warn_not_converged(failed, len(data))
        return {"steps": steps, "objective": objective}

    def _add_output(self, data: Dataset, start: Floats, lists: Floats, features: Floats, out: Floats) -> None:
        parts = {"start": start, "lists": lists, "features": features}
        for part in self.output.split("+"):
            out += standardise(data.rankings.slot_ptr, parts[part])

    def _start(self, data: Dataset) -> Floats:
        from juryrank.methods import method

        return method(self.start).fit_predict(data.rankings).scores

    def _alternation(self, data: Dataset) -> Alternation:
        ptr = data.rankings.slot_ptr
        r = list_columns(data.rankings, data.experts, self.values, self.missing)
        x = feature_columns(self.name, data)
        pairs = None
        if self.pairs and data.pairs is not None:
            pairs = Pairs(data.pairs.better.astype(np.int64), data.pairs.worse.astype(np.int64))
        return Alternation(
            lists=Linear(ptr, r, LOSSES[self.list_loss or self.loss], Penalty(self.list_l1, self.list_l2)),
            features=Linear(ptr, x, LOSSES[self.loss], Penalty(self.feature_l1, self.feature_l2)),
            scale=Scale(self.margin, pairs),
            moves=self.moves,
            inner=self.inner,
            max_iter=self.max_iter,
            tol=self.tol,
        )

    def _warn_not_converged(self, failed: int, of: int) -> None:
        if failed:
            what = f"{failed} of {of} queries" if self.coefficients == "query" else "the coefficients"
            warn_not_converged(self.name, what, self.max_iter)


def _tau(data: Dataset) -> Monitor:
    """Kendall's tau of both sides to the labels, which is reported and not used for fitting."""
    from juryrank.metrics import Truth, parse_metric

    tau, truth = parse_metric("KendallTau"), Truth(data)

    def monitor(lists: Floats, features: Floats) -> dict[str, float]:
        both = {"tau of lists": lists, "tau of features": features}
        values = {name: tau.per_query(truth.judge(Consensus(data.rankings, f))) for name, f in both.items()}
        return {name: float(np.nanmean(v)) if np.isfinite(v).any() else 0.0 for name, v in values.items()}

    return monitor


def draw_history(history: Mapping[str, Sequence[float]], path: str) -> None:
    """Draw the objective by step and, beside it, all other values of the history."""
    if "objective" not in history:
        raise DataError("there is no history to draw; fit with coefficients='shared'")
    others = [name for name in history if name != "objective"]
    with saved_drawing(path, 4.5 * (1 + bool(others)), 3.2) as figure:
        axes = figure.subplots(1, 1 + bool(others), squeeze=False)[0]
        axes[0].plot(history["objective"], color="black", marker=".")
        axes[0].set(xlabel="step", ylabel="objective")
        for name in others:
            axes[1].plot(history[name], marker=".", label=name)
        if others:
            axes[1].set(xlabel="step", ylabel="Kendall's tau", ylim=(None, 1.02))
            axes[1].legend()
