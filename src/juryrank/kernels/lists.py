"""The lists of queries as kernels take them: flat arrays with names, in tuples that Numba can read by name."""

from typing import Any, NamedTuple

from numpy.typing import NDArray

from juryrank.kernels.jit import kernel


class Lists(NamedTuple):
    """The lists of all queries.

    A list may end in a tail of items that the expert did not rank but that count as last.
    """

    slot_ptr: NDArray[Any]  # [n_queries + 1] where the slots of each query begin
    list_ptr: NDArray[Any]  # [n_queries + 1] where the lists of each query begin
    entry_ptr: NDArray[Any]  # [n_lists + 1] where the entries of each list begin
    entry_slot: NDArray[Any]  # [n_entries]
    entry_rank: NDArray[Any]  # [n_entries] infinite in a tail
    list_weight: NDArray[Any]  # [n_lists]
    tail: NDArray[Any]  # [n_lists] how many entries at the end of the list are not ranked


class QueryLists(NamedTuple):
    """The lists of one query: those from ``begin`` to ``end``, with ``lo`` its first slot."""

    begin: Any
    end: Any
    lo: Any
    entry_ptr: NDArray[Any]
    entry_slot: NDArray[Any]
    entry_rank: NDArray[Any]
    list_weight: NDArray[Any]
    tail: NDArray[Any]


@kernel
def lists_of_query(q, lists):
    """The lists of one query."""
    return QueryLists(
        lists.list_ptr[q], lists.list_ptr[q + 1], lists.slot_ptr[q], lists.entry_ptr, lists.entry_slot,
        lists.entry_rank, lists.list_weight, lists.tail,
    )  # fmt: skip
