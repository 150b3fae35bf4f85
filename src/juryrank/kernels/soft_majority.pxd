from juryrank.kernels.elements cimport Float, Int, Int32
from juryrank.kernels.ragged cimport longest

cdef long long most_ranks(long long first, long long end, Int[::1] slot_ptr, Int[::1] list_ptr) noexcept nogil
cdef double soft_moves(long long lo, long long n, long long begin, long long end, Int[::1] entry_ptr, Int32[::1] entry_slot, Float[::1] entry_rank, Float[::1] list_weight, Int[::1] order, double temperature, long long[::1] place, double[::1] rank, double[::1] move, double[::1] leave) noexcept nogil
cdef inline double product(long long size, Float[::1] x, long long at, Float[::1] y, long long begin) noexcept nogil
cdef long long settle(long long n, Float[::1] move, Float[::1] leave, double teleport, double tol, long long max_iter, double[::1] mass, double[::1] old, double[:, ::1] down) noexcept nogil
cdef void pull_back(long long n, Float[::1] move, Float[::1] leave, double teleport, double enough, long long max_iter, Float[::1] pull, double[::1] l, double[::1] up) noexcept nogil
cdef void margin_slopes(long long n, long long n_lists, Float[::1] rank, Float[::1] move, Float[::1] mass, Float[::1] l, double[::1] turn, double[::1] sign, double[::1] out, long long begin) noexcept nogil
