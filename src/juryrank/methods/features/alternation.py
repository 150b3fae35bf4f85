"""MR-RankAgg: two linear models, of lists and of item features, fitted such that both give the same order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.kernels.ragged import parents
from juryrank.learning.per_query import standardise
from juryrank.methods.features.glm import Linear
from juryrank.methods.features.monotone_targets import Scale, label_levels, retarget

Monitor = Callable[[Floats, Floats], dict[str, float]]
LONGEST = 4096.0  # limit of the number of times that a step is lengthened


@dataclass(frozen=True, eq=False)
class State:
    """Coefficients of lists (b) and features (w), the links of their retargeted scores (r, z), and the objective."""

    b: Floats
    w: Floats
    r: Floats
    z: Floats
    objective: float


@dataclass(eq=False)
class Result:
    """The last state, and one value per step of the objective and of the monitor."""

    state: State
    history: dict[str, list[float]] = field(default_factory=dict)
    converged: bool = False

    @property
    def steps(self) -> int:
        return len(self.history["objective"]) - 1


@dataclass(frozen=True, eq=False)
class Alternation:
    """Minimise D(r‖Rβ) + D(z‖Xω), r and z in one order.

    With moves ``ties`` the order changes as in the paper's algorithm 2, only among items that one side ties. With
    ``free`` each step takes the best of three: that one, lengthened while it helps; each side fitted to the other's
    scores; each side fitted to its own scores in the order of the other's. With a margin, moves are always ``ties``.
    """

    lists: Linear
    features: Linear
    scale: Scale
    moves: str = "free"
    inner: int = 1
    max_iter: int = 50
    tol: float = 1e-6

    def run(self, start: Floats, monitor: Monitor | None = None) -> Result:
        """Iterate from the scores of a consensus until the objective falls by less than ``tol`` of itself."""
        result = Result(self._first(start))
        self._record(result, monitor)
        for _ in range(self.max_iter):
            before = result.state.objective
            result.state = min(self._steps(result.state), key=lambda state: state.objective)
            self._record(result, monitor)
            if before - result.state.objective <= self.tol * before:
                result.converged = True
                break
        return result

    def _first(self, start: Floats) -> State:
        """Both sides fitted to the start, then to their own scores in its order.

        Losses with an exponential link use the places of the start: its scores may have a long tail.
        """
        goal = self._lift_pairs(start)
        places = label_levels(self.lists.ptr, goal)
        b, w = (
            side.fit(standardise(side.ptr, goal if side.loss.quadratic else places), np.zeros(side.columns.shape[1]))
            for side in (self.lists, self.features)
        )
        return self._in_order(b, w, places)

    def _steps(self, now: State) -> Iterator[State]:
        """The candidates for the next state; the first is never worse than ``now``."""
        yield (near := self._retarget(now))
        if self.moves == "ties" or self.scale.margin is not None:
            return  # with a margin, steps shrink the coefficients, and longer ones would change their signs
        length, best = 2.0, near
        while length <= LONGEST:
            far = self._state_of_sum(now.b + length * (near.b - now.b), now.w + length * (near.w - now.w))
            if far.objective >= best.objective:
                break
            best, length = far, 2 * length
        yield best
        yield self._fit_to_wanted_scores(now, lambda own, other: other)
        yield self._fit_to_wanted_scores(now, self._reorder)

    def _retarget(self, now: State) -> State:
        """Algorithm 2: features follow the order of the lists' scores, then lists that of the features' scores."""
        b, w, r, z = now.b, now.w, now.r, now.z
        for _ in range(self.inner):
            z = self._scores(self.features, w, r, z)
            w = self.features.fit(z, w)
        for _ in range(self.inner):
            r = self._scores(self.lists, b, z, r)
            b = self.lists.fit(r, b)
        return self._state(b, w, r, z)

    def _fit_to_wanted_scores(self, now: State, wish: Callable[[Floats, Floats], Floats]) -> State:
        """Features fitted to the scores wanted given those of the lists; then lists, given those of the features."""
        f, g = self.features.predictor(now.w), self.lists.predictor(now.b)
        w = self.features.fit(standardise(self.lists.ptr, wish(f, g)), now.w)
        f = self.features.predictor(w)
        b = self.lists.fit(standardise(self.lists.ptr, wish(g, f)), now.b)
        return self._state_of_sum(b, w)

    def _reorder(self, own: Floats, other: Floats) -> Floats:
        """The own scores of each query, in the order of the other's."""
        query, out = parents(self.lists.ptr), np.empty(len(own))
        out[np.lexsort((own, other, query))] = own[np.lexsort((own, query))]
        return out

    def _state_of_sum(self, b: Floats, w: Floats) -> State:
        """The state of these coefficients when both sides have the order of their sum."""
        ptr = self.lists.ptr
        both = standardise(ptr, self.lists.predictor(b)) + standardise(ptr, self.features.predictor(w))
        return self._in_order(b, w, self._lift_pairs(both))

    def _lift_pairs(self, order: Floats) -> Floats:
        return order if self.scale.pairs is None else self.scale.pairs.lift(order)

    def _in_order(self, b: Floats, w: Floats, order: Floats) -> State:
        r, z = self._scores(self.lists, b, order, None), self._scores(self.features, w, order, None)
        return self._state(b, w, r, z)

    def _scores(self, side: Linear, coefficients: Floats, order: Floats, before: Floats | None) -> Floats:
        return retarget(side.ptr, side.predictor(coefficients), order, side.loss, self.scale, before)

    def _state(self, b: Floats, w: Floats, r: Floats, z: Floats) -> State:
        return State(b, w, r, z, self.lists.objective(r, b) + self.features.objective(z, w))

    def _record(self, result: Result, monitor: Monitor | None) -> None:
        values = {"objective": result.state.objective}
        if monitor is not None:
            values |= monitor(self.lists.predictor(result.state.b), self.features.predictor(result.state.w))
        for name, value in values.items():
            result.history.setdefault(name, []).append(value)
