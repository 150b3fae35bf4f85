"""The study of the advice on judging: what it says, against the truth on held-out queries."""

import numpy as np
import pytest

import juryrank
from conftest import partly_judged
from studies import advice
from studies.judging import Judge, judging_plan
from studies.learning_curves import Collection


@pytest.mark.filterwarnings("ignore::juryrank.DataWarning")
def test_the_truth_is_that_of_the_held_out_queries() -> None:
    data = partly_judged(60, n_judged=15, knowing=2)
    cases = advice.measure(data, Collection("nDCG@10", "trec"), draws=2, name="simulated", numbers=(50, 100))
    assert [(case.data, case.judgements) for case in cases] == [("simulated", 50), ("simulated", 100)] * 2
    order = np.random.default_rng(advice.FIRST_SEED).permutation(60)
    train, test = (data.take(np.sort(part)) for part in (order[:30], order[30:]))
    slots = judging_plan(Judge(train), 0, (50, 100, 150, 200))

    def value(model: juryrank.methods.Aggregator) -> float:
        return float(juryrank.evaluate(model.predict(test), test, "nDCG@10")["nDCG@10"])

    of_jury = [value(juryrank.fit(Judge(train).judge(slots[:n]), "jury")) for n in (50, 100, 150, 200)]
    rrf = value(juryrank.method("rrf").fit(test))
    first, second = cases[:2]
    assert first.true_gain == pytest.approx(of_jury[0] - rrf)
    assert (first.true_added, first.true_doubling) == pytest.approx((of_jury[1] - of_jury[0],) * 2)
    assert second.true_added == pytest.approx(of_jury[2] - of_jury[1])
    assert second.true_doubling == pytest.approx(of_jury[3] - of_jury[1])
    said = juryrank.judging_advice(Judge(train).judge(slots[:100]))
    assert (second.status, second.gain) == (said.status, (said.gain.mean, said.gain.low, said.gain.high))
    report = str(advice.AdviceStudy(cases))
    assert "times" in report
    assert "Correlations" in report
