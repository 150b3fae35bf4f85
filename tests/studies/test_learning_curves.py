"""Learning curves: from a few labelled queries on, the default is not below RRF; methods with parameters."""

import numpy as np
import pytest

import juryrank
from studies import learning_curves


@pytest.mark.filterwarnings("ignore::juryrank.DataWarning")
@pytest.mark.parametrize("name", ["MQ2008-agg", "trec-covid-round1", "OHSUMED"])
def test_from_five_labelled_queries_on_the_mean_of_jury_is_not_below_rrf(name, shared_data):
    gains = learning_curves.measure_all("jury", [name]).gains[name, "jury"]
    enough = np.array(learning_curves.SIZES) >= 5
    assert (gains[enough].mean(axis=1) >= 0).all()


@pytest.mark.filterwarnings("ignore::juryrank.DataWarning")
def test_with_very_few_labels_the_default_prior_keeps_one_set_and_gains_on_another(shared_data):
    found = learning_curves.measure_all("jury:prior=equal,jury", ["MQ2008-agg", "OHSUMED"])
    before, now = (found.gains["MQ2008-agg", name] for name in ("jury:prior=equal", "jury"))
    assert np.abs(now - before).max() < 1e-12  # lists with gaps
    before, now = (found.gains["OHSUMED", name] for name in ("jury:prior=equal", "jury"))
    assert (now.mean(axis=1) > before.mean(axis=1)).all()
    text = found.render("markdown")
    assert f"{100 * (now - before).mean(axis=1)[0]:+.2f} ±" in text


def test_methods_have_parameters_after_a_colon():
    methods = learning_curves.parse_methods("jury:prior=equal,scores=true, ridge")
    assert list(methods) == ["jury:prior=equal,scores=true", "ridge"]
    assert methods["jury:prior=equal,scores=true"].params()["scores"] is True
    with pytest.raises(juryrank.errors.ParameterError, match="prio"):
        learning_curves.parse_methods("jury:prio=equal")


def test_shallow_judgements_are_those_of_the_first_items_of_rrf():
    runs = {"a": {"q": ["x", "y", "z"]}, "b": {"q": ["y", "x", "w"]}}
    data = juryrank.from_dicts(runs, labels={"q": {"x": 2, "z": 1}})
    assert learning_curves.labels_of_first(data, 2) == {"q": {"x": 2.0, "y": 0.0}}
