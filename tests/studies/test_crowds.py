"""The study of labels from crowds, on small crowds."""

import polars as pl

from studies.crowds import Crowd, right_share
from studies.speed.clock import Effort
from studies.speed.crowd import measure
from studies.speed.inputs import Inputs, random_dataset


def test_shares_of_right_labels_are_counted_over_known_tasks() -> None:
    answers = pl.DataFrame({"task": ["a", "b", "c"], "worker": ["w"] * 3, "label": ["1", "2", "2"]})
    crowd = Crowd(answers, {"a": "1", "b": "1"}, ("1", "2"))
    assert right_share(crowd, {"a": "1", "b": "2", "c": "1"}) == 0.5


def test_the_bench_compares_the_same_steps(tmp_path) -> None:
    rows, targets = measure(Inputs(random_dataset(2, 2), "two queries.", tmp_path), Effort.QUICK)
    assert any("simulated crowd" in row.task for row in rows)
    assert targets
