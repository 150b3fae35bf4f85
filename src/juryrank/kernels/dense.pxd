from juryrank.kernels.elements cimport Byte, Float, Int, Int32
from juryrank.kernels.ragged cimport longest

cdef double dot(Float[::1] x, Float[::1] y) noexcept nogil
cdef double dot_first(long long n, Float[::1] x, Float[::1] y) noexcept nogil
cdef void add_products(Float[:, :] a, Float[:, ::1] b, long long first, long long last, bint upper, double[:, ::1] out) noexcept nogil
cdef void centre(long long begin, long long end, Float[::1] weight, double[::1] mean, double[:, ::1] out) noexcept nogil
cdef void squared_distances(Float[:, ::1] x, long long s, long long t, Float[:, ::1] landmarks, double[:, ::1] out) noexcept nogil
