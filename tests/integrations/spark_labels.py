"""Labelled lists for the tests of Spark, as rows, and what makes models the same."""

import numpy as np
import polars as pl
import pytest


def random_labelled(
    seed: int, *, n_queries: int = 12, n_items: int = 9, n_experts: int = 5, judged: float = 0.8
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Entries of partial lists with ties, and labels 0, 1 and 2 of most items; the first experts are the best ones."""
    rng = np.random.default_rng(seed)
    entries, labels = [], []
    for q in range(n_queries):
        grades = rng.integers(0, 3, n_items)
        labels += [(f"q{q}", f"i{i}", float(grades[i])) for i in range(n_items) if rng.random() < judged]
        for k in range(n_experts):
            if rng.random() < 0.1:
                continue
            noisy = grades + rng.normal(0, 0.5 + k, n_items)
            listed = np.argsort(-noisy)[: rng.integers(2, n_items)]
            ranks = np.sort(rng.integers(1, n_items + 2, len(listed)))
            entries += [(f"q{q}", f"i{i}", f"e{k}", float(r)) for i, r in zip(listed, ranks, strict=True)]
    names = {"query": pl.String, "item": pl.String}
    return (
        pl.DataFrame(entries, schema={**names, "expert": pl.String, "rank": pl.Float64}, orient="row"),
        pl.DataFrame(labels, schema={**names, "label": pl.Float64}, orient="row"),
    )


def labels_of(data) -> pl.DataFrame:
    """The labels of a Dataset as one row each."""
    labels = data.labels
    query = np.repeat(np.arange(len(labels)), np.diff(labels.label_ptr))
    names = {"query": pl.Series(labels.queries).gather(query), "item": pl.Series(labels.items[labels.label_item])}
    return pl.DataFrame({**names, "label": labels.label_value})


def assert_same_model(found, expected):
    """What was learned to 1e-9, what is told of it to the last letter."""
    assert found.params() == expected.params()
    assert_same_parts(found.learned(), expected.learned())
    assert found.report() == expected.report()
    assert found.verdict().choice == expected.verdict().choice


def assert_same_parts(ours, theirs):
    for name, value in theirs.items():
        if isinstance(value, np.ndarray):
            np.testing.assert_allclose(ours[name], value, rtol=1e-9, atol=1e-9, err_msg=name)
        elif isinstance(value, dict):
            assert ours[name] == pytest.approx(value, rel=1e-9)
        else:
            assert ours[name] == value, name
