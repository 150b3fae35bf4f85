"""From a few labelled queries on, the default is not below RRF."""

import numpy as np
import pytest

from studies import learning_curves


@pytest.mark.filterwarnings("ignore::juryrank.DataWarning")
@pytest.mark.parametrize("name", ["MQ2008-agg", "trec-covid-round1"])
def test_from_five_labelled_queries_on_the_mean_of_jury_is_not_below_rrf(name, shared_data):
    gains = learning_curves.measure_all("jury", [name]).gains[name, "jury"]
    enough = np.array(learning_curves.SIZES) >= 5
    assert (gains[enough].mean(axis=1) >= 0).all()
