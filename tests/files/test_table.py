import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from juryrank.data import Dataset
from juryrank.errors import DataError, DataWarning
from juryrank.io import read

from .sameness import assert_same, labels_of, lists_of, slots_of

ROWS = {
    "query": ["1", "1", "2"],
    "item": ["a", "b", "a"],
    "expert": ["x", "x", "y"],
    "score": [0.5, 0.75, 1.0],
}


def table(tmp_path: Path, text: str, name: str = "some.csv") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.fixture
def mixed(samples: Path) -> Dataset:
    return read(samples / "table.csv")


def test_names_are_text_with_blanks_commas_accents_and_leading_zeros(mixed: Dataset) -> None:
    assert set(mixed.queries) == {"007", "8"}
    assert slots_of(mixed) == {
        ("007", "blue cheese"), ("007", "salt, pepper"), ("007", "crème brûlée"), ("8", "007"), ("8", "8"),
    }  # fmt: skip


def test_lists_without_scores_take_the_scores_of_others_away(mixed: Dataset) -> None:
    assert mixed.rankings.entry_score is None
    assert lists_of(mixed)["007", "anna", frozenset({("blue cheese", 1.0, None), ("salt, pepper", 2.0, None)})] == 1
    assert lists_of(mixed)["8", "bo", frozenset({("007", 1.0, None)})] == 2.5


def test_a_row_without_an_expert_is_a_candidate_with_its_label(mixed: Dataset) -> None:
    assert ("8", "8") in slots_of(mixed)
    assert labels_of(mixed) == {
        ("007", "blue cheese"): 2, ("007", "salt, pepper"): 0, ("007", "crème brûlée"): 1, ("8", "8"): 0,
    }  # fmt: skip


@pytest.mark.parametrize("separator", ["\t", ";", ","])
def test_tabs_commas_and_semicolons_separate(tmp_path: Path, separator: str) -> None:
    path = table(tmp_path, "query,item,expert,score\n1,a,x,2\n1,b,x,1\n".replace(",", separator), "some.txt")
    assert read(path).rankings.n_entries == 2


def test_json_lines_may_mix_text_and_numbers_in_names(samples: Path) -> None:
    data = read(samples / "table.ndjson")
    assert slots_of(data) == {("007", "a b"), ("007", "7"), ("8", "c")}
    assert lists_of(data) == {("007", "x", frozenset({("7", 1.0, 2.0), ("a b", 2.0, 1.5)})): 1}


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(lambda: pl.DataFrame(ROWS), id="polars"),
        pytest.param(lambda: pd.DataFrame(ROWS), id="pandas"),
        pytest.param(lambda: pa.table(ROWS), id="pyarrow"),
        pytest.param(lambda: pl.DataFrame(ROWS).with_columns(pl.col("expert").cast(pl.Categorical)), id="categorical"),
        pytest.param(lambda: pl.DataFrame(ROWS).with_columns(pl.col("query").cast(pl.Int64)), id="integers"),
        pytest.param(lambda: pd.DataFrame(ROWS).astype({"query": float}), id="whole floats"),
    ],
)
def test_any_dataframe_reads_as_the_csv_of_it(made: Callable[[], object], tmp_path: Path) -> None:
    pl.DataFrame(ROWS).write_csv(tmp_path / "some.csv")
    assert_same(read(made()), read(tmp_path / "some.csv"))


def test_a_duckdb_relation_is_a_dataframe() -> None:
    code = (
        "import duckdb, juryrank.io as readers\n"
        "told = \"select * from (values ('1', 'a', 'x', 1.5), ('1', 'b', 'x', 2.5)) t(query, item, expert, score)\"\n"
        "print(readers.read(duckdb.sql(told)).rankings.entry_score.tolist())"
    )
    # in a process of its own, because duckdb speaks of leaks when pytest ends
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[2.5, 1.5]\n"


def test_common_headers_are_understood(tmp_path: Path) -> None:
    path = table(tmp_path, "Query ID,doc_id,System,Position,relevance\n1,a,x,1,2\n1,b,x,2,0\n")
    data = read(path)
    assert data.experts == ("x",)
    assert labels_of(data) == {("1", "a"): 2, ("1", "b"): 0}


def test_two_headers_for_one_word_must_be_told_apart(tmp_path: Path) -> None:
    path = table(tmp_path, "qid,docid,user,worker,rank\n1,a,u,w,1\n")
    with pytest.raises(
        DataError, match=r"'user', 'worker' could all be the expert; choose one: columns=\{'expert': 'user'\}"
    ):
        read(path)
    assert read(path, columns={"expert": "worker"}).experts == ("w",)


def test_our_own_word_goes_before_a_common_header(tmp_path: Path) -> None:
    with pytest.warns(DataWarning, match="1 column is not used: 'user'"):
        assert read(table(tmp_path, "item,expert,user,rank\na,e,u,1\n")).experts == ("e",)


