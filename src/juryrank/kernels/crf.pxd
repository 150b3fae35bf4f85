from juryrank.kernels.elements cimport Float, Int, Int32
from juryrank.kernels.lambdarank cimport CASCADE, CUT, FIRST, GAIN, PAIRS, PRECISION_SUM
from juryrank.kernels.ragged cimport longest

cdef void descending(long long n, Float[::1] values, long long[::1] order) noexcept nogil
cdef void metric_terms(long long n, int kind, long long cutoff, Float[::1] discount, Float[::1] gain, double[::1] state, double[::1] term) noexcept nogil
cdef double pairs_won(long long n, long long before, Float[::1] gain, long long i) noexcept nogil
cdef double best_value(long long n, int kind, Float[::1] gain, long long[::1] order, double[::1] state, double[::1] term) noexcept nogil
cdef void step_weights(long long n, Float[::1] score, Float[::1] discounts, long long[::1] order, double[::1] shift, double[::1] weight) noexcept nogil
cpdef double expected_loss(long long n, Float[::1] score, Float[::1] gain, int kind, long long cutoff, Float[::1] discount, Float[:, ::1] discounts, Int[::1] step_ptr, Int[::1] target, Int[::1] item, long long[::1] order, double[:, ::1] work, double[::1] out) noexcept nogil
cpdef void sample(Float[::1] label, Float[::1] draws, long long[::1] chosen, long long[:, ::1] spare) noexcept nogil
cdef long long unchosen(long long n_levels, Int[::1] chosen, long long place) noexcept nogil
cdef void sample_levels(Float[::1] label, long long n_levels, Float[::1] draws, long long[::1] chosen, long long[:, ::1] spare) noexcept nogil
