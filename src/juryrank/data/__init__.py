"""What moves: Rankings in, Consensus out, Dataset around them."""

from juryrank.data.dataset import Dataset, Fold, Pairs, as_dataset
from juryrank.data.labels import Labels
from juryrank.data.rankings import Consensus, Rankings

__all__ = ["Consensus", "Dataset", "Fold", "Labels", "Pairs", "Rankings", "as_dataset"]
