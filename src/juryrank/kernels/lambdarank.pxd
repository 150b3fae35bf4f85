from juryrank.kernels.elements cimport Float, Int, Int32
from juryrank.kernels.ragged cimport count_ahead, longest, stable_order

cpdef enum:  # metrics: nDCG, AP, ERR, RR, P, Kendall's tau
    GAIN, PRECISION_SUM, CASCADE, FIRST, CUT, PAIRS

cdef void places(Float[::1] score, double[::1] negated, long long[::1] order, long long[::1] out) noexcept nogil
cdef void place_sums(int kind, Float[::1] gain, Int[::1] place, long long[::1] item_at, double[::1] count, double[::1] harmonic, double[::1] reading) noexcept nogil
cdef long long relevant_place(long long n, Float[::1] count, double k) noexcept nogil
cdef void gain_changes(long long i, long long n_lower, Float[::1] gain, Float[::1] discount, double[::1] out) noexcept nogil
cdef void swap_changes(int kind, long long i, long long n_lower, Float[::1] gain, Int[::1] place, Float[::1] count, Float[::1] harmonic, long long first, long long second, long long cutoff, double[::1] out) noexcept nogil
cdef void cascade_changes(long long i, Float[::1] gain, Int[::1] place, Int[::1] item_at, Float[::1] reading, double[::1] out) noexcept nogil
cdef void pair_pushes(long long i, long long n_lower, Float[::1] score, bint near, Float[::1] odds, Float[::1] weight, double[::1] push, double[::1] out) noexcept nogil
cpdef void lambdas(Float[::1] score, Float[::1] label, Float[::1] gain, int kind, long long cutoff, Float[::1] discount, double whole, long long[:, ::1] ints, double[:, ::1] floats, double[::1] out) noexcept nogil
cdef long long n_units(Int[::1] sizes) noexcept nogil
cpdef void forward(long long lo, long long n, Int[::1] row_ptr, Int32[::1] column, Float[:, ::1] value, Int[::1] sizes, bint relu, Float[::1] weights, double[:, ::1] units) noexcept nogil
cpdef void backward(long long lo, long long n, Int[::1] row_ptr, Int32[::1] column, Float[:, ::1] value, Int[::1] sizes, bint relu, Float[::1] weights, Float[:, ::1] units, double[:, ::1] errors, double[::1] gradient) noexcept nogil
