from juryrank.kernels.elements cimport Float, Int
from juryrank.kernels.ragged cimport longest

cdef void scale_of(long long lo, long long hi, Float[::1] rank, bint binary, bint logarithmic, long long at, double[::1] out) noexcept nogil
cdef void times(long long n, long long n_lists, Int[::1] ptr, Float[::1] scale, bint binary, Float[::1] weight, Int[::1] at, Float[::1] v, double[::1] out) noexcept nogil
cdef void transposed_times(long long n, long long n_lists, Int[::1] ptr, Float[::1] scale, bint binary, Float[::1] weight, Int[::1] at, Float[::1] u, double[::1] out) noexcept nogil
cdef void closed_form(long long n, double size, double[:, ::1] u, double[:, ::1] v) noexcept nogil
cdef long long first_vectors(long long lo, long long hi, Float[::1] rank, bint binary, bint logarithmic, double tol, long long max_iter, double[::1] group_rank, double[::1] size, double[::1] gap, double[::1] z, double[:, ::1] u, double[:, ::1] v, double[:, :] out) noexcept nogil
cdef long long tie_groups(long long lo, long long hi, Float[::1] rank, double[::1] group_rank, double[::1] size) noexcept nogil
cdef long long power_iteration(long long n, Float[::1] gap, Float[::1] size, bint binary, double tol, long long max_iter, double[::1] u, double[::1] v, double[::1] z) noexcept nogil
cdef void initial_vector(long long n, Float[::1] gap, Float[::1] size, bint binary, double[::1] x) noexcept nogil
cdef double times_groups(long long n, Float[::1] gap, Float[::1] size, bint binary, Float[::1] x, double[::1] y) noexcept nogil
cdef (double, double) transposed_times_groups(long long n, Float[::1] gap, Float[::1] size, bint binary, Float[::1] x, Float[::1] y, double[::1] z) noexcept nogil
