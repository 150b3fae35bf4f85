from juryrank.kernels.elements cimport Float, Int
from juryrank.kernels.ragged cimport longest, merge_sort, number_key

cdef double tied_pairs(long long n, Float[::1] values) noexcept nogil
cdef double inversions(long long n, double[::1] values, double[::1] merged) noexcept nogil
cdef long long first_place(double value, long long top, long long m, Float[::1] ideal) noexcept nogil
