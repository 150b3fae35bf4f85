"""The study of supervised aggregation takes the experts that it says it takes."""

import numpy as np
import pytest

import juryrank
from studies.ohsumed import ohsumed
from studies.papers.folds import rotation
from studies.papers.www2007 import PARTS


@pytest.fixture(scope="module")
def raw(shared_data):
    return juryrank.read(shared_data / "OHSUMED")


def columns_by_query(raw, column):
    ptr = raw.rankings.slot_ptr
    return [raw.features[ptr[q] : ptr[q + 1], column] for q in range(len(raw))]


def test_thirty_experts_rank_every_item(shared_data, raw):
    data = ohsumed(shared_data / "OHSUMED")
    r = data.rankings
    assert (len(data), len(r.experts), r.n_entries) == (106, 30, 30 * 16_140)
    assert len(set(r.experts)) == 30
    place = r.experts.index("abstract BM25")
    (m,) = np.flatnonzero((r.list_query == 7) & (r.list_expert == place))
    entries = slice(r.entry_ptr[m], r.entry_ptr[m + 1])
    score = raw.features[r.entry_slot[entries], 25]
    assert (np.diff(score) <= 0).all()
    assert ((np.diff(score) == 0) == (np.diff(r.entry_rank[entries]) == 0)).all()
    assert r.entry_rank[entries][0] == 1


def test_the_features_left_out_say_nothing_more(raw):
    for stream in (0, 15, 30):
        for idf in (4, 5, 6):
            assert all(np.ptp(values) == 0 for values in columns_by_query(raw, stream + idf))
    for bm25, logarithm in zip(columns_by_query(raw, 10), columns_by_query(raw, 11), strict=True):
        assert (np.diff(logarithm[np.argsort(bm25)]) >= 0).all()


def test_the_rotation_is_that_of_the_paper(shared_data):
    folds = rotation(ohsumed(shared_data / "OHSUMED"), PARTS)
    assert sorted(q for fold in folds for q in fold.test) == list(range(106))
    assert {len(fold.train) for fold in folds} <= {52, 53, 54}
    assert all(not set(fold.train) & {*fold.valid, *fold.test} for fold in folds)
