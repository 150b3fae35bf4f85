from juryrank.kernels.elements cimport Float, Int, Int32
from juryrank.kernels.ragged cimport longest, merge_sort, number_key

cdef void share_places(long long first, long long last, Float[::1] rank, double[::1] out) noexcept nogil
cdef long long table_width(long long n_lists) noexcept nogil
cdef double weighted_median(long long n, Float[::1] values, Float[::1] weights, long long[:, ::1] keys) noexcept nogil
