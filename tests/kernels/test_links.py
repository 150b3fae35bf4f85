"""Slopes and curvatures of single pairs against finite differences of their log likelihoods."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_ndtr
from scipy.stats import norm

from juryrank.kernels.choices import davidson, mills, probit, rao_kupper

leads = st.floats(-6, 6)
tie_parameters = st.floats(0.05, 3)
counts = st.tuples(*[st.floats(0, 5)] * 3)


def davidson_value(d, t, won, lost, tied):
    total = math.log(math.exp(d / 2) + math.exp(-d / 2) + math.exp(t))
    return won * (d / 2 - total) + lost * (-d / 2 - total) + tied * (t - total)


def rao_kupper_value(d, t, won, lost, tied):
    win, lose = 1 / (1 + math.exp(t - d)), 1 / (1 + math.exp(t + d))
    return won * math.log(win) + lost * math.log(lose) + tied * math.log(1 - win - lose)


@pytest.mark.parametrize(("terms", "value"), [(davidson, davidson_value), (rao_kupper, rao_kupper_value)])
@given(d=leads, t=tie_parameters, games=counts)
def test_slopes_and_curvatures_are_those_of_the_likelihood(terms, value, d, t, games):
    slope, curve, slope_t, curve_t, cross = terms(d, t, *games)
    h = 1e-5
    assert (value(d + h, t, *games) - value(d - h, t, *games)) / (2 * h) == pytest.approx(slope, abs=1e-5)
    assert (value(d, t + h, *games) - value(d, t - h, *games)) / (2 * h) == pytest.approx(slope_t, abs=1e-4, rel=1e-5)
    up, down = terms(d + h, t, *games), terms(d - h, t, *games)
    assert (down[0] - up[0]) / (2 * h) == pytest.approx(curve, abs=1e-6)
    assert (down[2] - up[2]) / (2 * h) == pytest.approx(cross, abs=1e-6)
    high, low = terms(d, t + h, *games), terms(d, t - h, *games)
    assert (low[2] - high[2]) / (2 * h) == pytest.approx(curve_t, abs=1e-3, rel=1e-3)


@given(d=leads, games=counts)
def test_the_normal_link_has_the_slope_and_curvature_of_its_likelihood(d, games):
    won, lost, _ = games
    slope, curve = probit(d, won, lost)
    h = 1e-5
    value = [won * log_ndtr(d + s) + lost * log_ndtr(-d - s) for s in (-h, h)]
    assert (value[1] - value[0]) / (2 * h) == pytest.approx(slope, abs=1e-5)
    assert (probit(d - h, won, lost)[0] - probit(d + h, won, lost)[0]) / (2 * h) == pytest.approx(curve, abs=1e-5)


@given(st.floats(-300, 8))
def test_density_over_distribution_is_exact_far_out(x):
    exact = np.exp(norm.logpdf(x) - log_ndtr(x))
    assert mills(x) == pytest.approx(exact, rel=1e-9)
