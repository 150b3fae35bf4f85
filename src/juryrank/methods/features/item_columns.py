"""Item features as columns: standardised in each query."""

import numpy as np

from juryrank.data import Dataset
from juryrank.data.arrays import Floats
from juryrank.errors import DataError, warn_about_data
from juryrank.learning.per_query import standardise, sum_by_query


def feature_columns(name: str, data: Dataset, n_features: int | None = None) -> Floats:
    """[n_slots, n_features]; an unknown value is replaced by the mean of its query, with a warning that counts them."""
    x, ptr = item_features(name, data, n_features), data.rankings.slot_ptr
    unknown = ~np.isfinite(x)
    if unknown.any():
        text = f"{name}: {int(unknown.sum())} unknown values of item features are replaced by the mean of their query"
        warn_about_data(text)
        known = sum_by_query(ptr, (~unknown).astype(np.float64))
        mean = sum_by_query(ptr, np.where(unknown, 0.0, x)) / np.maximum(known, 1.0)
        x = np.where(unknown, np.repeat(mean, data.rankings.query_size, axis=0), x)
    return standardise(ptr, x)


def item_features(name: str, data: Dataset, n_features: int | None = None) -> Floats:
    """The features of the data; a DataError where there are none, or not ``n_features``."""
    if data.features is None:
        raise DataError(f"{name} needs item features, and the data has none; read them with features=…")
    if n_features is not None and data.features.shape[1] != n_features:
        raise DataError(f"{name} was fitted on {n_features} item features, and the data has {data.features.shape[1]}")
    return data.features


def feature_names(name: str, data: Dataset) -> list[str]:
    """The names of the features; their numbers where they have none."""
    return list(data.feature_names) or [str(n + 1) for n in range(item_features(name, data).shape[1])]
