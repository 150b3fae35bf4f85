from juryrank.kernels.elements cimport Float, Int, Int32
from juryrank.kernels.pairwise cimport SlotIndex
from juryrank.kernels.ragged cimport longest

cdef double sum_of(Float[::1] x) noexcept nogil
cpdef void step_up(long long first_list, long long last_list, long long lo, Int[::1] entry_ptr, Int32[::1] entry_slot, Float[::1] entry_rank, Float[::1] entry_share, Float[::1] tail, bint strict, Float[::1] mass, double[::1] out) noexcept nogil
cdef double teleport_mass(double[::1] new, Float[::1] old, double teleport) noexcept nogil
cdef long long code_row(long long i, long long n, double[::1] row, unsigned char[::1] code) noexcept nogil
cdef double majority_step(long long n, const unsigned char[::1] code, Float[::1] stay, Float[::1] leave, double teleport, double[::1] table, double[::1] mass, double[::1] new) noexcept nogil
cpdef void step_down(long long first_list, long long last_list, long long lo, Int[::1] entry_ptr, Int32[::1] entry_slot, Float[::1] entry_rank, Float[::1] entry_share, Float[::1] tail, bint strict, Float[::1] l, double[::1] out) noexcept nogil
cdef double centre_pull(long long lo, double teleport, double[::1] walked, Float[::1] slope, double[::1] l) noexcept nogil
cdef double list_slope(long long m, long long lo, Int[::1] entry_ptr, Int32[::1] entry_slot, Float[::1] entry_rank, Float[::1] entry_share, Float[::1] tail, bint strict, bint by_entries, double weight, Float[::1] l, Float[::1] walked, Float[::1] mass) noexcept nogil
