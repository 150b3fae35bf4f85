"""Unstated parameters: what validation queries choose is what a loop over folds and values chooses."""

import numpy as np
import pytest
from letor_sample import write_letor

import juryrank
from studies.papers import validated
from studies.papers.experiment import Context
from studies.papers.folds import own_splits


@pytest.fixture
def context(tmp_path):
    write_letor(tmp_path / "data" / "MQ2008-agg")
    return Context(tmp_path / "data", tmp_path / "out")


def test_each_fold_has_the_value_with_the_highest_map_on_its_validation_queries(context):
    table = validated.study("www2012", context).tables[1]
    shown = {(row[0], row[1]): row for row in table.rows}
    data = juryrank.read(context.data / "MQ2008-agg")
    for grid in validated.GRIDS["www2012"]:
        if grid.method == "theta-mpm":  # it learns
            continue
        chosen, test = [], []
        for split in own_splits(data):
            means = []
            for value in grid.values:
                model = juryrank.method(grid.method, **grid.params, **{grid.parameter: value})
                both = []
                for part in (split.valid[0::2], split.valid[1::2]):
                    some = data.take(part)
                    ranked = model.fit_predict(some)
                    both.append(juryrank.evaluate(ranked, some, "AP", convention="letor")["AP"])
                means.append(np.mean(both))
            best = grid.values[int(np.argmax(means))]
            model = juryrank.method(grid.method, **grid.params, **{grid.parameter: best})
            some = data.take(split.test)
            chosen.append(f"{best:g}")
            test.append(juryrank.evaluate(model.fit_predict(some), some, "AP", convention="letor")["AP"])
        row = shown[grid.label, grid.parameter]
        assert row[2] == " ".join(chosen)
        assert row[4] == f"{100 * np.mean(test):.2f}"


def test_quick_compares_two_values(context):
    quick = Context(context.data, context.out, quick=True)
    assert len(validated.study("cikm2013", quick).tables[0].rows) == 4
