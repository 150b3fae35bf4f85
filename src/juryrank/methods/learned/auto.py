"""The method that is best on held-out queries."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from juryrank.data import Dataset
from juryrank.data.arrays import Floats
from juryrank.errors import DataError
from juryrank.learning.labelled import LabelledQueries
from juryrank.methods.formula import Formula
from juryrank.methods.learned._base import GroupedExperts
from juryrank.methods.learned._members import Member, fit_member, load_member, member_state, new_member, share_fits
from juryrank.methods.learned_fields import ByName, ListOf, Number, learned
from juryrank.metrics import Truth, parse_metric
from juryrank.params import param

BASELINE = "rrf"
TRIAL_EPOCHS = 100  # on validation queries of MQ2008-agg, crf does not gain from more


@dataclass(kw_only=True)
class Auto(GroupedExperts):
    """The best of a few methods by cross-validation inside the training data, or RRF where labels do not help.

    Every candidate is evaluated by cross-validation with ``parts`` parts of the labelled queries; validation queries,
    if given, are also tested. Methods that train in passes make at most 100 in these trials. The candidate with the
    best mean of the target metric (of equal ones, the first) is fitted on all training queries, with all its passes.
    RRF is always a candidate, so the chosen method never has a lower mean. With one labelled query, RRF is chosen.
    ``report`` names the chosen method and its held-out gain over RRF.

    >>> from juryrank import from_dicts
    >>> queries = [f"q{n}" for n in range(9)]
    >>> runs = {"good": dict.fromkeys(queries, ["a", "b", "c"]), "bad": dict.fromkeys(queries, ["c", "a", "b"])}
    >>> Auto().fit(from_dicts(runs, labels=dict.fromkeys(queries, {"a": 0, "b": 0, "c": 1}))).chosen_["name"]
    'jury'
    """

    name = "auto"
    uses_label_weights = True  # so far as the candidates do
    among: str = param("rrf,borda,jury,ridge,blend", "candidates, separated by commas; rrf is always one")
    target: str = param("nDCG@10", "the metric by which a method is chosen")  # type: ignore[misc]
    parts: int = param(5, "number of parts for cross-validation", at_least=2)
    seed: int = param(0, "random seed of the split into parts", at_least=0)

    chosen_: dict[str, Any] = learned(Member())  # the method, fitted
    trials_: dict[str, list[float]] = learned(ByName(ListOf(Number(), 3)))  # mean, gain over RRF, its standard error
    n_queries_: int = learned(Number(whole=True, at_least=0))  # tested

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        names = list(dict.fromkeys([BASELINE, *filter(None, map(str.strip, self.among.split(",")))]))
        params = {key: value for key, value in self.params().items() if key != "target"}
        for name in names:
            new_member(name, params)
        with share_fits():
            values = self._cross_validate(names, params, data, valid)
            rrf = values[BASELINE]
            self.n_queries_ = len(rrf)
            self.trials_ = {name: _summary(v, rrf) for name, v in values.items()}
            best = max(self.trials_, key=lambda name: self.trials_[name][0]) if len(rrf) > 1 else BASELINE
            self.chosen_ = member_state(fit_member(best, params, data, valid))

    def report(self) -> str:
        """The chosen method, and the held-out mean of every candidate."""
        best = self.chosen_["name"]
        if self.n_queries_ < 2:
            return "auto: chose rrf, because there are fewer than two queries to learn from."
        chosen = f"auto: chose {best} by {self.target} on {self.n_queries_} held-out queries"
        head = f"{chosen}; gain over RRF ± standard error:"
        rows = [
            f"  {name:<16} {mean:.4f}  {gain:+.4f} ± {error:.4f}" for name, (mean, gain, error) in self.trials_.items()
        ]
        return "\n".join([head, *rows])

    def formula(self) -> Formula | None:
        """That of the chosen method, if it is a sum of points."""
        formula = load_member(self.chosen_).formula() if self.is_fitted else None
        return formula if formula is not None and formula.depends_on else None

    def experts_seen(self) -> frozenset[str]:
        """Those of the chosen method."""
        return load_member(self.chosen_).experts_seen()

    @property
    def others_key(self) -> str | None:
        return load_member(self.chosen_).others_key

    def expert_weights(self) -> dict[str, dict[str, float]]:
        """Those of the chosen method."""
        return load_member(self.chosen_).expert_weights()

    def _predict(self, data: Dataset, out: Floats) -> Mapping[str, Any] | None:
        consensus = load_member(self.chosen_).predict(data, warn_unknown=False)
        out += consensus.scores
        return consensus.details

    def _cross_validate(
        self, names: list[str], params: dict[str, Any], data: Dataset, valid: Dataset | None
    ) -> dict[str, Floats]:
        """The held-out values of every candidate; a candidate that cannot be fitted has none."""
        values: dict[str, list[Floats]] = {name: [] for name in names}
        for train, test in self._splits(data, valid):
            truth = Truth(test.truth)
            for name in list(values):
                try:
                    consensus = fit_member(name, _trial_params(name, params), train, None).predict(
                        test.data, warn_unknown=False
                    )
                except DataError:
                    del values[name]
                    continue
                values[name].append(parse_metric(self.target).per_query(truth.judge(consensus)))
        return {name: np.concatenate(parts) if parts else np.empty(0) for name, parts in values.items()}

    def _splits(self, data: Dataset, valid: Dataset | None) -> Iterator[tuple[Dataset, LabelledQueries]]:
        """Training data and test queries of each turn."""
        queries = LabelledQueries.of(data, self.unjudged).require(self.name, data)
        order = np.random.default_rng(self.seed).permutation(len(queries))
        if len(queries) > 1:
            for test in np.array_split(order, min(self.parts, len(queries))):
                train = np.setdiff1d(order, test)
                yield queries.data.take(train), queries.take(np.sort(test))
        if valid is not None and len(validation := LabelledQueries.of(valid, self.unjudged)):
            yield data, validation


def _trial_params(name: str, params: dict[str, Any]) -> dict[str, Any]:
    """The parameters in cross-validation: the same, with fewer passes where there are many."""
    epochs = new_member(name, params).params().get("epochs", 0)
    return {**params, "epochs": TRIAL_EPOCHS} if epochs > TRIAL_EPOCHS else params


def _summary(values: Floats, rrf: Floats) -> list[float]:
    known = ~np.isnan(values - rrf)
    n, gain = int(known.sum()), (values - rrf)[known]
    if not n:
        return [0.0, 0.0, 0.0]
    error = float(gain.std(ddof=1) / np.sqrt(n)) if n > 1 else 0.0
    return [float(values[known].mean()), float(gain.mean()), error]
