"""What the advice on judging says, against what the judgements of a judging plan are worth, and more of them add.

In every draw half of the queries are held out, as in ``judging``. After 50 to 500 judgements of the plan the advice
sees these judgements only; the true gain of ``jury`` over RRF, and what 50 judgements more and as many again add to it,
are measured on the held-out queries with all their labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import juryrank as jr
from juryrank.errors import DataError
from studies import SHARED_DATA
from studies.arrays import Floats
from studies.console import track
from studies.judging import SETS, TRAINING_SHARE, Judge, judging_plan
from studies.learning_curves import Collection
from studies.tables import Report, Table

SIZES, MORE, DRAWS = (50, 100, 200, 500), 50, 10
FIRST_SEED = 40_000  # of the draws; nothing was chosen on them, but on 20 from 30,000 on


@dataclass(frozen=True)
class Case:
    """One advice, and the truth."""

    data: str
    judgements: int
    status: str
    gain: tuple[float, float, float] | None  # mean and 95 % interval
    added: tuple[float, float, float] | None  # by 50 more
    deviation: float | None  # of what as many again add, as the advice expects it
    true_gain: float
    true_added: float  # by 50 more
    true_doubling: float  # by as many again


@dataclass(frozen=True, eq=False, repr=False)
class AdviceStudy(Report):
    """All cases."""

    cases: list[Case]

    def tables(self) -> list[Table]:
        groups = {(c.data, c.judgements): c for c in self.cases}
        body = [
            self._row(name, n, [c for c in self.cases if (c.data, c.judgements) == (name, n)]) for name, n in groups
        ]
        body.append(self._row("all", None, self.cases))
        columns = [
            "data",
            "judgements",
            "not shown",
            "enough",
            "gain",
            "in interval",
            "50 more",
            "in interval",
            "again",
        ]
        note = (
            "not shown, enough: share of draws with this advice; gain: true gain over RRF × 100; 50 more, again: what "
            "50 more judgements, and as many again, truly add × 100, with the standard deviation over draws; in "
            f"interval: share of draws in which the interval of the advice has the truth. {self._calibration()}"
        )
        return [Table("Advice on judging", columns, body, n_names=1, note=note)]

    @staticmethod
    def _row(name: str, n: int | None, cases: list[Case]) -> list[str]:
        def share(values: list[bool]) -> str:
            return f"{100 * np.mean(values):.0f} %" if values else "–"

        def spread(values: list[float]) -> str:
            return f"{100 * np.mean(values):+.2f} ± {100 * np.std(values):.2f}"

        return [
            name,
            "" if n is None else str(n),
            *(share([c.status == status for c in cases]) for status in ("not shown yet", "enough")),
            spread([c.true_gain for c in cases]),
            share([c.gain[1] <= c.true_gain <= c.gain[2] for c in cases if c.gain is not None]),
            spread([c.true_added for c in cases]),
            share([c.added[1] <= c.true_added <= c.added[2] for c in cases if c.added is not None]),
            spread([c.true_doubling for c in cases]),
        ]

    def _calibration(self) -> str:
        """What the constants of the advice would be with these draws, and how far it knows what it says."""
        known = [c for c in self.cases if c.added is not None and c.deviation is not None and c.gain is not None]
        if len(known) < 3:
            return ""
        truth, doubling = (np.array([getattr(c, name) for c in known]) for name in ("true_added", "true_doubling"))
        expected = np.array([c.deviation for c in known], float)
        scale = math.sqrt(float((((doubling - doubling.mean()) / expected) ** 2).mean()))
        said = np.array([c.added for c in known], float)
        gain = np.array([c.gain[0] for c in known if c.gain is not None])
        right = _correlation(gain, [c.true_gain for c in known])
        size = _correlation(said[:, 2] - said[:, 1], np.abs(truth))
        return (
            f"As many again add {100 * doubling.mean():+.2f} on average, with a standard deviation {scale:.2f} times "
            f"the expected one. Correlations: of the gain and the true gain {right}, of what 50 more add as "
            f"expected and truly {_correlation(said[:, 0], truth)}, of the width of its interval and the size of what "
            f"they truly add {size}."
        )

    def rows(self) -> list[dict[str, Any]]:
        return [asdict(case) for case in self.cases]

    def to_dict(self) -> dict[str, Any]:
        return {"cases": self.rows()}


def _correlation(one: Floats, other: Any) -> str:
    return f"{float(np.corrcoef(one, other)[0, 1]):.2f}"


def measure(
    data: jr.Dataset, collection: Collection, draws: int = DRAWS, name: str = "", numbers: Sequence[int] = SIZES
) -> list[Case]:
    """The advice after each number of judgements, in each draw."""
    cases = []
    for draw in track(range(draws), name):
        order = np.random.default_rng(FIRST_SEED + draw).permutation(len(data))
        n_training = int(len(data) * TRAINING_SHARE)
        train, test = data.take(np.sort(order[:n_training])), data.take(np.sort(order[n_training:]))
        judge = Judge(train)
        quality = _quality_on(test, collection)
        slots = judging_plan(judge, draw, sorted({*numbers, *(n + MORE for n in numbers), *(2 * n for n in numbers)}))
        rrf = quality(None)
        for n in numbers:
            judged = judge.judge(slots[:n])
            now, more, again = (quality(judge.judge(slots[:size])) for size in (n, n + MORE, 2 * n))
            cases.append(_case(name, n, jr.judging_advice(judged, more=MORE), now - rrf, more - now, again - now))
    return cases


def _quality_on(test: jr.Dataset, collection: Collection) -> Callable[[jr.Dataset | None], float]:
    metric, convention, _ = collection

    def quality(judged: jr.Dataset | None) -> float:
        """The metric of jury with these judgements; of RRF where nothing can be learned."""
        try:
            model = jr.method("rrf").fit(test) if judged is None else jr.fit(judged, "jury")
        except DataError:
            return quality(None)
        return float(jr.evaluate(model.predict(test), test, metric, convention=convention)[metric])

    return quality


def _case(name: str, n: int, advice: Any, gain: float, added: float, doubling: float) -> Case:
    def interval(found: Any) -> tuple[float, float, float] | None:
        return None if found is None else (found.mean, found.low, found.high)

    deviation = None if advice.doubling is None else advice.doubling.deviation
    return Case(name, n, advice.status, interval(advice.gain), interval(advice.added), deviation, gain, added, doubling)


def measure_all(sets: list[str], folder: Path = SHARED_DATA, *, draws: int = DRAWS) -> AdviceStudy:
    """The study on some of the datasets."""
    return AdviceStudy([c for name in sets for c in measure(SETS[name].read(folder / name), SETS[name], draws, name)])
