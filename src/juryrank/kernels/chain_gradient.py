"""How the stationary distribution of a chain changes with the weights of the lists.

With x = (1 - t) Pᵀx + t/M and a loss f(x), let l solve l = (1 - t) P l + ∂f/∂x. Then ∂f/∂w = (1 - t) xᵀ (∂P/∂w) l.
P is not built: Pᵀx is a sum from the bottom of each list, and P l a sum from the top. Rows of P sum to one, so a
constant added to l changes nothing; l is centred, which also speeds up its iteration.
Lists rank every item here: the items that they leave out are tied below (``missing="last"``).
"""

import numpy as np

from juryrank.kernels.jit import kernel, over_queries


@over_queries
def pair_loss(first, end, slot_ptr, gain, score, margin, loss, slope):
    """Mean squared hinge of each query over pairs with different gains, and its derivative by the scores.

    A pair is satisfied if the better item's score is ahead by ``margin``; NaN gains are ignored.
    """
    for q in range(first, end):
        lo, hi = slot_ptr[q], slot_ptr[q + 1]
        loss[q] = 0.0
        slope[lo:hi] = 0.0
        known = lo + np.flatnonzero(~np.isnan(gain[lo:hi]))
        lowest = gain[known].min() if len(known) > 0 else 0.0
        n_pairs = 0
        for i in known:
            if gain[i] == lowest:
                continue
            for j in known:
                if gain[i] > gain[j]:
                    n_pairs += 1
                    short = margin - (score[i] - score[j])
                    if short > 0:
                        loss[q] += short * short
                        slope[i] -= 2 * short
                        slope[j] += 2 * short
        loss[q] /= max(n_pairs, 1)
        slope[lo:hi] /= max(n_pairs, 1)


@kernel
def step_down(first_list, last_list, lo, entry_ptr, entry_slot, entry_rank, entry_share, tail, strict, l, out):
    """out[i] += over lists, share of i's entry × sum of l over the items at or above i (above it, if ``strict``)."""
    total = l.sum()
    base = 0.0
    for m in range(first_list, last_list):
        listed = 0.0
        e = entry_ptr[m]
        while e < entry_ptr[m + 1]:
            stop = e
            level = 0.0
            while stop < entry_ptr[m + 1] and entry_rank[stop] == entry_rank[e]:
                level += l[entry_slot[stop] - lo]
                stop += 1
            reached = listed if strict else listed + level
            for t in range(e, stop):
                out[entry_slot[t] - lo] += entry_share[t] * reached
            listed += level
            e = stop
        below = tail[m] * (listed if strict else total)
        base += below
        for e in range(entry_ptr[m], entry_ptr[m + 1]):
            out[entry_slot[e] - lo] -= below
    for i in range(len(out)):
        out[i] += base


@over_queries
def chain_slopes(
    first, end, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_rank, slot_share, entry_share, tail, stay,
    strict, by_entries, list_weight, teleport, tol, max_iter, x, slope, out,
):  # fmt: skip
    """Derivative of the loss by the weight of each list, from ``slope`` = ∂loss/∂x.

    ``by_entries`` says how weights are normalised: by the entries they reach (MC1) or by their sum (MC2, MC3).
    """
    for q in range(first, end):
        lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
        here = slice(lo, lo + n)
        a, b = list_ptr[q], list_ptr[q + 1]
        l, walked = np.zeros(n), np.zeros(n)
        enough = tol * max(1.0, np.abs(slope[here]).max())
        for _ in range(max_iter):
            new = (1.0 - teleport) * walked + slope[here]
            new -= new.mean()
            moved = np.abs(new - l).max()
            l = new
            walked[:] = 0.0
            step_down(a, b, lo, entry_ptr, entry_slot, entry_rank, entry_share, tail, strict, l, walked)
            for i in range(n):
                walked[i] = walked[i] * slot_share[lo + i] + stay[lo + i] * l[i]
            if moved < enough:
                break
        mass = x[here] * slot_share[here]
        for m in range(a, b):
            out[m] = (1.0 - teleport) * list_slope(
                m, lo, entry_ptr, entry_slot, entry_rank, entry_share, tail, strict, by_entries, list_weight[m],
                l, walked, mass,
            )  # fmt: skip


@kernel
def list_slope(
    m, lo, entry_ptr, entry_slot, entry_rank, entry_share, tail, strict, by_entries, weight, l, walked, mass
):
    """Sum over items of mass × derivative of (P l) at the item by the weight of the list."""
    n = len(l)
    begin, end = entry_ptr[m], entry_ptr[m + 1]
    total = 0.0
    listed = 0.0
    left_mass, left_walked, left_l = mass.sum(), (mass * walked).sum(), (mass * l).sum()
    e = begin
    while e < end:
        stop = e
        level = 0.0
        while stop < end and entry_rank[stop] == entry_rank[e]:
            level += l[entry_slot[stop] - lo]
            stop += 1
        for t in range(e, stop):
            i = entry_slot[t] - lo
            share = entry_share[t] / weight
            if strict:
                total += mass[i] * (share * (listed - (e - begin) * l[i]) + l[i] - walked[i])
            else:
                norm = stop - begin if by_entries else 1.0
                total += mass[i] * (share * (listed + level) - norm * walked[i])
            left_mass -= mass[i]
            left_walked -= mass[i] * walked[i]
            left_l -= mass[i] * l[i]
        listed += level
        e = stop
    share = tail[m] / weight
    if strict:
        return total + share * (listed * left_mass - (end - begin) * left_l) + left_l - left_walked
    norm = n if by_entries else 1.0
    return total + share * l.sum() * left_mass - norm * left_walked
