from juryrank.kernels.elements cimport Float, Int
from juryrank.kernels.pairwise cimport TIE, SlotIndex, total_weight
from juryrank.kernels.ragged cimport longest, stable_order

cdef double distance_to_later(double v, long long k, long long n) noexcept nogil
cdef long long lowest_cost(long long n, Float[::1] cost, const unsigned char[::1] left, double tie) noexcept nogil
