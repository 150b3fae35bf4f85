"""What is written reads back as the same, as far as the format can carry it."""

import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from juryrank.data import Consensus, Dataset
from juryrank.data.build import from_orders
from juryrank.errors import DataError, DataWarning
from juryrank.io import FORMATS, read, write

from .sameness import assert_same, features_of, labels_of, lists_of, slots_of
from .strategies import WORDS, datasets

few = settings(max_examples=40, deadline=None)


def back(data: Dataset | Consensus, name: str, format: str | None = None) -> Dataset:  # noqa: A002
    """The data written under a name and read again."""
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        write(data, Path(folder) / name, format)
        return read(Path(folder) / name)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.ndjson", "a.parquet", "a.csv.gz", "a.jsonl.zst"])
@few
@given(data=datasets(weights=True))
def test_tables_carry_everything(name: str, data: Dataset) -> None:
    assert_same(back(data, name), data)


@few
@given(datasets(WORDS.filter(lambda name: "#" not in name)))
def test_letor_carries_ranks_labels_and_order(data: Dataset) -> None:
    found = back(data, "a.letor")
    assert slots_of(found) == slots_of(data)
    assert labels_of(found) == labels_of(data)
    assert lists_of(found, scores=False) == lists_of(data, scores=False)


@few
@given(datasets(WORDS.filter(lambda name: "#" not in name), features=True))
def test_feature_files_carry_features_and_labels(data: Dataset) -> None:
    with TemporaryDirectory() as folder:
        write(data, Path(folder) / "a.svm")
        found = read(Path(folder) / "a.svm", format="letor-features")
    assert features_of(found) == features_of(data)
    assert labels_of(found) == labels_of(data)


@few
@given(datasets(WORDS, scores=True))
def test_runs_carry_scores(data: Dataset) -> None:
    if not data.rankings.n_entries:
        return
    assert lists_of(back(data, "runs")) == lists_of(data)


@few
@given(datasets(WORDS, scores=False))
def test_runs_carry_order_and_ties_of_ranks(data: Dataset) -> None:
    if not data.rankings.n_entries:
        return
    assert lists_of(back(data, "runs"), scores=False, gaps=False) == lists_of(data, gaps=False)


@few
@given(datasets(WORDS))
def test_qrels_carry_labels(data: Dataset) -> None:
    if data.labels is None:
        with pytest.raises(DataError, match="no labels to write"):
            back(data, "a.qrels")
        return
    assert labels_of(back(data, "a.qrels")) == labels_of(data)


@few
@given(datasets(st.text("abc é,{}", min_size=1).map(str.strip).filter(bool), one_query=True, weights=True))
def test_preflib_carries_order_ties_and_counts(data: Dataset) -> None:
    if not data.rankings.n_entries:
        return
    found = back(data, "votes", "preflib")
    told = {"experts": False, "scores": False, "gaps": False}
    assert lists_of(found, **told) == lists_of(data, **told)
    assert slots_of(found) == slots_of(data)


@few
@given(datasets(one_query=True, scores=True))
def test_ratings_carry_scores(data: Dataset) -> None:
    if not data.rankings.n_entries:
        return
    assert lists_of(back(data, "a.csv", "ratings")) == lists_of(data)


@few
@given(datasets(pairs=True, weights=True))
def test_comparisons_carry_pairs(data: Dataset) -> None:
    if any(word in data.rankings.items for word in ("tie", "left", "right")):
        return
    found = back(data, "a.csv", "comparisons")
    assert lists_of(found, scores=False, gaps=False) == lists_of(data, scores=False, gaps=False)


@few
@given(datasets(WORDS), st.integers(0, 9))
def test_a_consensus_reads_back_from_a_run_and_from_a_table(data: Dataset, seed: int) -> None:
    scores = np.round(np.random.default_rng(seed).normal(size=data.rankings.n_slots), 1)
    consensus = Consensus(data.rankings, scores)
    run = back(consensus, "a.run")
    assert run.experts == ("juryrank",)
    assert Consensus(data.rankings, scores).to_dict() == {q: by_score(run, q) for q in data.queries}
    table = back(consensus, "a.csv")
    assert table.experts == ("a",)
    assert {q: set(by_score(table, q)) for q in data.queries} == {q: set(d) for q, d in consensus.to_dict().items()}