def test_columns_take_a_header_away_from_its_usual_meaning(tmp_path: Path) -> None:
    path = table(tmp_path, "item,expert,label,gold\na,e,2,1\nb,e,1,0\n")
    data = read(path, columns={"score": "label", "label": "gold"})
    assert labels_of(data) == {("all", "a"): 1, ("all", "b"): 0}
    assert lists_of(data) == {("all", "e", frozenset({("a", 1.0, 2.0), ("b", 2.0, 1.0)})): 1}


def test_columns_that_are_not_there_or_not_known_are_errors(tmp_path: Path) -> None:
    path = table(tmp_path, "item,expert,rank\na,e,2\n")
    with pytest.raises(DataError, match="no column 'nope'; columns are 'item', 'expert', 'rank'"):
        read(path, columns={"item": "nope"})
    with pytest.raises(DataError, match="does not take 'document' here"):
        read(path, columns={"document": "item"})


def test_a_column_called_value_needs_a_direction(tmp_path: Path) -> None:
    path = table(tmp_path, "item,expert,value\na,e,2\nb,e,1\n")
    with pytest.raises(DataError, match=r"may be a rank .* or a score .*; use values='rank' or values='score'"):
        read(path)
    by_rank, by_score = read(path, values="rank").rankings, read(path, values="score").rankings
    assert by_rank.entry_slot.tolist() == [1, 0]
    assert by_score.entry_slot.tolist() == [0, 1]
    assert by_rank.entry_score is None


def test_a_direction_that_the_table_contradicts_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="values='score', but the table has no column for a score"):
        read(table(tmp_path, "item,expert,rank\na,e,2\n"), values="score")


def test_rank_and_score_that_disagree_are_counted_and_the_rank_is_obeyed(tmp_path: Path) -> None:
    path = table(tmp_path, "item,expert,rank,score\na,e,1,0.1\nb,e,2,0.2\nc,e,3,0.05\n")
    with pytest.warns(DataWarning, match="ranks and scores disagree on 1 neighbouring entries; the ranks are used"):
        r = read(path).rankings
    assert r.entry_rank.tolist() == [1, 2, 3]
    assert r.entry_score is not None
    assert r.entry_score.tolist() == [0.1, 0.2, 0.05]


def test_a_table_of_labels_alone_can_be_the_labels(tmp_path: Path, samples: Path) -> None:
    path = table(tmp_path, "query,item,label\nq1,d1,1\nq1,d8,2\n")
    assert labels_of(read(samples / "bm25.run", labels=path)) == {("q1", "d1"): 1, ("q1", "d8"): 2}
    assert slots_of(read(path)) == {("q1", "d1"), ("q1", "d8")}


def test_a_table_without_experts_is_one_expert_named_after_the_file(tmp_path: Path) -> None:
    assert read(table(tmp_path, "item,score\na,2\nb,1\n", "bm25.csv")).experts == ("bm25",)


def test_tables_of_one_expert_with_one_name_are_named_by_their_paths(tmp_path: Path) -> None:
    paths = []
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        paths.append(table(tmp_path / folder, "item,score\na,2\n", "run.csv"))
    with pytest.warns(DataWarning, match="2 files share the expert 'run'; they are named by file"):
        assert read(paths).experts == tuple(str(path) for path in paths)


def test_parts_of_one_table_are_put_together(tmp_path: Path) -> None:
    one = table(tmp_path, "item,expert,score\na,e,2\n", "1.csv")
    two = table(tmp_path, "item,expert,score\nb,e,1\n", "2.csv")
    assert lists_of(read([one, two])) == {("all", "e", frozenset({("a", 1.0, 2.0), ("b", 2.0, 1.0)})): 1}


def test_lists_with_scores_and_lists_with_ranks_go_together_by_rank(tmp_path: Path) -> None:
    one = table(tmp_path, "item,expert,score\na,e,2\nb,e,5\n", "1.csv")
    two = table(tmp_path, "item,expert,rank\nb,f,1\n", "2.csv")
    data = read([one, two])
    assert data.rankings.entry_score is None
    assert lists_of(data)["all", "e", frozenset({("b", 1.0, None), ("a", 2.0, None)})] == 1


def test_candidates_get_slots_from_a_dict_or_a_frame(tmp_path: Path) -> None:
    path = table(tmp_path, "query,item,expert,rank\n1,a,e,1\n")
    wanted = {("1", "a"), ("1", "b"), ("2", "c")}
    assert slots_of(read(path, candidates={"1": ["a", "b"], "2": ["c"]})) == wanted
    frame = pl.DataFrame({"query": ["1", "2"], "item": ["b", "c"]})
    assert slots_of(read(path, candidates=frame)) == wanted
    with pytest.raises(DataError, match="candidates must be"):
        read(path, candidates=["a", "b"])


