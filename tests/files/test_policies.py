"""One policy for all formats: duplicates, ties, gaps, empty lists, items and queries that somebody leaves out."""

from pathlib import Path

import pytest

from juryrank.errors import DataWarning
from juryrank.io import read

from .sameness import lists_of, slots_of

DUPLICATES = {
    "a.run": "q Q0 x 1 9 t\nq Q0 y 2 8 t\nq Q0 x 3 7 t\n",
    "a.csv": "query,item,expert,rank\nq,x,t,1\nq,y,t,2\nq,x,t,3\n",
    "a.letor": "0 qid:q 1:3 2:NULL #docid = x\n0 qid:q 1:2 2:NULL #docid = y\n0 qid:q 1:1 2:NULL #docid = x\n",
    "u.data": "t\tx\t5\t881250949\nt\ty\t4\t881250949\nt\tx\t3\t881250949\n",
    "a.soi": "# DATA TYPE: soi\n1: 1,2,1\n",
}
TIES = {
    "a.run": "q Q0 x 1 9 t\nq Q0 y 2 9 t\nq Q0 z 3 7 t\n",
    "a.csv": "query,item,expert,rank\nq,x,t,1\nq,y,t,1\nq,z,t,3\n",
    "b.csv": "query,item,expert,score\nq,x,t,4\nq,y,t,4\nq,z,t,-3\n",
    "a.letor": "0 qid:q 1:1 2:NULL #docid = x\n0 qid:q 1:1 2:NULL #docid = y\n0 qid:q 1:3 2:NULL #docid = z\n",
    "u.data": "t::x::5\nt::y::5\nt::z::3\n",
    "a.toc": "# DATA TYPE: toc\n1: {1,2},3\n",
}


@pytest.mark.parametrize("name", DUPLICATES)
def test_of_an_item_twice_in_a_list_the_best_is_kept_with_a_warning(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(DUPLICATES[name])
    with pytest.warns(DataWarning, match="1 entries repeat an item of their list; the best is kept"):
        r = read(tmp_path / name).rankings
    assert r.n_entries == 2
    assert r.slot_item[r.entry_slot].tolist() == [0, 1]
    assert r.entry_rank[0] == 1


@pytest.mark.parametrize("name", TIES)
def test_equal_values_share_the_smaller_rank(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(TIES[name])
    assert read(tmp_path / name).rankings.entry_rank.tolist() == [1, 1, 3]


def test_gaps_between_ranks_stay(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("item,expert,rank\nx,t,2\ny,t,50\n")
    assert read(tmp_path / "a.csv").rankings.entry_rank.tolist() == [2, 50]
    (tmp_path / "a.letor").write_text("0 qid:1 1:7 #docid = x\n0 qid:1 1:NULL #docid = y\n0 qid:1 1:50 #docid = z\n")
    assert read(tmp_path / "a.letor").rankings.entry_rank.tolist() == [7, 50]


def test_an_expert_who_ranks_nothing_has_no_list(tmp_path: Path) -> None:
    (tmp_path / "a.letor").write_text("0 qid:1 1:1 2:NULL #docid = x\n0 qid:2 1:1 2:1 #docid = x\n")
    data = read(tmp_path / "a.letor")
    assert [{query for query, *_ in lists_of(one)} for one in data] == [{"1"}, {"2"}]
    assert [one.rankings.n_lists for one in data] == [1, 2]


def test_a_query_where_nobody_ranks_anything_stays(tmp_path: Path) -> None:
    (tmp_path / "a.letor").write_text("0 qid:1 1:NULL 2:NULL #docid = x\n0 qid:2 1:1 2:1 #docid = x\n")
    data = read(tmp_path / "a.letor")
    assert data.queries == ("1", "2")
    assert slots_of(data) == {("1", "x"), ("2", "x")}


def test_of_several_labels_of_an_item_the_highest_is_kept_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "a.qrels").write_text("1 0 x 0\n1 0 x 2\n1 0 y 1\n1 0 y 1\n")
    with pytest.warns(DataWarning, match="1 items have several labels; the highest is kept"):
        data = read(tmp_path / "a.qrels")
    assert data.slot_labels.tolist() == [2, 1]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_order_in_which_files_are_given_changes_nothing(samples: Path, order: tuple[int, int]) -> None:
    paths = [samples / "bm25.run", samples / "dense.run"]
    data = read([paths[k] for k in order])
    assert data.experts == ("bm25", "dense")
    assert data.rankings.items.tolist() == ["d1", "d2", "d3", "d7", "d9"]
    assert data.rankings.entry_slot.tolist() == [0, 1, 2, 1, 3, 4, 5]
