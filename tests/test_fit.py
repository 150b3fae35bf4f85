"""``juryrank.fit``: a fitted model from data in any form."""

import pytest

import juryrank as jr
from juryrank.errors import DataError, NotFittedError, ParameterError
from juryrank.models import to_json

RUNS = {
    "bm25": {"1": ["a", "b", "c"], "2": ["d", "e", "f"]},
    "dense": {"1": ["b", "a", "c"], "2": ["e", "d", "f"]},
}
LABELS = {"1": {"a": 0, "b": 1, "c": 0}, "2": {"d": 0, "e": 1, "f": 0}}


def written(folder):
    for expert, queries in RUNS.items():
        lines = [
            f"{q} Q0 {item} {n} {1 / n} {expert}" for q, items in queries.items() for n, item in enumerate(items, 1)
        ]
        (folder / f"{expert}.run").write_text("\n".join(lines) + "\n")
    return [folder / f"{expert}.run" for expert in RUNS]


def test_every_form_of_the_data_gives_the_same_model(tmp_path):
    expected = jr.method("ridge").fit(jr.from_dicts(RUNS, labels=LABELS))
    data = jr.from_dicts(RUNS)
    for given in (RUNS, data, data.rankings, written(tmp_path)):
        assert to_json(jr.fit(given, "ridge", labels=LABELS)) == to_json(expected)
    assert jr.fit(jr.from_dicts(RUNS, labels=LABELS)).name == "jury"


def test_labels_are_for_validation_queries_too():
    assert jr.fit(RUNS, "lambdarank", labels=LABELS, valid=RUNS).name == "lambdarank"
    with pytest.raises(DataError, match="learns from labels"):
        jr.fit(RUNS, "ridge")


def test_parameters_go_to_the_method_of_that_name():
    assert jr.fit(RUNS, "rrf", k=10).k == 10
    with pytest.raises(ParameterError, match="rrf has no parameter 'kk'"):
        jr.fit(RUNS, "rrf", kk=10)


def test_a_method_that_is_given_is_copied_and_takes_no_parameters():
    given = jr.RRF(k=10)
    assert jr.fit(RUNS, given).k == 10
    with pytest.raises(NotFittedError):
        given.predict(jr.from_dicts(RUNS))
    with pytest.raises(ParameterError, match="rrf has its parameters already"):
        jr.fit(RUNS, given, k=5)


def test_weights_may_name_experts_by_their_files(tmp_path):
    paths = written(tmp_path)
    paths[0] = paths[0].rename(tmp_path / "lexical.run")
    assert jr.fit(paths, "rrf", weights={"lexical": 2.0}).weights == {"bm25": 2.0}


def test_no_data_is_an_error():
    with pytest.raises(DataError, match="fit needs data"):
        jr.fit(None, "rrf")
