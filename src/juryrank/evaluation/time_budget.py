"""The estimated time of methods, and the methods that fit into a time budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from juryrank.data import Dataset, Fold
from juryrank.errors import ParameterError
from juryrank.kernels.threads import threads
from juryrank.methods import METHODS, Aggregator, consensus_methods


def estimate(m: Aggregator, data: Dataset, splits: Sequence[Fold]) -> float | None:
    """The estimated seconds of a method on all folds, without compilation; None for methods that learn from labels."""
    if m.supervised or m.needs_features:
        return None
    passes = 1.0
    if type(m)._learn is not Aggregator._learn:  # two passes over the data
        passes += sum(len(fold.train) for fold in splits) / max(len(data), 1) if splits else 1.0
    return passes * m.cost.seconds(data.rankings, threads())


def methods_within_budget(
    data: Dataset, splits: Sequence[Fold], budget: float | None, baseline: str
) -> tuple[list[str], dict[str, str]]:
    """The methods that need no labels and fit into the budget, fastest first; and the estimated time of the others.

    The baseline is always included.
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
    """The sum of the estimates as text, with the names of methods without an estimate."""
    known = duration(sum(e for e in estimates.values() if e is not None))
    unknown = [label for label, e in estimates.items() if e is None]
    if len(unknown) == len(estimates):
        return "time unknown"
    return known + (f" plus {', '.join(unknown)} (time unknown)" if unknown else "")


def duration(seconds: float) -> str:
    """An estimated number of seconds as text.

    >>> duration(0.2), duration(34.0), duration(200.0), duration(8000.0)
    ('under a second', 'about 34 s', 'about 3 min', 'about 2 h')
    """
    if seconds < 1:
        return "under a second"
    if seconds < 90:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.0f} h"
