"""Whether the verdict is right: random subsets of experts and labelled queries, tested on the other queries.

Each draw takes 2 to 8 experts and 5 to 40 labelled queries of a collection. A learned method, ``jury`` by default, is
fitted on these queries, and its verdict chooses between it, RRF and the best expert. All three are evaluated on the
other queries, which neither the model nor the verdict has seen. The expected means of the rule are from draws of other
seeds, of robust03 and TREC-COVID round 1; their deviations were decided after looking at such draws of all collections.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import juryrank as jr
from juryrank.errors import DataError
from studies import SHARED_DATA
from studies.arrays import Floats, Ints, lists_by_score, slot_query
from studies.console import track
from studies.learners import learner
from studies.learning_curves import read_set
from studies.tables import Report, Table

SETS = ("robust03", "trec-covid-round1", "MQ2008-agg", "OHSUMED")
DRAWS = 50  # per collection
SEED = 2017
FEWEST_EXPERTS, MOST_EXPERTS = 2, 8
FEWEST_QUERIES, MOST_QUERIES = 5, 40
LABELLED = 2 / 3  # of the queries of a small collection, at most
METRIC = "nDCG@10"
ALTERNATIVES = ("learned", "rrf", "expert")
PAIRS = ("learned - rrf", "learned - expert", "expert - rrf")
SIZES = ((5, 9), (10, 19), (20, 29), (30, 40))
NORMAL = 1.96  # standard errors of a 95 % interval


@dataclass(frozen=True)
class Draw:
    """One verdict, and the means of all alternatives on the other queries."""

    data: str
    n_queries: int
    n_experts: int
    choice: str
    means: dict[str, float]  # on the test queries, by alternative
    covered: dict[str, bool]  # by pair: whether the interval contains the difference on the test queries
    covered_with_noise: dict[str, bool]  # the same if both intervals are widened by the noise of the test queries


@dataclass(frozen=True, eq=False, repr=False)
class Verdicts(Report):
    """All draws."""

    draws: list[Draw]
    method: str  # the learned one

    def tables(self) -> list[Table]:
        columns = [column.format(method=self.method) for column in COLUMNS]
        choices = Table(
            "Right on average",
            ["data", "labelled queries", "draws", *columns],
            self._rows(mean_cells),
            n_names=2,
            note=NOTE,
        )
        cover = [f"{pair}{how}" for pair in PAIRS for how in ("", ", with noise")]
        note = (
            "Percent of draws whose 95 % interval contains the difference on the test queries. With noise: the test "
            "queries are a sample, too; their own interval is added, as the root of the sum of squares. If the verdict "
            "is by condensed lists, so is the difference on the test queries."
        )
        columns = ["data", "labelled queries", "draws", *cover]
        return [choices, Table("Coverage", columns, self._rows(coverage_cells), n_names=2, note=note)]

    def _rows(self, cells: Callable[[Sequence[Draw]], list[str]]) -> list[list[str]]:
        """One row for each collection, each number of labelled queries, and all draws."""
        parts = [(name, "5 to 40", [d for d in self.draws if d.data == name]) for name in SETS]
        for low, high in SIZES:
            parts.append(("all", f"{low} to {high}", [d for d in self.draws if low <= d.n_queries <= high]))
        parts.append(("all", "5 to 40", self.draws))
        return [[name, size, str(len(some)), *cells(some)] for name, size, some in parts if some]

    def rows(self) -> list[dict[str, Any]]:
        return [
            {"data": d.data, "queries": d.n_queries, "experts": d.n_experts, "choice": d.choice, **d.means}
            for d in self.draws
        ]

    def to_dict(self) -> dict[str, Any]:
        return {"metric": METRIC, "method": self.method, "draws": [asdict(draw) for draw in self.draws]}


COLUMNS = ("{method}", "RRF", "best expert", "verdict", "best of three", "verdict - {method}", "± se", "chosen")
NOTE = (
    f"Mean {METRIC} × 100 on the test queries; the best expert is that of the labelled queries; best of three: by the "
    "test queries, which nobody knows; chosen: the learned method, RRF, one expert, in percent of the draws."
)


def mean_cells(draws: Sequence[Draw]) -> list[str]:
    """The means of always the same alternative, of the chosen ones and of the best."""
    values = np.array([[d.means[name] for name in ALTERNATIVES] for d in draws])
    chosen = np.array([d.means[d.choice] for d in draws])
    gain = chosen - values[:, 0]
    error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.nan
    means = [*values.mean(axis=0), chosen.mean(), values.max(axis=1).mean()]
    shares = "/".join(f"{100 * np.mean([d.choice == name for d in draws]):.0f}" for name in ALTERNATIVES)
    return [*(f"{100 * m:.2f}" for m in means), f"{100 * gain.mean():+.3f}", f"{100 * error:.3f}", shares]


def coverage_cells(draws: Sequence[Draw]) -> list[str]:
    """The share of covered differences, in percent."""
    shares = [np.mean([one[pair] for one in ones]) for pair in PAIRS for ones in _covered(draws)]
    return [f"{100 * share:.0f}" for share in shares]


def _covered(draws: Sequence[Draw]) -> tuple[list[dict[str, bool]], list[dict[str, bool]]]:
    return [d.covered for d in draws], [d.covered_with_noise for d in draws]


def read_collection(folder: Path) -> jr.Dataset:
    """The queries with a relevant item; OHSUMED has one list per feature, by value, higher first."""
    data = read_set(folder)
    if data.features is not None:
        names = [f"feature {k + 1}" for k in range(data.features.shape[1])]
        lists = lists_by_score(data.rankings, names, data.features)
        data = jr.Dataset(rankings=replace(lists, entry_score=None), labels=data.labels)
    assert data.labels is not None
    relevant = np.flatnonzero(data.labels.label_value > 0)
    return data.take(np.unique(np.searchsorted(data.labels.label_ptr, relevant, side="right") - 1))


def with_experts(data: jr.Dataset, experts: Ints) -> jr.Dataset:
    """The lists of the chosen experts, and the items in them."""
    r = data.rankings.keep_lists(np.isin(data.rankings.list_expert, experts))
    ranked = r.slot_lists > 0
    place = np.zeros(len(r.experts), np.int32)
    place[experts] = np.arange(len(experts))
    part = replace(
        r,
        experts=tuple(r.experts[k] for k in experts),
        list_expert=place[r.list_expert],
        slot_ptr=np.append(0, np.cumsum(np.bincount(slot_query(r)[ranked], minlength=len(r)))),
        slot_item=r.slot_item[ranked],
        entry_slot=(np.cumsum(ranked) - 1)[r.entry_slot].astype(np.int32),
    )
    return jr.Dataset(rankings=part, labels=data.labels)


def draw(name: str, data: jr.Dataset, seed: Sequence[int], method: str = "jury") -> Draw | None:
    """One subset of experts and labelled queries; None if there is nothing to learn from it."""
    rng = np.random.default_rng(seed)
    n_experts = int(rng.integers(FEWEST_EXPERTS, MOST_EXPERTS + 1))
    n_queries = int(rng.integers(FEWEST_QUERIES, min(MOST_QUERIES, int(LABELLED * len(data))) + 1))
    part = with_experts(data, np.sort(rng.choice(len(data.experts), n_experts, replace=False)))
    order = rng.permutation(len(data))
    train, test = part.take(np.sort(order[:n_queries])), part.take(np.sort(order[n_queries:]))
    try:
        unfitted = learner(method)
        model = jr.fit(train, unfitted)
        verdict = model.verdict() or jr.verdict(train, unfitted)
    except DataError:
        return None
    assert verdict.expert is not None
    fused = {"learned": model.predict(test), "rrf": jr.method("rrf").fit_predict(test)}
    values = values_on(test, fused, verdict.expert, "irrelevant")
    same = values_on(test, fused, verdict.expert, "ignore") if verdict.n_condensed else values
    covered, with_noise = {}, {}
    for pair in PAIRS:
        a, b = pair.split(" - ")
        covered[pair], with_noise[pair] = coverage(verdict.differences[pair], same[a] - same[b])
    means = {key: float(v.mean()) for key, v in values.items()}
    return Draw(name, n_queries, n_experts, verdict.choice, means, covered, with_noise)


def values_on(test: jr.Dataset, fused: dict[str, jr.Consensus], expert: str, unjudged: str) -> dict[str, Floats]:
    """The metric in each test query, by alternative."""
    values = {key: jr.evaluate(one, test, METRIC, unjudged=unjudged).values[0, 0] for key, one in fused.items()}
    alone = jr.evaluate(test, test, METRIC, unjudged=unjudged)
    return {**values, "expert": alone.values[alone.names.index(expert), 0]}


def coverage(interval: Any, apart: Floats) -> tuple[bool, bool]:
    """Whether an interval contains the mean of differences; the same with the noise of that mean added to it."""
    error = abs(interval.mean - float(apart.mean()))
    half, noise = (interval.high - interval.low) / 2, NORMAL * apart.std(ddof=1) / np.sqrt(len(apart))
    return bool(error <= half), bool(error <= np.hypot(half, noise))


def measure_all(sets: Sequence[str], folder: Path = SHARED_DATA, draws: int = DRAWS, method: str = "jury") -> Verdicts:
    """The draws of all collections."""
    found = []
    for name in sets:
        data = read_collection(folder / name)
        for n in track(range(draws), name):
            if (one := draw(name, data, (SEED, SETS.index(name), n), method)) is not None:
                found.append(one)
    return Verdicts(found, method)
