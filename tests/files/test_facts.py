"""What is known of real datasets holds of what the readers make of them."""

import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from juryrank.data import Dataset
from juryrank.errors import DataWarning
from juryrank.io import read


@pytest.fixture(scope="module")
def mq2008(shared_data: Path) -> Dataset:
    return read(shared_data / "MQ2008-agg", features=shared_data / "MQ2008")


def test_mq2008_has_its_published_size(mq2008: Dataset) -> None:
    r = mq2008.rankings
    assert (len(mq2008), r.n_slots) == (784, 15_211)
    assert mq2008.experts == tuple(str(k) for k in range(1, 26))
    assert round(100 * (1 - r.n_entries / (25 * r.n_slots)), 1) == 65.0


def test_mq2008_has_its_published_labels(mq2008: Dataset) -> None:
    assert np.unique(mq2008.slot_labels, return_counts=True)[1].tolist() == [12_279, 2_001, 931]
    best = np.maximum.reduceat(mq2008.slot_labels, mq2008.rankings.slot_ptr[:-1])
    assert int((best == 0).sum()) == 220


def test_mq2008_keeps_the_order_of_the_file(mq2008: Dataset, shared_data: Path) -> None:
    lines = (shared_data / "MQ2008-agg/Fold1/test.txt").read_text().splitlines()
    first = lines[0].split()[1].removeprefix("qid:")
    named = [line.split("docid = ")[1].split()[0] for line in lines if f"qid:{first} " in line]
    query = mq2008[first].rankings
    assert query.items[query.slot_item].tolist() == named


def test_every_item_of_mq2008_finds_its_features_and_equal_labels(mq2008: Dataset, shared_data: Path) -> None:
    assert mq2008.features is not None
    assert mq2008.features.shape == (15_211, 46)
    assert not np.isnan(mq2008.features).any()
    other = read(shared_data / "MQ2008")
    assert other.rankings.n_lists == 0
    assert other.rankings.n_slots == 15_211
    assert mq2008.with_labels(other).slot_labels.tolist() == mq2008.slot_labels.tolist()


def test_a_feature_row_of_mq2008_is_that_of_its_item(mq2008: Dataset) -> None:
    query = mq2008["10002"]
    slot = query.rankings.items[query.rankings.slot_item].tolist().index("GX008-86-4444840")
    assert query.features[slot][[0, 2, 10, 45]].tolist() == [0.007477, 1.0, 0.471076, 0.007042]


def test_folds_of_mq2008_test_every_query_once(mq2008: Dataset) -> None:
    assert [fold.name for fold in mq2008.folds] == [f"Fold{k}" for k in range(1, 6)]
    assert sorted(q for fold in mq2008.folds for q in fold.test) == list(range(784))
    for fold in mq2008.folds:
        assert sorted(fold.train + fold.valid + fold.test) == list(range(784))


@pytest.mark.parametrize("part", ["train", "vali", "test"])
def test_a_fold_equals_its_own_file(mq2008: Dataset, shared_data: Path, part: str) -> None:
    alone = read(shared_data / f"MQ2008-agg/Fold2/{part}.txt")
    fold = mq2008.folds[1]
    among = mq2008[list({"train": fold.train, "vali": fold.valid, "test": fold.test}[part])]
    assert among.queries == alone.queries
    assert np.array_equal(among.rankings.entry_rank, alone.rankings.entry_rank)
    assert np.array_equal(among.rankings.entry_slot, alone.rankings.entry_slot)
    assert np.array_equal(among.slot_labels, alone.slot_labels)


def test_ohsumed_has_its_published_size(shared_data: Path) -> None:
    data = read(shared_data / "OHSUMED")
    assert (len(data), data.rankings.n_slots, data.rankings.n_lists) == (106, 16_140, 0)
    assert data.features is not None
    assert data.features.shape == (16_140, 45)
    assert np.unique(data.slot_labels, return_counts=True)[1].tolist() == [11_303, 2_585, 2_252]
    assert len(data.folds) == 5


def test_movielens_has_its_published_size(shared_data: Path) -> None:
    r = read(shared_data / "ml-100k/u.data").rankings
    assert (r.n_entries, len(r.experts), r.n_slots) == (100_000, 943, 1_682)
    assert r.queries == ("all",)
    assert r.entry_score is not None
    assert np.unique(r.entry_score, return_counts=True)[1].tolist() == [6_110, 11_370, 27_145, 34_174, 21_201]


def test_crowd_judgements_have_their_published_size(shared_data: Path) -> None:
    frame = pl.read_csv(shared_data / "trec2011-crowd/trec-rf10-data.txt.gz", separator="\t")
    task = frame.filter((pl.col("label") != -2) & (pl.col("gold") != -2))
    assert task.height == 89_624
    task = task.with_columns(pl.col("gold").replace(-1, None))
    columns = {"query": "topicID", "expert": "workerID", "item": "docID", "label": "gold", "score": "label"}
    with pytest.warns(DataWarning) as caught:
        data = read(task, columns=columns)
    repeated = task.height - task.n_unique(["topicID", "workerID", "docID"])
    assert [str(w.message) for w in caught] == [
        f"the table: {repeated} entries repeat an item of their list; the best is kept"
    ]
    r = data.rankings
    assert (r.n_entries + repeated, r.n_slots, len(r.experts), len(r)) == (89_624, 19_033, 762, 100)
    assert int((data.slot_labels >= 0).sum()) == 3_275


def test_trec_covid_has_its_runs_and_one_that_contradicts_itself(shared_data: Path) -> None:
    folder = shared_data / "trec-covid-round1"
    with pytest.warns(DataWarning) as caught:
        data = read(folder / "runs", labels=folder / "qrels.txt")
    assert len(caught) == 1
    assert "RUIR-doc2vec.gz: ranks and scores disagree on" in str(caught[0].message)
    assert (len(data), len(data.experts)) == (30, 12)
    assert set(data.experts) == {path.stem for path in (folder / "runs").iterdir()}
    assert data.labels is not None
    assert len(data.labels.label_value) == len((folder / "qrels.txt").read_text().splitlines())


def test_robust03_has_its_runs_two_of_them_shallow(shared_data: Path) -> None:
    folder = shared_data / "robust03"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = read(folder / "runs", labels=folder / "qrels.txt")
    r = data.rankings
    assert (len(data), len(data.experts), r.n_lists) == (100, 17, 1_700)
    depth = {expert: r.list_size[r.list_expert == k].max() for k, expert in enumerate(r.experts)}
    assert depth.pop("NLPR03vb10") <= 20
    assert depth.pop("humR03dc") == 100
    assert min(depth.values()) > 100


def test_sushi_has_its_published_votes(shared_data: Path) -> None:
    r = read(shared_data / "preflib/00014-00000001.soc").rankings
    assert (r.list_weight.sum(), r.n_lists, r.n_slots) == (5_000, 4_926, 10)
    assert set(r.list_size) == {10}
    assert "toro (fatty tuna)" in r.items
