"""How far two results agree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

import juryrank as jr
from studies.speed.peers import Scores

PRINTED = 1e-5  # of the spread of a query's scores: pyflagr prints six digits


def compare_scores(ours: Scores, theirs: Scores, data: jr.Dataset) -> tuple[str, bool | None]:
    """Equal scores, scores on another scale, or else rank correlation and the quality of both."""
    if ours.keys() != theirs.keys() or any(ours[q].keys() != theirs[q].keys() for q in ours):
        return "different items", False
    pairs = [(np.array(list(ours[q].values())), np.array([theirs[q][item] for item in ours[q]])) for q in ours]
    if (largest := max(float(np.abs(a - b).max()) for a, b in pairs)) <= 1e-12:
        return f"equal scores (largest difference {largest:.0e})", True
    if all(_same_scale(a, b) for a, b in pairs):
        return "equal scores, on another scale", True
    correlation = np.nanmean([kendalltau(a, b).statistic for a, b in pairs])
    quality = [jr.evaluate(scores, data, "nDCG@10")["nDCG@10"] for scores in (ours, theirs)]
    return f"τ-b {correlation:.2f}; nDCG@10 {quality[0]:.3f} ours, {quality[1]:.3f} theirs", None


def _same_scale(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> bool:
    """Whether one is a positive linear function of the other."""
    a, b = ours - ours.mean(), theirs - theirs.mean()
    spread = float(a @ a)
    if spread == 0:
        return bool(np.ptp(theirs) <= PRINTED)
    factor = float(a @ b) / spread
    return factor > 0 and bool(np.abs(b - factor * a).max() <= PRINTED * max(np.ptp(theirs), 1.0))


def compare_values(ours: NDArray[np.float64], theirs: NDArray[np.float64] | list[float]) -> tuple[str, bool]:
    """The largest difference of values [metrics, queries], or of their means if only means are known."""
    each = np.ndim(theirs) == np.ndim(ours)
    what = "of a query" if each else "of the means"
    largest = float(np.abs((ours if each else ours.mean(-1)) - np.asarray(theirs)).max())
    return f"largest difference {what} {largest:.0e}", largest <= 1e-9