def test_several_lists_of_one_expert_are_told_apart_by_the_list_column(tmp_path: Path) -> None:
    path = table(tmp_path, "item,expert,list,rank,weight\na,e,1,1,1\nb,e,1,2,1\nb,e,2,1,3\na,e,2,2,3\n")
    assert read(path).rankings.list_weight.tolist() == [1, 3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,item,expert,rank\n1,a,e,1\n\n1,b,e,second\n", ":4: expected a number in column 'rank' (not 'second')"),
        ("query,item,expert,rank\n1,a,e,1\n,b,e,2\n", ":3: expected a name for query and item, got ',b,e,2'"),
        ('query,item,expert,rank\n1,"a\nb",e,1\n1,,e,1\n', ":4: expected a name for query and item"),
        ("query,item,expert,rank\n1,a,e,1,5\n", ":2: expected 4 columns, as in the header"),
        ('query,item,expert,rank\n1,"a"b,e,1\n', ":2: expected cells whose quotes match"),
        ("query,expert,rank\n1,e,1\n", "a table needs a column 'item'; columns are 'query', 'expert', 'rank'"),
        ("query,item,expert\n1,a,e\n", "experts need a rank or a score"),
        ("query,item,expert,rank\n1,a,e,0\n", "ranks that count from 0: add 1"),
        ("item,expert,rank,weight\na,e,1,1\nb,e,2,7\n", "a list has one weight"),
        (
            "item,expert,rank,weight\na,e,1,-1\n",
            "the weight of a list must be a finite number >= 0, but that of expert 'e' in query 'all' is -1.0",
        ),
        ("item,expert,rank,weight\na,e,1,inf\n", "in query 'all' is inf"),
        (
            "item,expert,rank,weight\na,e,1,1\nb,f,2, NaN\n",
            ":3: expected a finite number >= 0 in column 'weight' (not nan",
        ),
    ],
)
def test_what_is_wrong_in_a_table_is_told(tmp_path: Path, text: str, message: str) -> None:
    path = table(tmp_path, text)
    with pytest.raises(DataError) as caught:
        read(path)
    assert message in str(caught.value)


def test_a_bad_row_of_a_frame_is_named_by_its_number() -> None:
    with pytest.raises(DataError, match="the table: row 2: expected a number in column 'rank'"):
        read(pl.DataFrame({"item": ["a", "b"], "expert": ["e", "e"], "rank": ["1", "x"]}))


def test_columns_of_lists_are_no_names() -> None:
    with pytest.raises(DataError, match="expected text or whole numbers in column 'item'"):
        read(pl.DataFrame({"item": [["a"], ["b"]], "expert": ["e", "e"], "rank": [1, 2]}))


def test_options_of_tables_are_refused_for_other_formats(samples: Path) -> None:
    with pytest.raises(DataError, match="columns= does not apply to the format trec-run"):
        read(samples / "bm25.run", columns={"item": "x"})


def test_an_empty_weight_counts_as_one_and_nan_is_refused() -> None:
    columns = {"item": ["a", "b"], "expert": ["e", "f"], "rank": [1, 1]}
    assert read(pl.DataFrame({**columns, "weight": [None, 2.0]})).rankings.list_weight.tolist() == [1.0, 2.0]
    for weight in ([float("nan"), 2.0], ["nan", "2"], [True, False]):
        with pytest.raises(DataError, match="in column 'weight'"):
            read(pl.DataFrame({**columns, "weight": weight}))
    duels = {"left": ["a", "b"], "right": ["b", "c"], "winner": ["left", "left"]}
    with pytest.warns(DataWarning, match="1 of 2 .*weight"):  # rows of comparisons that say nothing are skipped
        assert read(pl.DataFrame({**duels, "weight": [float("nan"), 2.0]})).rankings.list_weight.tolist() == [2.0]


@pytest.mark.parametrize("quoted", ['"a, b"', "a"], ids=["quoted", "plain"])
def test_a_row_that_ends_early_is_an_error_with_its_line(quoted: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"query,item,expert,score\nq,{quoted},e,2.0\nq,b,e\nq,c,e,1.0\n")
    with pytest.raises(DataError, match=r"x\.csv:3: expected 4 columns, as in the header, got 'q,b,e'"):
        read(path)
    path.write_text(f"query,item,expert,score\nq,{quoted},e,2.0\nq,b,e,\n")  # an empty cell is one
    assert read(path).rankings.n_slots == 2


def test_two_columns_of_one_name_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("item,expert,score,score\na,e,2.0,1.0\n")
    with pytest.raises(DataError, match=r"x\.csv:1: expected different headers \(there are several columns 'score'"):
        read(path)


@pytest.mark.parametrize("header", ["query,item,expert,score", "query,item,rank,expert", "query,item,score"])
def test_a_table_without_a_single_rank_or_score_is_warned_of(header: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    row = {"query": "q", "item": "a", "expert": "e"}
    path.write_text(f"{header}\n{','.join(row.get(word, '') for word in header.split(','))}\n")
    with pytest.warns(DataWarning, match=r"no row has .*a (rank|score), so there are no lists, only items"):
        assert read(path).rankings.n_lists == 0
