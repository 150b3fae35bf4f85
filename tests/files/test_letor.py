from pathlib import Path

import numpy as np
import pytest

from juryrank.errors import DataError, DataWarning
from juryrank.io import read

from .sameness import labels_of, lists_of, slots_of


def lines(tmp_path: Path, *texts: str, name: str = "some.txt") -> Path:
    path = tmp_path / name
    path.write_text("\n".join(texts) + "\n")
    return path


def test_ranks_labels_and_slots_are_those_of_the_file(samples: Path) -> None:
    data = read(samples / "ranks.letor.txt")
    assert data.queries == ("9", "10")
    assert data.experts == ("1", "2", "3")
    assert lists_of(data) == {
        ("10", "1", frozenset({("GX001-a", 1.0, None), ("GX001-b", 2.0, None)})): 1,
        ("10", "3", frozenset({("GX001-a", 4.0, None)})): 1,
        ("9", "1", frozenset({("GX002-a", 7.0, None)})): 1,
        ("9", "2", frozenset({("GX002-a", 3.0, None), ("GX001-a", 3.0, None)})): 1,
        ("9", "3", frozenset({("GX002-a", 7.0, None), ("GX001-a", 1.0, None)})): 1,
    }
    assert data.features is None


def test_slots_keep_the_order_of_the_file_and_items_nobody_ranks(samples: Path) -> None:
    r = read(samples / "ranks.letor.txt").rankings
    assert r.items[r.slot_item].tolist() == ["GX002-a", "GX001-a", "GX001-a", "GX001-b", "GX001-c"]


def test_the_label_minus_one_means_not_judged(samples: Path) -> None:
    assert labels_of(read(samples / "ranks.letor.txt")) == {
        ("10", "GX001-a"): 2, ("10", "GX001-b"): 0, ("10", "GX001-c"): 1, ("9", "GX001-a"): 0,
    }  # fmt: skip


def test_features_come_without_lists_and_absent_ones_are_zero(samples: Path) -> None:
    data = read(samples / "features.letor.txt")
    assert data.rankings.n_lists == 0
    assert data.experts == ()
    assert data.feature_names == ("1", "2", "3")
    assert data.features is not None
    assert data["10"].features.tolist() == [[1, 0, -2.5], [0, 0, 1e-3], [0, 0, 0.125]]


def test_features_join_by_query_and_item_whatever_the_order(samples: Path) -> None:
    data = read(samples / "ranks.letor.txt", features=samples / "features.letor.txt")
    assert data.features is not None
    assert data.features.tolist() == [[0.5, 0, 0.75], [0.25, 1, 0], [1, 0, -2.5], [0, 0, 0.125], [0, 0, 1e-3]]


def test_items_without_features_are_counted_and_nan(samples: Path, tmp_path: Path) -> None:
    some = lines(tmp_path, "0 qid:9 1:0.25 #docid = GX001-a", "0 qid:77 1:0.5 #docid = elsewhere")
    with pytest.warns(DataWarning, match="4 of 5 items have no features"):
        data = read(samples / "ranks.letor.txt", features=some)
    assert data.features is not None
    assert np.isnan(data.features[:, 0]).tolist() == [True, False, True, True, True]


def test_whole_numbers_from_one_are_ranks_unless_the_format_is_given(tmp_path: Path) -> None:
    path = lines(tmp_path, "1 qid:1 1:1 2:2 #docid = a", "0 qid:1 1:2 2:1 #docid = b")
    assert read(path).rankings.n_entries == 4
    assert read(path, format="letor-features").features.tolist() == [[1, 2], [2, 1]]


def test_a_zero_or_fraction_anywhere_in_the_first_lines_makes_values_features(tmp_path: Path) -> None:
    whole = [f"0 qid:1 1:{n} #docid = d{n}" for n in range(1, 50)]
    assert read(lines(tmp_path, *whole, "0 qid:1 1:0 #docid = z")).features is not None
    assert read(lines(tmp_path, *whole, "0 qid:1 1:0.5 #docid = z")).features is not None
    assert read(lines(tmp_path, *whole, "0 qid:1 1:NULL #docid = z")).features is None


