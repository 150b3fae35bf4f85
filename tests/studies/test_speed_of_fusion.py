"""Peers with our formulas give our scores; ``make test`` runs this file uncompiled, because ranx compiles itself."""

from pathlib import Path

import pytest

from studies.speed.agreement import compare_scores
from studies.speed.fusion import cases, fusion
from studies.speed.inputs import Inputs, random_dataset
from studies.speed.peers import load, silent


@pytest.mark.parametrize(
    ("task", "package"),
    [("RRF", "ranx"), ("Borda", "ranx"), ("Borda", "pyflagr"), ("Copeland", "pyflagr")],
)
def test_a_peer_with_our_formula_gives_our_scores(task: str, package: str, tmp_path: Path) -> None:
    if load(package) is None:
        pytest.skip(f"{package} is not installed")
    inputs = Inputs(random_dataset(n_queries=12, n_experts=4), "twelve queries", tmp_path)
    method, peers = cases(inputs)[task]
    (other,) = (p for p in peers if p.name == package)
    call = other.call()
    assert call is not None
    with silent():
        theirs = other.plain(call())
    _, agrees = compare_scores(fusion(inputs, **method)().to_dict(), theirs, inputs.data)
    assert agrees
