from juryrank.kernels.elements cimport Float, Int, Int32

cdef bint rank_list(long long m, long long lo, long long first, long long last, Int32[::1] item, Float[::1] score, Int32[::1] seen, int[::1] last_list, int[::1] entry_slot, double[::1] entry_rank, int[::1] spare, long long[::1] ends) noexcept nogil
cpdef void sort_numbers(long long first, long long last, int[::1] values, int[::1] spare, long long[::1] ends) noexcept nogil
cdef void sort_by_bytes(long long first, long long last, int[::1] values, int[::1] spare, long long[::1] ends) noexcept nogil
