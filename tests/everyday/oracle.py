"""Slow and obvious answers: plain loops over plain dicts, with nothing of juryrank in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isfinite, log2
from typing import Any, NamedTuple

Pairs = Sequence[tuple[Any, Any]]  # item and score (or rank); None for an order without numbers


class Ranked(NamedTuple):
    """Ranks and scores of the items of one list, and what had to be repaired."""

    ranks: dict[Any, Fraction]
    scores: dict[Any, Fraction]
    dropped: int  # entries without a finite number
    again: int  # entries of items that stood in the list before


def ranked(pairs: Pairs, values: str = "score") -> Ranked:
    """A list as ranks: positions where there are no numbers, 1 + how many are better where there are scores."""
    if all(number is None for _, number in pairs):
        ranks: dict[Any, Fraction] = {}
        for place, (item, _) in enumerate(pairs, 1):
            ranks.setdefault(item, Fraction(place))
        return Ranked(ranks, {}, 0, len(pairs) - len(ranks))
    good = [(item, Fraction(number)) for item, number in pairs if number is not None and isfinite(number)]
    best: dict[Any, Fraction] = {}
    for item, number in good:
        better = item not in best or (number > best[item] if values == "score" else number < best[item])
        if better:
            best[item] = number
    lost = len(pairs) - len(good), len(good) - len(best)
    if values == "rank":
        return Ranked(best, {}, *lost)
    return Ranked({i: Fraction(1 + sum(o > s for o in best.values())) for i, s in best.items()}, best, *lost)


def fused(
    lists: Sequence[tuple[Any, Ranked]], method: str, weights: Mapping[Any, float], k: int = 60
) -> dict[Any, Fraction]:
    """Exact sums over the lists of one query: 1 / (k + rank), 1 / place, or scores."""
    total: dict[Any, Fraction] = {}
    for expert, listed in lists:
        weight = Fraction(weights.get(expert, 1))
        for item, rank in listed.ranks.items():
            before = sum(other < rank for other in listed.ranks.values())
            tied = sum(other == rank for other in listed.ranks.values())
            place = before + Fraction(tied + 1, 2)  # tied items share the mean of their places
            points = {"rrf": 1 / (k + rank), "dowdall": 1 / place, "combsum": listed.scores.get(item, Fraction(0))}
            total[item] = total.get(item, Fraction(0)) + weight * points[method]
    return total


def natural(item: Any) -> tuple[int, int, str]:
    """Whole numbers by value and first, then text."""
    text = str(item)
    whole = text.isascii() and text.isdigit() and str(int(text)) == text and len(text) <= 18
    return (0, int(text), "") if whole else (1, 0, text)


def letters(item: Any) -> str:
    """Text by code point."""
    return str(item)


def metric(name: str, scores: Mapping[str, float], labels: Mapping[str, float]) -> float:
    """AP, RR, P@3 or nDCG of one query as trec_eval has them: equal scores with the last name first."""
    order = sorted(sorted(scores, reverse=True), key=lambda item: -scores[item])
    gains = [max(labels.get(item, 0), 0) for item in order]
    hits = [n for n, gain in enumerate(gains, 1) if gain >= 1]
    relevant = sum(label >= 1 for label in labels.values())
    if name == "RR":
        return 1 / hits[0] if hits else 0.0
    if name == "P@3":
        return sum(n <= 3 for n in hits) / 3
    if name == "AP":
        return sum((n + 1) / place for n, place in enumerate(hits)) / relevant if relevant else 0.0
    best = sorted((max(label, 0) for label in labels.values()), reverse=True)
    ideal = sum(gain / log2(n + 1) for n, gain in enumerate(best, 1))
    return sum(gain / log2(n + 1) for n, gain in enumerate(gains, 1)) / ideal if ideal else 0.0