def by_score(data: Dataset, query: str) -> dict[str, float]:
    r = data[query].rankings
    assert r.entry_score is not None
    return dict(zip(r.items[r.slot_item[r.entry_slot]].tolist(), r.entry_score.tolist(), strict=True))


SAMPLES_AND_NAMES = [
    ("ranks.letor.txt", "a.letor"), ("features.letor.txt", "a.svm"), ("bm25.run", "a.run"), ("dense.run", "a.trec.gz"),
    ("small.qrels", "a.qrels"), ("small.qrels", "a.csv"), ("table.csv", "a.tsv"), ("table.ndjson", "a.parquet"),
    ("votes.toi", "a.toi"), ("old.soc", "a.soc"), ("comparisons.csv", "a.csv"), ("ratings.csv", "a.ndjson"),
]  # fmt: skip


@pytest.mark.parametrize(("sample", "name"), SAMPLES_AND_NAMES)
def test_samples_read_back_the_same(samples: Path, tmp_path: Path, sample: str, name: str) -> None:
    data = read(samples / sample)
    write(data, tmp_path / name)
    assert_same(read(tmp_path / name), data)


def test_every_format_has_a_sample_that_is_found_to_be_it(samples: Path) -> None:
    from juryrank.io.files import load
    from juryrank.io.formats import format_of

    found = {format_of(load(path)) for path in samples.iterdir()}
    assert found == set(FORMATS.values())


@pytest.mark.parametrize(
    ("orders", "name", "format", "message"),
    [
        ([["a b", "c"]], "runs", None, "a TREC run cannot represent whitespace in a name: item 'a b'"),
        ([["a b", "c"]], "a.letor", None, "LETOR cannot represent whitespace in a name: item 'a b'"),
        ([["a", "b"]], "a.svm", None, "the data has no features to write"),
        ([["a", "b"]], "a.csv", "ratings", "ratings need scores, and the data has only ranks"),
        ([["a", "b", "c"]], "a.csv", "comparisons", "the data has a list of 3"),
        ([["tie", ("b", "tie2")], [("tie", "b")]], "a.csv", "comparisons", "the data has a list of 3"),
        ([["a", ("b", "c")]], "a.soc", None, "the orders need the ending .toc"),
        ([["a", "b"], ["a"]], "a.toc", None, "the orders need the ending .soi"),
        ([["a "], ["b"]], "a.soi", None, "a PrefLib file cannot represent the name 'a '"),
        ([["a", "b"], ["b", "a"]], "a.run", None, "2 experts need a folder"),
        ([["a", "b"]], "a.parquet.zst", None, "Parquet files are compressed internally; remove .zst"),
        ([["a", "b"]], "a.xyz", None, "no format has the ending '.xyz'"),
        ([["a", "b"]], "a.qrels", None, "the data has no labels to write"),
        ([["a", "b"]], "no/such/folder/a.csv", None, "cannot be written: No such file or directory"),
    ],
)
def test_what_a_format_cannot_carry_is_one_clear_error(
    tmp_path: Path,
    orders: list[list[str]],
    name: str,
    format: str | None,  # noqa: A002
    message: str,
) -> None:
    with pytest.raises(DataError) as caught:
        write(from_orders(orders), tmp_path / name, format)
    assert message in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["runs", "a.letor"])
def test_weights_are_refused_where_there_is_no_place_for_them(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="cannot represent weights of lists"):
        write(from_orders([["a", "b"]], weights=[2.0]), tmp_path / name)


def test_fractions_of_votes_are_refused_by_preflib(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="some weights of lists are not whole"):
        write(from_orders([["a", "b"]], weights=[0.5]), tmp_path / "a.soc")


