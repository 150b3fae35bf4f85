"""Algorithms 1 and 2 of Bhowmik and Ghosh (WWW 2017) line by line, for one query.

For comparison with ``monotone-retargeting`` of juryrank; what the paper leaves open are options.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import isotonic_regression

from studies.arrays import Floats, Ints

TIE_DECIMALS = 9  # scores that are equal to so many decimals are tied
RIDGE = 1e-9  # so that two equal lists share their coefficient
NEWTON_STEPS = 30
UNCHANGED = 1e-10  # coefficients that move by less have converged


@dataclass(frozen=True)
class Printed:
    """What the paper leaves open. ``scale`` keeps scores from shrinking to 0: see ``_retarget``."""

    poisson: bool = False
    scale: str = "variance"  # or "margin", "none"
    sub_steps: int = 100  # at most, of algorithm 1 in each step of algorithm 2
    steps: int = 25
    lists_first: bool = False


@dataclass(eq=False)
class Side:
    """A generalised linear model of standardised columns: coefficients, and the link of its retargeted scores."""

    columns: Floats
    poisson: bool
    coefficients: Floats = field(init=False)
    scores: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.columns = (self.columns - self.columns.mean(axis=0)) / self.columns.std(axis=0)
        self.coefficients, self.scores = np.zeros(self.columns.shape[1]), np.zeros(len(self.columns))

    @property
    def predictor(self) -> Floats:
        f: Floats = self.columns @ self.coefficients
        return f

    def order(self) -> Floats:
        """The places of the scores; the predictor orders tied ones (footnote 5)."""
        out = np.empty(len(self.scores))
        out[_sorted(self.scores, self.predictor)] = -np.arange(len(self.scores))
        return out

    def fit(self) -> None:
        """Line 5 of algorithm 1: the coefficients nearest to the scores."""
        if not self.poisson:
            self.coefficients = _solve(self.columns.T @ self.columns, self.columns.T @ self.scores)
            return
        z = np.exp(self.scores)
        now = self._distance(z, self.coefficients)
        for _ in range(NEWTON_STEPS):
            mean = np.exp(np.minimum(self.predictor, 30))
            curvature = self.columns.T @ (self.columns * mean[:, None])
            step = _solve(curvature, self.columns.T @ (z - mean))
            while (then := self._distance(z, self.coefficients + step)) > now and np.abs(step).max() > UNCHANGED:
                step = step / 2
            if then >= now - 1e-12 * abs(now):
                break
            self.coefficients, now = self.coefficients + step, then

    def _distance(self, z: Floats, coefficients: Floats) -> float:
        f = self.columns @ coefficients
        return float(np.exp(np.minimum(f, 30)).sum() - z @ f)


@dataclass(frozen=True)
class Path:
    """Orders by step: of the two retargeted scores (lists, then features), and of the two predictors."""

    retargeted: list[tuple[Floats, Floats]]
    predictors: list[tuple[Floats, Floats]]
    converged: bool


def aggregate(lists: Floats, features: Floats, start: Floats, how: Printed) -> tuple[Path, Side, Side]:
    """Algorithm 2 from the scores of a consensus; also both sides as they are at the end."""
    r, z = Side(lists, how.poisson), Side(features, how.poisson)
    for side in (r, z):
        side.scores = _standardise(start)
        side.fit()
        _retarget(side, start, how.scale)
    path = Path([(r.order(), z.order())], [(r.predictor, z.predictor)], converged=False)
    for _ in range(how.steps):
        before = np.concatenate([r.coefficients, z.coefficients])
        for side, other in [(r, z), (z, r)] if how.lists_first else [(z, r), (r, z)]:
            _monotone_retargeting(side, other.scores, how)
        path.retargeted.append((r.order(), z.order()))
        path.predictors.append((r.predictor, z.predictor))
        if np.abs(np.concatenate([r.coefficients, z.coefficients]) - before).max() < UNCHANGED:
            return Path(path.retargeted, path.predictors, converged=True), r, z
    return path, r, z


def _monotone_retargeting(side: Side, order: Floats, how: Printed) -> None:
    """Algorithm 1, with scores in an order that does not change on the way."""
    for _ in range(how.sub_steps):
        before = side.coefficients
        _retarget(side, order, how.scale)
        side.fit()
        if np.abs(side.coefficients - before).max() < UNCHANGED:
            break


def _retarget(side: Side, order: Floats, scale: str) -> None:
    """Line 4 of algorithm 1: the scores nearest to the predictor in an order, by pooling adjacent violators.

    Without a constraint on their scale, scores of 0 are the best. "variance": they have variance 1. "margin": the best
    and the worst differ by at least 1 (section 4.1). "none": they may shrink.
    """
    f = side.predictor
    by = _sorted(order, f)
    pooled = _pool(f, by, 0.0)
    if scale == "variance":
        standard = _standardise(pooled)
        side.scores = standard if standard.any() else side.scores
    elif scale == "margin":
        low, high = 0.0, 1.0
        while _range(_pool(f, by, high), side.poisson) < 1:
            high *= 2
        while high - low > 1e-9 and _range(pooled, side.poisson) < 1:
            middle = (low + high) / 2
            low, high = (middle, high) if _range(_pool(f, by, middle), side.poisson) < 1 else (low, middle)
        side.scores = pooled if _range(pooled, side.poisson) >= 1 else _pool(f, by, high)
    else:
        side.scores = pooled


def _solve(matrix: Floats, right: Floats) -> Floats:
    ridge = RIDGE * max(float(np.trace(matrix)) / len(matrix), 1e-9)
    out: Floats = np.linalg.solve(matrix + ridge * np.eye(len(matrix)), right).astype(np.float64)
    return out


def _pool(f: Floats, by: Ints, push: float) -> Floats:
    """Nearest values that do not increase along ``by``, after its ends are pushed apart."""
    out, moved = np.empty(len(f)), f[by]
    moved[0] += push
    moved[-1] -= push
    out[by] = isotonic_regression(moved, increasing=False).x
    return out


def _range(scores: Floats, poisson: bool) -> float:
    return float(np.ptp(np.exp(scores) if poisson else scores))


def _sorted(scores: Floats, ties: Floats) -> Ints:
    return np.lexsort((-ties, -np.round(scores, TIE_DECIMALS)))


def _standardise(values: Floats) -> Floats:
    """Mean 0 and variance 1; zeros if all values are equal up to rounding."""
    deviation = values.std()
    out: Floats = (values - values.mean()) / deviation if deviation > 1e-12 else np.zeros(len(values))
    return out
