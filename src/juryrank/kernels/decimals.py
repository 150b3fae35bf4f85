"""Decimal text to the nearest double, for the numbers that most files hold."""

import numpy as np

from juryrank.kernels.jit import kernel
from juryrank.kernels.words import HIGHS, LOWS, ONES, eight_bytes, first_marked_byte, word_end

POINT, MINUS = 46, 45
ZEROS, ABOVE_9 = np.uint64(48) * ONES, np.uint64(128 - 10) * ONES  # the digit 0 eight times; added to a byte above 9
TENS = np.array([10**n for n in range(9)], np.uint64)
TEN_TO = 10.0 ** np.arange(23)  # exact in double precision
SPLITTER = 134217729.0  # 2^27 + 1: cuts a double into two halves of 26 bits
ODD, HARD = -1, 1
DIGITS = 18  # as many always fit into 64 bits
DOUBT = 2.0**-98  # of a quotient: more than the division of ``quotient`` can be wrong by


@kernel
def number_at(data, start):
    """The number in the word that begins at ``start``, the kind as of ``decimal``, and the end of the word."""
    first = start + 1 if data[start] == MINUS else start
    mantissa, at = append_digits(data, first, np.uint64(0))
    digits, fraction = at - first, 0
    if data[at] == POINT:
        first = at + 1
        mantissa, at = append_digits(data, first, mantissa)
        fraction = at - first
        digits += fraction
    if data[at] > 32 or digits == 0 or digits > DIGITS:
        at = word_end(data, start)
        value, kind = decimal(data, start, at)
        return value, kind, at
    value, kind = quotient(np.int64(mantissa), fraction)
    return (-value if data[start] == MINUS else value), kind, at


@kernel
def append_digits(data, at, number):
    """The number followed by the digits at ``at``, and where they end; up to 18 digits fit, more wrap around."""
    while True:
        found = eight_bytes(data, at) ^ ZEROS
        marks = (((found & LOWS) + ABOVE_9) | found) & HIGHS  # of the bytes that are not digits
        count = 8
        if marks != 0:
            count = first_marked_byte(marks)
            found = (found << np.uint64(8)) << np.uint64(56 - 8 * count)  # zeros before the digits
        # Digits become pairs, then fours, then all eight, each by one multiplication.
        found = ((found * np.uint64(10 * 2**8 + 1)) >> np.uint64(8)) & np.uint64(0x00FF00FF00FF00FF)
        found = ((found * np.uint64(100 * 2**16 + 1)) >> np.uint64(16)) & np.uint64(0x0000FFFF0000FFFF)
        found = (found * np.uint64(10000 * 2**32 + 1)) >> np.uint64(32)
        number = number * TENS[count] + found
        at += count
        if count < 8:
            return number, at


@kernel
def decimal(data, start, stop):
    """The number in data[start:stop], and 0, HARD (a number that needs more care) or ODD (no plain decimal)."""
    at = start + 1 if start < stop and data[start] == MINUS else start
    seen, digits, fraction, mantissa, point = 0, 0, 0, 0, False
    while at < stop:
        c = int(data[at])
        if 48 <= c <= 57:
            seen += 1
            fraction += point
            digits += digits > 0 or c > 48  # leading zeros do not count
            if digits <= DIGITS:
                mantissa = 10 * mantissa + (c - 48)
        elif c == POINT and not point:
            point = True
        else:
            break
        at += 1
    if seen == 0:
        return 0.0, ODD
    if at < stop:
        return 0.0, exponent(data, at, stop)
    if digits > DIGITS:
        return 0.0, HARD
    value, kind = quotient(mantissa, fraction)
    return (-value if data[start] == MINUS else value), kind


@kernel
def exponent(data, at, stop):
    """HARD where data[at:stop] is ``e`` and a whole number, else ODD."""
    if data[at] != 101 and data[at] != 69:
        return ODD
    at += 1
    if at < stop and (data[at] == 45 or data[at] == 43):
        at += 1
    if at == stop:
        return ODD
    for i in range(at, stop):
        if not 48 <= data[i] <= 57:
            return ODD
    return HARD


@kernel
def quotient(mantissa, fraction):
    """The double nearest to mantissa / 10^fraction, and 0; HARD if this arithmetic cannot decide."""
    high = float(mantissa)
    if fraction == 0:
        return high, 0
    if fraction > 22:
        return 0.0, HARD
    ten = TEN_TO[fraction]
    first = high / ten
    if mantissa <= 1 << 53:  # both are exact, so the quotient is rounded once
        return first, 0
    # One step of long division in twice the precision: what is left over after ``first``, divided again.
    a = SPLITTER * first
    a_high = a - (a - first)
    a_low = first - a_high
    b = SPLITTER * ten
    b_high = b - (b - ten)
    b_low = ten - b_high
    product = first * ten
    lost = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    second = (((high - product) - lost) + float(mantissa - int(high))) / ten
    doubt = first * DOUBT
    value = first + (second + doubt)
    return value, (0 if value == first + (second - doubt) else HARD)
