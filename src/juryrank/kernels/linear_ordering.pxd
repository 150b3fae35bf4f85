from libc.math cimport rint

from juryrank.kernels.elements cimport Float, Int
from juryrank.kernels.pairwise cimport ROUNDING

cdef void move(long long[::1] order, long long at, long long to) noexcept nogil
cpdef void insertion_search(Float[:, ::1] margin, long long[::1] order, double noise) noexcept nogil
cdef double pack_cycles(Float[:, ::1] margin, Int[::1] order, long long count, Int[:, ::1] pairs, double[:, ::1] left, unsigned char[::1] failed) noexcept nogil
cdef double agreement(Float[:, ::1] margin, Int[::1] order) noexcept nogil
cdef void half_sums(Float[:, ::1] margin, long long first, long long count, double[:, ::1] out) noexcept nogil
