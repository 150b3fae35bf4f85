"""Datasets of every shape, for hypothesis."""

from dataclasses import replace

import numpy as np
import polars as pl
from hypothesis import strategies as st

from juryrank.data import Dataset
from juryrank.data.long_table import from_long

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Z"]), min_size=1, max_size=6)
NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=6)
NUMBERS = st.floats(-1e6, 1e6, allow_subnormal=False)
TEXT = {"query": pl.String, "item": pl.String}


@st.composite
def datasets(
    draw: st.DrawFn,
    names: st.SearchStrategy[str] = NAMES,
    *,
    scores: bool | None = None,
    weights: bool = False,
    one_query: bool = False,
    pairs: bool = False,
    features: bool = False,
) -> Dataset:
    """Partial lists with ties and gaps, items nobody ranks, labels for some; ``pairs``: every list has two items."""
    items = draw(st.lists(names, min_size=2, max_size=5, unique=True))
    queries = ["all"] if one_query else draw(st.lists(names, min_size=1, max_size=3, unique=True))
    experts = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    scored = draw(st.booleans()) if scores is None else scores
    rows: list[tuple[object, ...]] = []
    for query in queries:
        for expert in experts:
            size = 2 if pairs else draw(st.integers(0, len(items)))
            listed = draw(st.permutations(items))[:size]
            weight = float(draw(st.integers(1, 5))) if weights else 1.0
            values = draw(st.lists(NUMBERS if scored else st.integers(1, 9), min_size=size, max_size=size))
            rows += [(query, i, expert, float(v), weight) for i, v in zip(listed, values, strict=True)]
    value = "score" if scored else "rank"
    schema = {**TEXT, "expert": pl.String, value: pl.Float64, "weight": pl.Float64}
    every = [(query, item) for query in queries for item in items]
    judged = draw(st.lists(st.sampled_from(every), unique=True))
    label_weight = st.sampled_from([0.0, 0.25, 1.0, 1.5]) if weights else st.just(1.0)
    labels = [(*slot, float(draw(st.integers(0, 3))), draw(label_weight)) for slot in judged]
    label_schema = {**TEXT, "label": pl.Float64, "label_weight": pl.Float64}
    data = from_long(
        pl.DataFrame(rows, schema=schema, orient="row"),
        candidates=pl.DataFrame(every, schema=TEXT, orient="row"),
        labels=pl.DataFrame(labels, schema=label_schema, orient="row") if labels else None,
    )
    if not features:
        return data
    width = draw(st.integers(1, 3))
    values = draw(st.lists(NUMBERS, min_size=len(every) * width, max_size=len(every) * width))
    matrix = np.array(values).reshape(len(every), width)
    return replace(data, features=matrix, feature_names=tuple(str(k + 1) for k in range(width)))
