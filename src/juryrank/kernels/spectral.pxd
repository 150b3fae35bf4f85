from juryrank.kernels.dense cimport dot_first
from juryrank.kernels.elements cimport Float, Int
from juryrank.kernels.lists cimport Lists, PairCounter, Pairs, groups_of_pairs
from juryrank.kernels.ragged cimport longest

cdef void differences(long long q, Lists lists, Float[::1] entry_value, bint by_order, double[::1] out) noexcept nogil
cdef void laplacian(long long q, Lists lists, double precision, Float[::1] s, double[::1] out) noexcept nogil
cdef long long conjugate_gradients(long long q, Lists lists, double precision, Float[::1] scale, double[::1] rest, double[::1] direction, double[::1] image, double tol, long long max_iter, double[::1] s) noexcept nogil
cdef void neighbours(long long n, Pairs pairs, long long[::1] ptr, long long[::1] numbers) noexcept nogil
cdef long long balance(long long n, Pairs pairs, Int[::1] ptr, Int[::1] numbers, double tol, long long max_iter, double[::1] mass) noexcept nogil

cdef class RankTwo:
    cdef Pairs pairs
    cdef long long n
    cdef double unknown, size
    cdef double[::1] target, rest, u, v, new_u, new_v, image

    cdef void sparse_times(self, Float[::1] x, double[::1] out) noexcept nogil
    cdef void filled_times(self, double size, Float[::1] x, double[::1] out) noexcept nogil
    cdef bint normalise(self, Float[::1] x, double[::1] out) noexcept nogil
    cdef double project(self) noexcept nogil
    cdef double gradient_norm(self) noexcept nogil
    cdef long long complete(self, double tol, long long max_iter, double[::1] out) noexcept nogil
