from juryrank.kernels.elements cimport Float, Int
from juryrank.kernels.pairwise cimport SlotIndex, total_weight

cpdef double mean_skips(double theta, long long j) noexcept nogil
cpdef double log_choices(double theta, long long j) noexcept nogil
cpdef double expected_skips(double theta, Int[::1] sizes, Float[::1] stages) noexcept nogil
cpdef double fit_theta(double skipped, Int[::1] sizes, Float[::1] stages) noexcept nogil
cdef void add_stages(long long n, double weight, double[::1] stages) noexcept nogil
cdef void list_stages(SlotIndex index, long long m, long long size, double[::1] stages) noexcept nogil
cdef long long list_order(SlotIndex index, long long m, Int[::1] place, long long[::1] order) noexcept nogil
