from juryrank.kernels.dense cimport dot
from juryrank.kernels.elements cimport Float, Int, Int32
from juryrank.kernels.mpm cimport ARMIJO, ROUNDING
from juryrank.kernels.ragged cimport longest

cdef class Query:
    cdef long long lo, first_list, last_list
    cdef double prior, hold
    cdef bint binary, last
    cdef Int[::1] entry_ptr
    cdef Int32[::1] entry_slot
    cdef Float[::1] value, beyond, weight, theta, total
    cdef unsigned char[::1] unranked
    cdef double[::1] gamma, z, peak, alpha
    cdef double[:, ::1] parts, curvatures, vectors, moves, changes

cdef double add_pair(double count, long long i, long long j, Float[::1] s, Float[::1] gamma, double[::1] grad) noexcept nogil
cdef double add_counts(Query query, Float[::1] s, double[::1] grad) noexcept nogil
cdef double largest_difference(Float[::1] s, Float[::1] gamma) noexcept nogil
cdef double subtract_normalisers(Query query, Float[::1] s, double[::1] grad, double[::1] scale) noexcept nogil
cdef double joint_objective(Query query, Float[::1] x, double[::1] grad, double[::1] scale) noexcept nogil
cdef double rescale(double[::1] x, double prior, double hold) noexcept nogil
cdef double lbfgs_direction(Query query, Float[::1] grad, Float[::1] scale, long long n_stored, double[::1] p) noexcept nogil
cdef long long store_step(Query query, Float[::1] x, Float[::1] trial, Float[::1] grad, Float[::1] ahead, long long n_stored) noexcept nogil
cdef double longest_step(Float[::1] p) noexcept nogil
cdef long long maximise_jointly(Query query, double[::1] x, double tol, long long max_iter) noexcept nogil
