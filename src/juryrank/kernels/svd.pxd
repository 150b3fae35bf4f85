from juryrank.kernels.dense cimport dot_first
from juryrank.kernels.elements cimport Float, Int, Int32
from juryrank.kernels.preferences cimport closed_form, first_vectors, scale_of, tie_groups, times, transposed_times
from juryrank.kernels.ragged cimport longest

cdef double orthonormal(long long n, double[::1] x, Float[:, ::1] basis, long long n_basis) noexcept nogil
cdef void starting_vector(long long t, long long n, long long n_lists, Int[::1] ptr, Float[::1] scale, bint binary, Float[::1] weight, Int[::1] at, double[::1] net, double[::1] losses, double[::1] v) noexcept nogil
cdef long long iterate(long long n, long long n_lists, Int[::1] ptr, Float[::1] scale, bint binary, Float[::1] weight, Int[::1] at, double tol, long long max_iter, double[::1] x, double[::1] y, double[::1] z, double[:, ::1] u, double[:, ::1] v) noexcept nogil
cdef void orient(long long n, double[:, ::1] u, double[:, ::1] v) noexcept nogil
cdef long long number_items(Int[::1] lists, Int[::1] ptr, Int[::1] entry_ptr, Int32[::1] entry_slot, long long first_slot, long long[::1] number, long long[::1] at, long long[::1] owner) noexcept nogil