def test_several_queries_are_refused_where_there_are_none(samples: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a PrefLib file has no queries, and the data has 2"):
        write(read(samples / "bm25.run"), tmp_path / "a.soi")


def test_a_consensus_is_only_a_run_or_a_table(samples: Path, tmp_path: Path) -> None:
    data = read(samples / "bm25.run")
    with pytest.raises(DataError, match="a Consensus cannot be written as letor; write a TREC run or a table"):
        write(Consensus(data.rankings, np.zeros(data.rankings.n_slots)), tmp_path / "a.letor")


def test_items_that_a_run_leaves_out_are_counted(samples: Path, tmp_path: Path) -> None:
    data = read(samples / "ranks.letor.txt")
    with pytest.warns(DataWarning, match="1 items that nobody ranks are left out"):
        write(data, tmp_path / "runs")
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["1.run", "2.run", "3.run"]


def test_labels_that_a_table_leaves_out_are_counted(samples: Path, tmp_path: Path) -> None:
    data = read(samples / "bm25.run", labels=samples / "small.qrels")
    with pytest.warns(DataWarning, match="1 labels of items that are no candidates are left out"):
        write(data, tmp_path / "a.csv")


def test_experts_with_odd_names_get_files_of_their_own(tmp_path: Path) -> None:
    from juryrank.data.build import from_dicts

    runs = {"org/model": {"q": {"a": 1.0}}, "..": {"q": {"a": 1.0}}, "a%2Fb": {"q": {"a": 1.0}}}
    write(from_dicts(runs), tmp_path / "runs")
    assert set(read(tmp_path / "runs").experts) == set(runs)


def test_experts_whose_names_differ_in_case_only_get_files_that_differ_in_more(tmp_path: Path) -> None:
    from juryrank.data.build import from_dicts

    runs = {
        name: {"q": {"a": score}} for name, score in (("BM25", 1.0), ("bm25", 2.0), ("é" * 90, 3.0), ("x" * 300, 4.0))
    }
    write(from_dicts(runs), tmp_path / "runs")
    names = [path.name for path in (tmp_path / "runs").iterdir()]
    assert len({name.lower() for name in names}) == 4
    assert max(len(name.encode()) for name in names) < 200
    assert lists_of(read(tmp_path / "runs")) == lists_of(from_dicts(runs))


def test_an_expert_whose_name_nobody_shares_gives_its_name_to_its_file(tmp_path: Path) -> None:
    from juryrank.data.build import from_dicts

    write(from_dicts({name: {"q": {"a": 1.0}} for name in ("SPLADE", "bm25", "ann", "Ann")}), tmp_path / "runs")
    names = sorted(path.name for path in (tmp_path / "runs").iterdir())
    assert [name for name in names if "-" not in name] == ["SPLADE.run", "bm25.run"]
    assert sorted(name[:4] for name in names if "-" in name) == ["Ann-", "ann-"]


def test_a_folder_with_other_files_is_left_as_it_is(tmp_path: Path) -> None:
    from juryrank.data.build import from_dicts

    folder = tmp_path / "runs"
    write(from_dicts({"old": {"q": {"a": 1.0}}, "both": {"q": {"a": 1.0}}}), folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(
        DataError, match=r"runs: the folder already has 'old\.run', which would be read.*give another folder"
    ):
        write(from_dicts({"new": {"q": {"b": 1.0}}, "both": {"q": {"b": 1.0}}}), folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    write(from_dicts({"old": {"q": {"b": 1.0}}, "both": {"q": {"b": 1.0}}}), folder)  # the same experts again
    assert set(read(folder).experts) == {"old", "both"}
    assert read(folder).rankings.items.tolist() == ["b"]


def test_a_name_that_one_run_cannot_carry_leaves_the_whole_folder_as_it_was(tmp_path: Path) -> None:
    from juryrank.data.build import from_dicts

    folder = tmp_path / "runs"
    write(from_dicts({"a": {"q": {"x": 1.0}}, "b": {"q": {"x": 1.0}}}), folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(DataError, match="cannot represent whitespace"):
        write(from_dicts({"a": {"q": {"y": 1.0}}, "b": {"q": {"y z": 1.0}}}), folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_new_folder_is_removed_where_its_runs_cannot_be_written(tmp_path: Path) -> None:
    from juryrank.data.build import from_dicts

    from .test_files import files_of_at_most

    runs = {"small": {"q": {"a": 1.0}}, "large": {"q": {f"item{n}": float(n) for n in range(1000)}}}
    with files_of_at_most(1000), pytest.raises(DataError, match=r"large\.run: cannot be written: File too large"):
        write(from_dicts(runs), tmp_path / "runs")
    assert list(tmp_path.iterdir()) == []


def test_a_consensus_in_a_text_file_is_a_run(samples: Path, tmp_path: Path) -> None:
    data = read(samples / "bm25.run")
    write(Consensus(data.rankings, np.zeros(data.rankings.n_slots)), tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_text().splitlines()[0] == "q1 Q0 d1 1 0.0 juryrank"


def test_write_refuses_what_is_no_data(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="write takes a Dataset or a Consensus, got list"):
        write([1, 2], tmp_path / "a.csv")  # type: ignore[arg-type]
