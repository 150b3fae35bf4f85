"""Data: Rankings in, Consensus out; a Dataset is Rankings with labels, features and folds."""

from juryrank.data.consensus import Consensus
from juryrank.data.dataset import Dataset, Fold, Pairs, as_dataset
from juryrank.data.labels import Labels
from juryrank.data.rankings import Rankings

__all__ = ["Consensus", "Dataset", "Fold", "Labels", "Pairs", "Rankings", "as_dataset"]
