from cpython.pycapsule cimport PyCapsule_GetPointer
from juryrank.kernels.choices cimport DAVIDSON, LISTWISE, LOGISTIC, NO_TIES, PROBIT, davidson, pass_over_lists, probit, rao_kupper
from juryrank.kernels.elements cimport Float, Int, Int32
from juryrank.kernels.lists cimport Lists, Pairs
from juryrank.kernels.ragged cimport longest
from juryrank.kernels.strengths cimport Newton

ctypedef struct bitgen_t:  # NumPy's C interface to bit generators
    void *state
    unsigned long long (*next_uint64)(void *state) noexcept nogil
    unsigned int (*next_uint32)(void *state) noexcept nogil
    double (*next_double)(void *state) noexcept nogil
    unsigned long long (*next_raw)(void *state) noexcept nogil

cdef class Draws:
    cdef object rng
    cdef bitgen_t *bits

    cdef double uniform(self) noexcept nogil
    cdef void poisson(self, Float[::1] mean, Float[::1] none, Float[::1] scale, double[::1] out) noexcept nogil
    cdef double few(self, double mean, double none) noexcept nogil
    cdef double many(self, double mean) noexcept nogil

cdef class Slopes:
    cdef Lists lists
    cdef long long link, n
    cdef Float[::1] x
    cdef double[::1] slope, worth, diagonal, rate, left

    cdef void add_list(self, long long m) noexcept nogil
