from juryrank.kernels.choices cimport DAVIDSON, LISTWISE, LOGISTIC, NO_TIES, PROBIT, davidson, pass_over_lists, probit, rao_kupper
from juryrank.kernels.draws cimport bitgen_t, bits_of, uniform
from juryrank.kernels.elements cimport Float, Int, Int32
from juryrank.kernels.lists cimport Lists, Pairs
from juryrank.kernels.ragged cimport longest
from juryrank.kernels.strengths cimport Newton

cdef void poisson(bitgen_t *bits, Float[::1] mean, Float[::1] none, Float[::1] scale, double[::1] out) noexcept nogil
cdef double poisson_of_many(bitgen_t *bits, double mean) noexcept nogil

cdef class Slopes:
    cdef Lists lists
    cdef long long link, n
    cdef Float[::1] x
    cdef double[::1] slope, worth, diagonal, rate, left

    cdef void add_list(self, long long m) noexcept nogil
