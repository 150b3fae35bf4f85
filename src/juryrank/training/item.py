"""Features that the items have of themselves."""

from collections.abc import Sequence

from juryrank.data import Dataset
from juryrank.data.rankings import Floats
from juryrank.errors import DataError


def item(data: Dataset, experts: Sequence[str]) -> Floats:
    """The item features of the data set, as they are."""
    if data.features is None:
        raise DataError("the data has no item features; read it with features=…")
    return data.features
