from juryrank.kernels.elements cimport Float
from juryrank.kernels.lists cimport Lists, Pairs

cpdef enum:
    LOGISTIC, DAVIDSON, RAO_KUPPER, PROBIT, LISTWISE

cdef double NO_TIES, FAR

cpdef (double, double, double, double, double) davidson(double d, double t, double won, double lost, double tied) noexcept nogil
cpdef (double, double, double, double, double) rao_kupper(double d, double t, double won, double lost, double tied) noexcept nogil
cpdef double mills(double x) noexcept nogil
cpdef (double, double) probit(double d, double won, double lost) noexcept nogil
cdef void logistic_pass(Pairs pairs, Float[::1] worth, double[::1] slope, double[::1] diagonal, double[::1] curve) noexcept nogil
cdef void pass_over_pairs(long long link, Pairs pairs, long long n, Float[::1] x, Float[::1] worth, double[::1] slope, double[::1] diagonal, double[::1] curve, double[::1] cross) noexcept nogil
cdef void pass_over_lists(Lists lists, long long begin, long long end, long long lo, Float[::1] worth, double[::1] slope, double[::1] diagonal, double[::1] rate, double[::1] left) noexcept nogil
cdef void curve_over_lists(Lists lists, long long begin, long long end, long long lo, Float[::1] worth, Float[::1] moved, Float[::1] rate, Float[::1] left, double[::1] mean, double[::1] out) noexcept nogil
