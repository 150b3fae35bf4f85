"""Weights say how much a list counts beside the others: their unit must not matter."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from juryrank.data.build import from_orders
from juryrank.methods import consensus_methods, method

# A prior, a rating that moves by games, a logarithm of a count or an order statistic counts lists: twice the weight is
# twice the evidence.
COUNTS_LISTS = {
    "bradley-terry", "crowd-bt", "elo", "plackett-luce", "plackett-luce-gamma", "thurstone", "trueskill", "weng-lin",
    "hodge-rank", "log-isr", "mpm", "rank-centrality", "rra",
}  # fmt: skip
# Their scores are places, votes or counts of wins: not one may change.
BY_MAJORITY = {"condorcet", "copeland", "cps", "generalised-mallows", "kemeny", "mallows", "mc4", "outranking"}
SCALES = (1e-7, 1 / 3, 1e7)
WEIGHTS = {"whole": (1, 2, 3), "decimal": (0.1, 0.2, 0.3), "wild": (1e-3, 0.7, 12.5, 2e4)}


def votes(seed, kind, scale):
    """Lists of up to seven items, with weights that often add up to ties."""
    rng = np.random.default_rng(seed)
    items = [f"i{i}" for i in range(7)]
    lists = [rng.permutation(items)[: rng.integers(2, 8)].tolist() for _ in range(9)]
    return from_orders(lists, weights=(scale * rng.choice(WEIGHTS[kind], 9)).tolist())


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("name", [name for name in consensus_methods() if name not in COUNTS_LISTS])
def test_weights_in_another_unit_change_nothing_in_the_order(name, kind):
    for seed in range(4):
        once = method(name).fit_predict(votes(seed, kind, 1)).scores
        for scale in SCALES:
            scores = method(name).fit_predict(votes(seed, kind, scale)).scores
            if name in BY_MAJORITY:
                assert_array_equal(scores, once, err_msg=f"{seed} {scale}")
            lead, lead_once = scores[:, None] - scores, once[:, None] - once
            apart = np.abs(lead_once) > 1e-9 * np.abs(once).max()
            assert_array_equal(np.sign(lead[apart]), np.sign(lead_once[apart]), err_msg=f"{seed} {scale}")
            assert (np.abs(lead[~apart]) <= 1e-8 * np.abs(scores).max()).all()
