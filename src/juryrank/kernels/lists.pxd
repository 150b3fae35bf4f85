from juryrank.kernels.elements cimport Float, Int, Int32
from juryrank.kernels.pairwise cimport SlotIndex
from juryrank.kernels.ragged cimport longest

cdef class Lists:
    cdef readonly Int[::1] slot_ptr, list_ptr, entry_ptr, tail
    cdef readonly Int32[::1] entry_slot
    cdef readonly Float[::1] entry_rank, list_weight

cdef class Pairs:
    cdef readonly int[::1] left, right
    cdef readonly double[::1] won, lost, tied
    cdef public long long count

cdef class PairCounter:
    cdef readonly Lists lists
    cdef readonly SlotIndex index
    cdef readonly Pairs pairs
    cdef long long[::1] row, number
    cdef double[::1] weight, counts

    cdef void count(self, long long q) noexcept nogil
    cdef void count_comparisons(self, long long q) noexcept nogil
    cdef void count_differences(self, long long q, Float[::1] entry_value) noexcept nogil
    cdef void mean_leads(self, long long q, Float[::1] entry_value, double[::1] out) noexcept nogil
    cdef void add_leads(self, long long q, Float[::1] entry_value, double[::1] ahead, double[::1] behind, double sign) noexcept nogil

cdef Pairs room_for_pairs(long long most)
cdef void join(long long[::1] root, long long i, long long j) noexcept nogil
cdef void groups_of_pairs(long long n, Pairs pairs, long long[::1] root) noexcept nogil
cdef void groups_of_lists(long long q, Lists lists, long long[::1] root) noexcept nogil
cdef void centre(long long n, long long[::1] root, double[::1] total, double[::1] size, double[::1] x) noexcept nogil
