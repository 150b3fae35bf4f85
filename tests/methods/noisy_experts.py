"""What the tests of supervised aggregation share: experts of known accuracy, and lists with weights."""

from dataclasses import replace

import numpy as np
import polars as pl

from conftest import random_dataset
from juryrank.data.long_table import from_long
from juryrank.learning.labelled import LabelledQueries
from juryrank.methods.learned._chain import Problem

# Experts see the labels through noise; a1 and a2 see almost the same.
NOISE = {"a1": "a", "a2": "a", "b": "b", "c": "c"}


def noisy_experts(names, *, n_queries=150, n_items=15, noise=1.5, seed=0):
    """Queries in which each expert ranks all items by label + noise; experts of one kind share nearly all of it."""
    rows, labels = [], []
    for q in range(n_queries):
        label = np.random.default_rng([seed, q]).choice(3, n_items, p=[0.6, 0.25, 0.15])
        labels += [(f"q{q}", f"i{i}", float(label[i])) for i in range(n_items)]
        for name in names:
            shared = np.random.default_rng([seed, q, ord(NOISE[name])]).normal(size=n_items)
            own = np.random.default_rng([seed, q, *name.encode()]).normal(size=n_items)
            place = np.argsort(np.argsort(-(label + noise * shared + 0.1 * noise * own))) + 1.0
            rows += [(f"q{q}", f"i{i}", name, place[i]) for i in range(n_items)]
    entries = pl.DataFrame(rows, schema=["query", "item", "expert", "rank"], orient="row")
    return from_long(entries, labels=pl.DataFrame(labels, schema=["query", "item", "label"], orient="row"))


def weighted_lists(seed):
    """Partial lists with ties, and with weights that differ; one weighs nothing."""
    data = random_dataset(seed)
    weight = np.random.default_rng(seed).uniform(0.3, 2.0, data.rankings.n_lists)
    weight[1] = 0.0
    return replace(data, rankings=replace(data.rankings, list_weight=weight))


def problem_of(data):
    """All labelled queries as one problem, and the experts."""
    queries = LabelledQueries.of(data, "irrelevant").drop_zero_weight_lists()
    return Problem.of(queries, queries.experts), queries.experts
