# Random numbers of a generator of NumPy, by NumPy's C interface to bit generators.
from cpython.pycapsule cimport PyCapsule_GetPointer

ctypedef struct bitgen_t:
    void *state
    unsigned long long (*next_uint64)(void *state) noexcept nogil
    unsigned int (*next_uint32)(void *state) noexcept nogil
    double (*next_double)(void *state) noexcept nogil
    unsigned long long (*next_raw)(void *state) noexcept nogil

cdef inline bitgen_t *bits_of(rng):
    return <bitgen_t *> PyCapsule_GetPointer(rng.bit_generator.capsule, "BitGenerator")

cdef inline double uniform(bitgen_t *bits) noexcept nogil:
    return bits.next_double(bits.state)
