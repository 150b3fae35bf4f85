from juryrank.kernels.choices cimport DAVIDSON, LISTWISE, LOGISTIC, NO_TIES, PROBIT, RAO_KUPPER, curve_over_lists, davidson, pass_over_lists, pass_over_pairs, rao_kupper
from juryrank.kernels.elements cimport Float, Int
from juryrank.kernels.lists cimport Lists, PairCounter, Pairs, centre, groups_of_lists, groups_of_pairs, room_for_pairs
from juryrank.kernels.ragged cimport longest

cdef double FARTHEST, SHORTEST, INFINITY

cdef class Newton:
    cdef readonly Lists lists
    cdef readonly Pairs pairs
    cdef readonly long long link, q, n
    cdef double shape, rate, precision
    cdef readonly double[::1] x, old, step, slope, diagonal, games, one, two, rest, image, direction, worth, moved, mean
    cdef long long[::1] root

    cdef void start(self, long long q, Float[::1] strengths) noexcept nogil
    cdef void evaluate(self) noexcept nogil
    cdef void curve_times(self, Float[::1] v, double[::1] out) noexcept nogil
    cdef void find_step(self, double accuracy) noexcept nogil
    cdef double store_and_limit(self) noexcept nogil
    cdef long long maximise(self, double tol, long long max_iter) noexcept nogil
    cdef void add_games(self, long long less) noexcept nogil
    cdef long long fit_pairs(self, double tol, long long max_iter, double[::1] tie, double[::1] out) noexcept nogil
    cdef long long fit_lists(self, double tol, long long max_iter, double[::1] out) noexcept nogil
    cdef void information(self, double[:, ::1] out) noexcept nogil
