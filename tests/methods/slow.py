"""Slow and obvious versions of the consensus methods, on a dense matrix of ranks [experts, items]; NaN is missing."""

from itertools import permutations
from math import comb

import numpy as np


def dense(data, q):
    """Ranks [lists, items], scores [lists, items] or None, and weights of one query."""
    r = data.rankings
    lo, n = r.slot_ptr[q], r.query_size[q]
    lists = range(r.list_ptr[q], r.list_ptr[q + 1])
    ranks = np.full((len(lists), n), np.nan)
    for row, m in enumerate(lists):
        for e in range(r.entry_ptr[m], r.entry_ptr[m + 1]):
            ranks[row, r.entry_slot[e] - lo] = r.entry_rank[e]
    return ranks, r.list_weight[r.list_ptr[q] : r.list_ptr[q + 1]]


def places(ranks):
    """Mean places of ties, list by list."""
    out = np.full(ranks.shape, np.nan)
    for k, row in enumerate(ranks):
        for i, rank in enumerate(row):
            if not np.isnan(rank):
                out[k, i] = np.sum(row < rank) + (np.sum(row == rank) + 1) / 2
    return out


def completed(ranks, missing):
    """Ranks with the missing ones filled in as the policy says."""
    out = ranks.copy()
    n = ranks.shape[1]
    for row in out:
        gaps = np.isnan(row)
        size = n - gaps.sum()
        worst = max(np.nanmax(row), size)
        if missing == "last":
            row[gaps] = max(worst + 1, n)
        if missing == "mean":
            row[gaps] = worst + (gaps.sum() + 1) / 2
    return out


def beats(ranks, weights, missing):
    """Weight of the lists that put i above j."""
    n = ranks.shape[1]
    filled = np.where(np.isnan(ranks), np.inf, ranks) if missing == "last" else ranks
    out = np.zeros((n, n))
    for row, w in zip(filled, weights, strict=True):
        for i in range(n):
            for j in range(n):
                out[i, j] += w * (row[i] < row[j])
    return out


def transition(name, ranks, weights, missing):
    """The transition matrix of MC1 … MC4, from the words of their definitions."""
    n = ranks.shape[1]
    filled = np.where(np.isnan(ranks), np.inf, ranks) if missing == "last" else ranks
    p = np.zeros((n, n))
    if name == "mc4":
        over = beats(ranks, weights, missing)
        for i in range(n):
            for j in range(n):
                p[i, j] = (over[j, i] > over[i, j]) / n
            p[i, i] = 1 - p[i].sum()
        return p
    for i in range(n):
        having = [k for k in range(len(filled)) if not np.isnan(filled[k, i])]
        if not having:
            p[i] = 1 / n
            continue
        level = {k: [j for j in range(n) if filled[k, j] <= filled[k, i]] for k in having}
        total = sum(weights[k] for k in having)
        for k in having:
            if name == "mc1":
                entries = sum(weights[m] * len(level[m]) for m in having)
                for j in level[k]:
                    p[i, j] += weights[k] / entries
            elif name == "mc2":
                for j in level[k]:
                    p[i, j] += weights[k] / total / len(level[k])
            else:
                members = [j for j in range(n) if not np.isnan(filled[k, j])]
                for j in members:
                    p[i, j if filled[k, j] < filled[k, i] else i] += weights[k] / total / len(members)
    return p


def kemeny(ranks, weights, missing):
    """The smallest weighted number of disagreements over all orders."""
    over = beats(ranks, weights, missing)
    return min(
        sum(over[b, a] for n, a in enumerate(order) for b in order[n + 1 :]) for order in permutations(range(len(over)))
    )


def outranking(ranks, weights, missing, preference, veto, concordance, discordance):
    """Whether i outranks j, from the words of the definition."""
    n = ranks.shape[1]
    place = completed(places(ranks), "mean") if missing == "last" else places(ranks)
    out = np.zeros((n, n), bool)
    for i in range(n):
        for j in range(n):
            lead = place[:, j] - place[:, i]
            total = weights[~np.isnan(lead)].sum()
            support = weights[(lead > 0) & (lead >= preference * n - 1e-9)].sum()
            opposition = weights[-lead >= veto * n - 1e-9].sum()
            enough = support >= concordance * total - 1e-9 and opposition <= discordance * total + 1e-9
            out[i, j] = i != j and total > 0 and enough
    return out


def outranking_classes(relation):
    """The class of each item: the remaining ones that outrank the most others and are outranked by the fewest."""
    left, out = list(range(len(relation))), np.zeros(len(relation))
    for number in range(len(relation)):
        merit = [sum(int(relation[i, j]) - int(relation[j, i]) for j in left) for i in left]
        taken = [i for i, value in zip(left, merit, strict=True) if value == max(merit)]
        out[taken] = number
        left = [i for i in left if i not in taken]
    return out


def rho(shares, n):
    """Smallest probability that the j-th of n uniform numbers is at most the j-th share, by the binomial sum."""
    chances = []
    for j, u in enumerate(sorted(shares), 1):
        chances.append(sum(comb(n, t) * u**t * (1 - u) ** (n - t) for t in range(j, n + 1)))
    return min(chances)


def soft_transition(ranks, weights, temperature):
    """The transition matrix of MC4 with majorities softened by a sigmoid, as supervised MC4 learns; missing is last."""
    n = ranks.shape[1]
    over = beats(ranks, weights, "last")
    p = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j:
                p[i, j] = 1 / (1 + np.exp(-(over[j, i] - over[i, j]) / sum(weights) / temperature)) / n
        p[i, i] = 1 - p[i].sum()
    return p
