from juryrank.kernels.choices cimport mills
from juryrank.kernels.elements cimport Float, Int, Int32
from juryrank.kernels.ragged cimport longest

cpdef enum:
    ELO, TRUESKILL, WENG_LIN_CHOICES, WENG_LIN_PAIRS

cdef class Game:
    cdef readonly long long room
    cdef long long kind, n
    cdef double step, scale, drift
    cdef double[::1] rank, mean, spread, move, shrink, worth, left, tied, precision, weighted
    cdef double[:, ::1] from_below, from_above
    cdef long long[::1] group

    cdef void elo_moves(self) noexcept nogil
    cdef void choice_moves(self) noexcept nogil
    cdef void pair_moves(self) noexcept nogil
    cdef void performances(self, long long n) noexcept nogil
    cdef void skill_moves(self) noexcept nogil
    cdef void play(self, Int32[::1] slot, Float[::1] rank, double weight, double[::1] mean, double[::1] spread) noexcept nogil

cdef (double, double, double, double) order_messages(double precision_1, double weighted_1, double precision_2, double weighted_2) noexcept nogil
