"""WWW 2007: the printed objective, Hx < t and the least tᵀt, and why it chooses flat distributions, not good ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

import juryrank as jr
from studies.arrays import Floats
from studies.learners import learner
from studies.papers.experiment import Context, Experiment
from studies.papers.findings import Claim, Findings
from studies.papers.folds import Part
from studies.papers.trials import Trial, Trials
from studies.tables import Table

METHOD, CHAIN = "supervised-mc2", "mc2"
STEPS, QUICK_STEPS = 100, 30
QUICK_FOLDS = 1
ALL = 1_000_000  # queries per step: more than there are
SHOWN = ("nDCG@5", "AP")
NUDGE = 0.01  # of the logarithm of a weight, for slopes


def printed(method: str = METHOD) -> dict[str, Any]:
    """Parameters of the objective as printed: no margin, no shrinkage, the chain of the unsupervised method."""
    chain = {} if method == "supervised-borda" else {"shrink": 0.0, "teleport": jr.method(CHAIN).params()["teleport"]}
    return {"margin": 0.0, **chain}


AS_PRINTED = Trial(f"{METHOD} as printed", METHOD, printed())
BORDA_AS_PRINTED = Trial("supervised-borda as printed", "supervised-borda", printed("supervised-borda"))


@dataclass(frozen=True)
class State:
    """What some expert weights mean for the printed objective, and for the ranking."""

    loss: float  # tᵀt as a mean over the pairs of a query, then over queries; masses times the items of the query
    spread: float  # the standard deviation of these masses in a query, mean over queries
    ordered: float  # % of the pairs in which the better item has more mass
    largest: float  # weight of an expert
    train: float  # MAP
    ndcg: float  # on test queries
    test: float  # MAP

    @property
    def per_spread(self) -> float:
        """tᵀt in units of the spread: what is left of it for the order."""
        return self.loss / self.spread**2


def shortfalls(mass: Floats, label: Floats) -> tuple[float, float, float]:
    """tᵀt / pairs of one query, the spread of its masses and the share of ordered pairs; NaN without a pair."""
    better, worse = np.nonzero(label[:, None] > label[None, :])
    if not len(better):
        return np.nan, np.nan, np.nan
    x = mass * len(mass) / mass.sum()
    t = np.maximum(x[worse] - x[better], 0.0)
    return float(t @ t) / len(t), float(x.std()), float((x[better] > x[worse]).mean())


def objective(weights: dict[str, float], data: jr.Dataset) -> tuple[float, float, float]:
    """``shortfalls`` of the stationary distribution of MC2 with these weights, means over queries."""
    mass, label, ptr = _consensus(weights, data).scores, data.slot_labels, data.rankings.slot_ptr
    each = [shortfalls(mass[lo:hi], label[lo:hi]) for lo, hi in pairwise(ptr)]
    loss, spread, ordered = np.nanmean(each, axis=0)
    return float(loss), float(spread), float(ordered)


def _consensus(weights: dict[str, float], data: jr.Dataset) -> jr.Consensus:
    return jr.method(CHAIN, weights=weights).fit(data).predict(data)


def state_of(weights: dict[str, float], part: Part) -> State:
    """The objective on the training queries, and the ranking on both."""
    loss, spread, ordered = objective(weights, part.train)
    values = [
        100 * np.nanmean(jr.evaluate(_consensus(weights, data), data, SHOWN, convention="letor").values[0], axis=1)
        for data in (part.train, part.test)
    ]
    share = max(weights.values()) / sum(weights.values())
    return State(loss, spread, 100 * ordered, share, float(values[0][1]), float(values[1][0]), float(values[1][1]))


def steepest(weights: dict[str, float], data: jr.Dataset) -> float:
    """The largest slope of the objective by the logarithm of a weight, from differences."""
    slopes = []
    for expert, weight in weights.items():
        ends = [objective({**weights, expert: weight * np.exp(way * NUDGE)}, data)[0] for way in (-1, 1)]
        slopes.append(abs(ends[1] - ends[0]) / (2 * NUDGE))
    return max(slopes)


def weights_of(part: Part, *, valid: bool = False, **params: Any) -> dict[str, float]:
    """Learned weights; without validation queries, those after the last step."""
    model = learner(METHOD, **params).fit(part.train, valid=part.valid if valid else None)
    return {expert: row["weight"] for expert, row in model.expert_weights().items()}


def study(find: Callable[[Context], Trials], context: Context) -> Findings:
    """Weights before and after the least tᵀt, and ours."""
    trials = find(context)
    parts = trials.parts()[: QUICK_FOLDS if context.quick else None]
    steps = QUICK_STEPS if context.quick else STEPS
    kinds: dict[str, dict[str, Any]] = {
        "equal weights": {**printed(), "epochs": 0},
        f"printed objective, {steps} steps": {**printed(), "epochs": steps, "batch": ALL},
        "printed objective, best pass on validation": {**printed(), "valid": True},
        "margin 3, ours, best pass on validation": {"valid": True},
    }
    learned = {kind: [weights_of(part, **params) for part in parts] for kind, params in kinds.items()}
    states = {kind: [state_of(w, part) for w, part in zip(each, parts, strict=True)] for kind, each in learned.items()}
    start, end, chosen, ours = (_mean(each) for each in states.values())
    slopes = [steepest(each[0], parts[0].train) for each in list(learned.values())[:2]]
    kept = sum(np.ptp(list(w.values())) < 1e-9 for w in list(learned.values())[2])
    note = (
        f"Means over {len(parts)} folds, ± standard error over folds; all but the last two columns on training "
        "queries. tᵀt: mean over pairs and queries, of masses times the items of the query (equal masses are 1). "
        "spread: standard deviation of these masses in a query. Steepest slope of tᵀt by the logarithm of a weight, "
        f"first fold: {slopes[0]:.5f} at equal weights, {slopes[1]:.5f} after {steps} steps. The best pass on "
        f"validation is the one before the first step on {kept} of {len(parts)} folds."
    )
    columns = ["weights", "tᵀt", "spread", "tᵀt / spread²", "ordered pairs, %", "largest weight", "MAP, training"]
    rows = [_cells(kind, each) for kind, each in states.items()]
    flatter = f"tᵀt {start.loss:.4f} → {end.loss:.4f}; spread {start.spread:.2f} → {end.spread:.2f}"
    return Findings(
        claims=(
            Claim(
                "The printed objective is minimised: it falls, and its slope vanishes",
                f"tᵀt {start.loss:.4f} → {end.loss:.4f}, steepest slope {slopes[0]:.5f} → {slopes[1]:.5f}",
                end.loss < start.loss and slopes[1] < slopes[0] / 2,
            ),
            Claim(
                "It falls because masses become equal, not because pairs become ordered",
                f"{flatter}; tᵀt / spread² {start.per_spread:.3f} → {end.per_spread:.3f}; ordered pairs "
                f"{start.ordered:.1f} → {end.ordered:.1f} %",
                end.spread < start.spread and end.ordered <= start.ordered,
            ),
            Claim(
                "Its minimum ranks worse than equal weights",
                f"MAP on training queries {start.train:.2f} → {end.train:.2f}, on test queries {start.test:.2f} → "
                f"{end.test:.2f}; with validation {chosen.test:.2f}; with a margin, ours, {ours.test:.2f}",
                end.train < start.train and end.test < start.test,
            ),
        ),
        tables=(
            Table(f"The printed objective, {trials.name}", [*columns, "nDCG@5, test", "MAP, test"], rows, note=note),
        ),
    )


def _mean(states: list[State]) -> State:
    return State(*(float(np.mean([getattr(s, f.name) for s in states])) for f in fields(State)))


def _cells(kind: str, states: list[State]) -> list[str]:
    mean = _mean(states)
    few = [
        f"{mean.loss:.4f}",
        f"{mean.spread:.2f}",
        f"{mean.per_spread:.3f}",
        f"{mean.ordered:.1f}",
        f"{mean.largest:.3f}",
    ]
    return [kind, *few, *(_with_error([getattr(s, name) for s in states]) for name in ("train", "ndcg", "test"))]


def _with_error(values: list[float]) -> str:
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{np.mean(values):.2f} ± {error:.2f}"


def experiments(sets: dict[str, Callable[[Context], Trials]]) -> tuple[Experiment, ...]:
    """The printed objective on each set."""
    return tuple(
        Experiment(
            f"www2007-printed-{name}", "www2007", f"The printed objective: {name}", (name,), partial(study, find)
        )
        for name, find in sets.items()
    )
