"""Decimal text becomes the double that Python makes of it, or is handed over."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from juryrank.kernels.decimals import HARD, ODD, decimal, number_at


def read(text: str) -> tuple[float, int]:
    """The number, digit by digit and eight digits at a time."""
    data = np.frombuffer(bytearray(text.encode() + b" " + bytes(16)), np.uint8)
    value, kind = decimal(data, 0, len(text))
    with np.errstate(over="ignore"):  # without Numba, numpy warns of integers that wrap around
        fast, fast_kind, end = number_at(data, 0)
    assert (repr(float(fast)), fast_kind, end) == (repr(float(value)), kind, len(text))
    return value, kind


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(0.1)
@example(-0.0)
@example(0.032266458495966696)
@example(9007199254740993.0)
def test_a_double_comes_back_from_its_text(value: float) -> None:
    found, kind = read(repr(value))
    assert kind == HARD or (found, str(found)) == (value, str(value))


@given(st.integers(0, 10**18 - 1), st.integers(1, 22), st.booleans())
@example(9007199254740993, 1, False)
@example(500000000000000005, 18, False)
def test_any_plain_decimal_is_rounded_once(mantissa: int, fraction: int, negative: bool) -> None:
    digits = str(mantissa).zfill(fraction + 1)
    text = f"{'-' * negative}{digits[:-fraction]}.{digits[-fraction:]}"
    found, kind = read(text)
    assert kind == HARD or found == float(text)


def test_numbers_of_ordinary_length_are_not_handed_over() -> None:
    rng = np.random.default_rng(0)
    handed_over = sum(read(repr(value))[1] != 0 for value in rng.random(2000).tolist())
    assert handed_over < 20


@pytest.mark.parametrize("text", ["", "-", ".", "1.2.3", "1e", "1e+", "1x", "nan", "inf", "+1", "1_0", "0x1", "--1"])
def test_what_is_no_plain_decimal_is_odd(text: str) -> None:
    assert read(text)[1] == ODD


@pytest.mark.parametrize("text", ["1e5", "1E-7", "1.5e+300", "1234567890123456789", "0." + "1" * 30])
def test_other_numbers_are_handed_over(text: str) -> None:
    assert read(text)[1] == HARD
