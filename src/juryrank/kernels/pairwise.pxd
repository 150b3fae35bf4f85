from juryrank.kernels.elements cimport Float, Int, Int32
from juryrank.kernels.ragged cimport longest, stable_order

cdef double ROUNDING, TIE

cdef double residue(long long n_lists) noexcept nogil
cpdef void majority_sort(Float[:, ::1] margin, long long[::1] order) noexcept nogil

cdef class SlotIndex:
    cdef Int[::1] slot_ptr, list_ptr, entry_ptr
    cdef Int32[::1] entry_slot
    cdef Float[::1] entry_rank, list_weight
    cdef long long[::1] ptr, lists, entries
    cdef double[::1] listed
    cdef readonly long long most, lo, n, begin, end
    cdef readonly double rest

    cdef void fill(self, long long q) noexcept nogil
    cdef void margin_row(self, long long i, bint last, double[::1] row) noexcept nogil
    cdef void margins(self, bint last, double[:, ::1] out) noexcept nogil
    cdef void seek(self, long long q) noexcept nogil

cdef double total_weight(SlotIndex index) noexcept nogil
cdef void lead_over_rest(SlotIndex index, double lead, double far, double[:, ::1] by_entry, double[:, ::1] by_slot) noexcept nogil
cdef void outranks(SlotIndex index, bint last, double preference, double veto, double concordance, double discordance, double[:, ::1] by_entry, double[:, ::1] by_slot, double[:, ::1] sums, signed char[:, ::1] out) noexcept nogil
cdef void subtract_transposed(long long n, signed char[:, ::1] relation) noexcept nogil
cdef void extract_classes(const signed char[:, ::1] net, double[::1] merit, long long[::1] found, double[::1] out) noexcept nogil
