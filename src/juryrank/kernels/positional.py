"""Scores from places and ranks. Entries of a list stand in the order of their ranks."""

from juryrank.kernels.jit import over_queries


@over_queries
def places(first, last, list_ptr, entry_ptr, entry_rank, out):
    """The place of each entry in its list, 1 is best; tied entries share the mean of their places."""
    for m in range(list_ptr[first], list_ptr[last]):
        e = entry_ptr[m]
        while e < entry_ptr[m + 1]:
            end = e + 1
            while end < entry_ptr[m + 1] and entry_rank[end] == entry_rank[e]:
                end += 1
            place = 0.5 * (e + 1 + end) - entry_ptr[m]
            for t in range(e, end):
                out[t] = place
            e = end


@over_queries
def add_points(first, last, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_points, list_absent, list_weight, out):
    """Weighted sum of the points of each slot; a list gives ``list_absent`` points to the slots it does not rank."""
    for q in range(first, last):
        base = 0.0
        for m in range(list_ptr[q], list_ptr[q + 1]):
            base += list_weight[m] * list_absent[m]
        for s in range(slot_ptr[q], slot_ptr[q + 1]):
            out[s] = base
        for m in range(list_ptr[q], list_ptr[q + 1]):
            for e in range(entry_ptr[m], entry_ptr[m + 1]):
                out[entry_slot[e]] += list_weight[m] * (entry_points[e] - list_absent[m])
