"""The study of CIKM 2012: the printed learner, and what the overview says of each table and figure."""

import pytest

from conftest import random_dataset
from juryrank import method
from studies.papers import cikm2012, crowd
from studies.papers.findings import Claim


def test_the_printed_learner_has_four_weights_for_each_expert_and_ours_three():
    data = random_dataset(1)
    for trial, count in ((cikm2012.LOG, 4), (cikm2012.OWN, 3)):
        model = method(trial.name, **{**trial.params, "epochs": 2}).fit(data)
        assert {len(weights) for weights in model.expert_weights().values()} == {count}
    for trial in (cikm2012.BINARY, cikm2012.RANK, cikm2012.LOG):
        params = method(trial.name, **trial.params).params()
        assert (params["rank"], params["rate"], params["epochs"], params["decay"]) == (1, 0.01, 200, 0.0)


@pytest.mark.parametrize(
    ("held", "noisy", "start"),
    [
        ((True, True), (False, False), "reproduced"),
        ((True, True), (False, True), "reproduced except that “b” is within noise (2)"),
        ((True, False), (False, False), "reproduced except that “b” is not confirmed (2)"),
        ((False, False), (False, True), "not reproduced: “a” is not confirmed (1); “b” is within noise (2)"),
    ],
)
def test_the_verdict_names_the_claims_that_do_not_hold(held, noisy, start):
    claims = [Claim(text, value, h, n) for text, value, h, n in zip("ab", "12", held, noisy, strict=True)]
    assert cikm2012._verdict_of(claims) == start


def test_the_crowd_runs_as_printed_with_every_seed():
    for name in cikm2012.LR_CROWD:
        trial = crowd.TRIALS[name]
        assert crowd.drawn(trial)
        assert crowd.PRINTED.items() <= trial.params.items()
        assert "threshold" not in trial.params
        assert trial.chosen == (name != "LR-consensus")
    assert crowd.TRIALS["LR-labelled"].labelled_only
    assert not crowd.TRIALS["LR-unlabelled"].labelled_only