def test_items_without_docid_are_numbered_within_their_query(tmp_path: Path) -> None:
    path = lines(tmp_path, "1 qid:a 1:NULL 2:1", "0 qid:b 1:2 2:1", "0 qid:a 1:1 2:NULL")
    assert slots_of(read(path)) == {("a", "1"), ("a", "2"), ("b", "1")}


def test_tabs_blank_lines_comments_and_windows_line_ends_are_fine(tmp_path: Path, samples: Path) -> None:
    text = (samples / "ranks.letor.txt").read_text()
    path = tmp_path / "odd.txt"
    path.write_bytes(b"# made by hand\r\n\r\n" + text.replace(" ", "\t").replace("\n", "\r\n").encode())
    assert lists_of(read(path)) == lists_of(read(samples / "ranks.letor.txt"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("two qid:1 1:1 #docid = x", "expected a number, qid:… and key:value pairs, got 'two qid:1"),
        ("1 1:1 2:NULL #docid = x", "expected a number, qid:…"),
        ("1 qid:1 1:x #docid = x", "expected whole number:number pairs (not '1:x')"),
        ("1 qid:1 first:1 #docid = x", "expected whole number:number pairs (not 'first:1')"),
        ("1 qid:1 1:0 #docid = x", "expected ranks from 1 up or NULL"),
        ("1 qid:1 1:-3 #docid = x", "expected ranks from 1 up or NULL"),
        ("nan qid:1 1:1 #docid = x", "expected a number, qid:…"),
    ],
)
def test_a_bad_line_is_named_with_its_number_and_beginning(tmp_path: Path, line: str, message: str) -> None:
    path = lines(tmp_path, "1 qid:1 1:1 2:NULL #docid = a", "", line)
    with pytest.raises(DataError) as caught:
        read(path, format="letor")
    assert str(caught.value).startswith(f"{path}:3: ")
    assert message in str(caught.value)


def test_a_long_bad_line_is_cut_to_forty_characters(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read(lines(tmp_path, "1 qid:1 1:1 2:NULL", "y" * 1000), format="letor")
    assert str(caught.value).endswith("got '" + "y" * 40 + "…'")


def test_folds_hold_every_query_once(tmp_path: Path) -> None:
    parts = {"a": "1 qid:1 1:1 2:NULL #docid = x", "b": "0 qid:2 1:1 2:2 #docid = y", "c": "2 qid:3 1:1 2:1 #docid = z"}
    for number, (train, vali, test) in enumerate([("a", "b", "c"), ("b", "c", "a")], 1):
        folder = tmp_path / f"Fold{number}"
        folder.mkdir()
        for name, part in (("train", train), ("vali", vali), ("test", test)):
            lines(folder, parts[part], name=f"{name}.txt")
    data = read(tmp_path)
    assert data.queries == ("1", "2", "3")
    assert data.rankings.n_slots == 3
    assert [(f.name, f.train, f.valid, f.test) for f in data.folds] == [
        ("Fold1", (0,), (1,), (2,)),
        ("Fold2", (1,), (2,), (0,)),
    ]


def test_folds_that_disagree_on_a_query_are_counted(tmp_path: Path) -> None:
    folder = tmp_path / "Fold1"
    folder.mkdir()
    lines(folder, "1 qid:1 1:1 2:NULL #docid = x", name="test.txt")
    lines(folder, "1 qid:1 1:1 2:NULL #docid = x", "1 qid:1 1:2 2:NULL #docid = y", name="vali.txt")
    lines(folder, "1 qid:2 1:1 2:NULL #docid = x", name="train.txt")
    with pytest.warns(DataWarning, match="1 queries have different numbers of items in different folds"):
        assert read(tmp_path).rankings.n_slots == 2


def test_a_fold_without_a_part_says_which(tmp_path: Path) -> None:
    (tmp_path / "Fold1").mkdir()
    lines(tmp_path / "Fold1", "1 qid:1 1:1 2:NULL #docid = x", name="test.txt")
    with pytest.raises(DataError, match=r"vali\.txt is missing"):
        read(tmp_path)
