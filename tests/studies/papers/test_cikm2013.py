"""Claims about the weights of the CRF, and verdicts of the overview."""

import numpy as np

from studies.papers.cikm2013 import IDLE, REVERSED, USEFUL, weight_claims
from studies.papers.findings import OverviewRow
from studies.papers.overview import absent, judged, unstated


def test_a_verdict_names_what_is_not_reproduced():
    for parts, expected in (
        ({"a": True, "b": True}, "reproduced"),
        ({"a": True, "b": False, "c": False}, "reproduced except b; c"),
        ({"a": False, "b": False}, "not reproduced: a; b"),
    ):
        assert OverviewRow("Table 1", "", "", "", judged(parts)).verdict == expected
    assert absent("Table 1", "50.00", "some data").verdict == "not possible: some data is not in the folder of data"
    assert unstated([("rate", "1", "ours")]).rows == [["rate", "1", "ours"]]


def test_an_expert_is_read_backwards_if_its_mean_net_weight_over_seeds_is_negative():
    weights = {expert: np.array([[-9.0, 5.0, 1.0], [-9.0, 5.0, 1.0]]) for expert in (*USEFUL, "1")}
    weights |= {expert: np.array([[0.0, -4.0, 1.0], [0.0, -2.0, 1.0]]) for expert in REVERSED}
    weights |= {expert: np.array([[1.0, 0.1, 0.0], [1.0, 0.1, 0.0]]) for expert in IDLE}
    weights["10"] = np.array([[0.0, -4.0, 1.0], [0.0, 6.0, 0.0]])
    found = weight_claims(weights, "sums")
    assert [claim.holds for _, _, claim in found] == [True, False, True]
    short, exception, claim = found[1]
    assert short == "2 of 3 are read backwards (not 10)"
    assert exception == "experts that are read backwards: not 10"
    assert claim.measured.startswith("10: α +0 ± 0, β +2 ± 4; 11: α +0 ± 0, β -2 ± 1")


def test_a_claim_that_fails_with_one_seed_says_that_it_does_not_tell():
    weights = {expert: np.array([[-9.0, 5.0, 1.0]]) for expert in (*USEFUL, *REVERSED, *IDLE)}
    (_, _, useful), (_, exception, turned), _ = weight_claims(weights, "sums")
    assert useful.holds
    assert "one seed" not in useful.measured
    assert not turned.holds
    assert turned.measured.endswith("β +6 (one seed of a quick run, which does not tell)")
    assert exception == "experts that are read backwards: not 10, 11, 12 (one seed of a quick run, which does not tell)"
