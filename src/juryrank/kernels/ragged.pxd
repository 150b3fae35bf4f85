from juryrank.kernels.elements cimport Byte, Float, Int

cdef extern from *:
    """
    #include <limits.h>
    #include <string.h>

    static inline long long number_key(double x) {
        long long bits;
        x += 0.0;
        memcpy(&bits, &x, sizeof bits);
        return x != x ? LLONG_MAX : bits ^ (long long) ((unsigned long long) (bits >> 63) >> 1);
    }
    """
    long long number_key(double x) noexcept nogil  # integers in the order of numbers; -0.0 is 0.0, NaN is last

cdef long long longest(long long first, long long last, Int[::1] ptr) noexcept nogil
cdef int merge_sort(long long n, long long[:, ::1] table) noexcept nogil
cdef int digit_sort(long long n, long long[:, ::1] table, long long[:, ::1] count) noexcept nogil
cdef bint count_ahead(Float[::1] values, long long[::1] out) noexcept nogil
cdef void stable_order(Float[::1] values, long long[::1] order, long long[::1] spare) noexcept nogil
cdef bint before(double x, double y) noexcept nogil
