from juryrank.kernels.dense cimport dot
from juryrank.kernels.elements cimport Float, Int, Int32
from juryrank.kernels.ragged cimport longest

cdef double ARMIJO, ROUNDING

cdef double log_normaliser(double theta, Float[::1] s, long long t, double[:, ::1] up, double[:, ::1] down, double[::1] cross) noexcept nogil
cdef double objective(Float[::1] s, Float[::1] pull, Float[::1] theta, Float[::1] total, double prior, double[:, ::1] up, double[:, ::1] down, double[::1] cross, double[::1] grad) noexcept nogil
cdef void curvature_times(Float[::1] v, Float[::1] theta, Float[::1] total, double prior, double[:, ::1] up, double[:, ::1] down, double[::1] cross, double[::1] out) noexcept nogil
cdef void diagonal(Float[::1] theta, Float[::1] total, double prior, double[:, ::1] up, double[:, ::1] down, double[::1] cross, double[::1] out) noexcept nogil
cdef double newton_direction(Float[::1] theta, Float[::1] total, double prior, double[:, ::1] up, double[:, ::1] down, double[::1] cross, Float[::1] grad, double[::1] p, double[:, ::1] spare) noexcept nogil
cdef long long maximise(double[::1] s, Float[::1] pull, Float[::1] theta, Float[::1] total, double prior, double tol, long long max_iter, double[:, ::1] up, double[:, ::1] down, double[::1] cross, double[:, ::1] spare) noexcept nogil
