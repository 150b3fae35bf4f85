"""The items that a consensus and a reference both rank, and their places."""

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.gains import mean_places
from juryrank.kernels.ragged import parents, sizes_to_ptr
from juryrank.metrics.truth import ItemGrades, JudgedConsensus


def select_common(judged: JudgedConsensus, reference: ItemGrades) -> tuple[Ints, Floats, Floats]:
    """Offsets by query, and the score and true value of each item that both rank."""
    both = ~np.isnan(reference.value)
    per_query = np.bincount(parents(judged.slot_ptr)[both], minlength=len(judged.queries))
    return sizes_to_ptr(per_query), judged.score[both], reference.value[both]


def common_places(judged: JudgedConsensus, reference: ItemGrades) -> tuple[Ints, Floats, Floats]:
    """Offsets by query, and the two places of each item that both rank; ties share the mean of their places."""
    ptr, score, truth = select_common(judged, reference)
    here, there = np.empty_like(score), np.empty_like(truth)
    mean_places(ptr, score, here)
    mean_places(ptr, truth, there)
    return ptr, here, there
