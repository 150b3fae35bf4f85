"""Which methods take part when none are named: those that a budget of seconds allows, by an estimate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from juryrank.data import Dataset, Fold
from juryrank.errors import ParameterError
from juryrank.kernels.jit import threads
from juryrank.methods import METHODS, Aggregator, consensus_methods


def estimate(m: Aggregator, data: Dataset, splits: Sequence[Fold]) -> float | None:
    """About how many seconds a method takes on all folds, once compiled; None for one that learns from labels."""
    if m.supervised or m.needs_features:
        return None
    passes = 1.0
    if type(m)._learn is not Aggregator._learn:  # fits, then predicts
        passes += sum(len(fold.train) for fold in splits) / max(len(data), 1) if splits else 1.0
    return passes * m.cost.seconds(data.rankings, threads())


def affordable(
    data: Dataset, splits: Sequence[Fold], budget: float | None, baseline: str
) -> tuple[list[str], dict[str, str]]:
    """Methods that need no labels, as many as the budget allows, quick ones first; and how long the others would take.

    The baseline takes part whatever it costs.
    """
    names = consensus_methods()
    if budget is None:
        return names, {}
    if not budget > 0:
        raise ParameterError(f"budget must be a number of seconds above 0, got {budget!r}")
    seconds = {name: estimate(METHODS[name](), data, splits) or 0.0 for name in names}
    spent, left_out = 0.0, {}
    for name in sorted(names, key=lambda name: (name != baseline, seconds[name])):
        if spent + seconds[name] <= budget or name == baseline:
            spent += seconds[name]
        else:
            left_out[name] = duration(seconds[name])
    return [name for name in names if name not in left_out], left_out


def total(estimates: Mapping[str, float | None]) -> str:
    """The sum of estimates as text, with the methods that give none."""
    known = duration(sum(e for e in estimates.values() if e is not None))
    unknown = [label for label, e in estimates.items() if e is None]
    if len(unknown) == len(estimates):
        return "no estimate of the time"
    return known + (f" without {', '.join(unknown)}, which give no estimate" if unknown else "")


def duration(seconds: float) -> str:
    """Seconds as text, as exact as an estimate is.

    >>> duration(0.2), duration(34.0), duration(200.0), duration(8000.0)
    ('under a second', 'about 34 s', 'about 3 min', 'about 2 h')
    """
    if seconds < 1:
        return "under a second"
    if seconds < 90:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.0f} h"
