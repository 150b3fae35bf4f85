"""A ranker from labels and item features: monotone retargeting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from juryrank.data import Dataset
from juryrank.data.arrays import Floats
from juryrank.errors import warn_not_converged
from juryrank.kernels.ragged import parents, sizes_to_ptr
from juryrank.learning.columns import feature_columns, feature_names
from juryrank.learning.gains import slot_gains
from juryrank.methods.features._base import FeatureCoefficients, loss_param
from juryrank.methods.features.glm import LOSSES, Linear, Penalty
from juryrank.methods.features.monotone_targets import Scale, label_levels, retarget, retarget_with_steps
from juryrank.params import param


@dataclass(kw_only=True)
class Retargeting(FeatureCoefficients):
    r"""A linear ranker of item features, fitted to the best scores in the order of the labels.

    Minimises :math:`D(z, X\omega)` over the coefficients and over scores z that keep the order of the labels in each
    query (MR), each label a margin above the next (MEMR). Features are standardised in the query; items with equal
    labels may be in any order; lists are not used. Items without a label are not used in training.

    >>> import numpy as np
    >>> from dataclasses import replace
    >>> from juryrank import from_dicts
    >>> data = from_dicts({"any": {"q": ["a", "b", "c"]}}, labels={"q": {"a": 0, "b": 2, "c": 1}})
    >>> data = replace(data, features=np.array([[1.0], [9.0], [4.0]]))
    >>> Retargeting().fit_predict(data).top()
    {'q': ['b', 'c', 'a']}

    Acharyya, Koyejo, Ghosh, UAI 2012; Acharyya, Ghosh, UAI 2014.
    """

    name = "retargeting"
    supervised = True

    loss: str = loss_param()
    margin: float = param(
        1.0, "margin between consecutive labels (MEMR); 0: none, and scores have variance 1 (MR)", at_least=0
    )
    l1: float = param(0.0, "penalty on absolute coefficients", at_least=0)
    l2: float = param(0.01, "penalty on squared coefficients", at_least=0)
    tol: float = param(1e-5, "stop when a step lowers the objective by less than this share", above=0)
    max_iter: int = param(1000, "maximum number of steps", at_least=1)

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        x, gains = feature_columns(self.name, data), slot_gains(data)
        judged = np.flatnonzero(~np.isnan(gains))
        counts = np.bincount(parents(data.rankings.slot_ptr)[judged], minlength=len(data))
        model = Linear(sizes_to_ptr(counts), x[judged], LOSSES[self.loss], Penalty(self.l1, self.l2))
        self.features_ = feature_names(self.name, data)
        self.feature_weights_, objective, converged = self._fit_coefficients(model, gains[judged])
        self.history_ = {"objective": objective}
        if not converged:
            warn_not_converged(self.name, "the coefficients", self.max_iter)

    def _fit_coefficients(self, model: Linear, labels: Floats) -> tuple[Floats, list[float], bool]:
        """Algorithm 1: scores in the order of the labels, then coefficients, in turn."""
        level = label_levels(model.ptr, labels)
        w, t = np.zeros(model.columns.shape[1]), None
        objective: list[float] = []
        for _ in range(self.max_iter):
            f = model.predictor(w)
            if self.margin == 0:
                t = retarget(model.ptr, f, level, model.loss, Scale(), t)
            else:
                t = retarget_with_steps(model.ptr, f, level, model.loss, self.margin)
            w = model.fit(t, w)
            objective.append(model.objective(t, w))
            if len(objective) > 1 and objective[-2] - objective[-1] <= self.tol * objective[-2]:
                return w, objective, True
        return w, objective, False

    def _predict(self, data: Dataset, out: Floats) -> Mapping[str, Any]:
        out += self._feature_scores(data)
        return {}
