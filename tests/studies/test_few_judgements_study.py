"""Metrics from shallow judgements favour what was judged."""

import numpy as np
import pytest

from studies.few_judgements import first_of, measure, sample_of


def test_judgements_are_those_of_the_first_items_or_of_a_sample():
    labels = {"q": {f"i{i}": 1.0 for i in range(1000)}}
    assert first_of({"q": ["i3", "new", "i5"]}, labels, 2) == {"q": {"i3": 1.0, "new": 0.0}}
    sampled = sample_of(labels, 0)["q"]
    assert sampled.keys() == labels["q"].keys()
    assert np.mean([label >= 0 for label in sampled.values()]) == pytest.approx(0.1, abs=0.04)


@pytest.mark.filterwarnings("ignore::juryrank.DataWarning")
def test_judgements_of_its_first_items_favour_rrf_and_condensed_lists_less(shared_data):
    orders = {(order.judged, order.treatment): order for order in measure("trec-covid-round1", shared_data, draws=1)}
    for judged in ("first 3 of RRF", "first 10 of RRF"):
        plain, condensed = orders[judged, "nDCG@10"], orders[judged, "nDCG@10, condensed"]
        assert plain.true_lead < 0 < plain.lead  # jury is better, and RRF seems to be
        assert plain.place == 1
        assert abs(condensed.lead - condensed.true_lead) < abs(plain.lead - plain.true_lead) / 2
    sample = {treatment: orders["10% of the pool", treatment].tau for treatment in ("AP", "infAP")}
    assert sample["infAP"] > sample["AP"]
