from juryrank.kernels.choices cimport LOGISTIC
from juryrank.kernels.elements cimport Float, Int
from juryrank.kernels.lists cimport Lists, PairCounter, Pairs, room_for_pairs
from juryrank.kernels.pairwise cimport SlotIndex
from juryrank.kernels.ragged cimport longest
from juryrank.kernels.strengths cimport INFINITY, SHORTEST, Newton

cdef class Crowd:
    cdef Lists lists
    cdef SlotIndex index
    cdef Newton newton
    cdef Float[::1] reliability
    cdef double[::1] correct, pull, curve, chance
    cdef double[:, ::1] rows, terms

    cdef double evaluate(self) noexcept nogil
    cdef long long maximise(self, double precision, double tol, long long max_iter) noexcept nogil
