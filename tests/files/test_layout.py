"""Which column of a table is which: recognised, asked for, or named as not used; never guessed in silence."""

import random
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from juryrank.errors import DataError, DataWarning
from juryrank.io import read, write
from juryrank.tasks.files.rank_files import rank_files

from .sameness import assert_same, labels_of, lists_of, slots_of

WIDE = {"query": ["1", "1", "2"], "item": ["a", "b", "a"], "bm25": [12.5, 3.0, None], "dense": [None, 0.5, 0.25]}
WIDE_LISTS = {
    ("1", "bm25", frozenset({("a", 1.0, 12.5), ("b", 2.0, 3.0)})): 1,
    ("1", "dense", frozenset({("b", 1.0, 0.5)})): 1,
    ("2", "dense", frozenset({("a", 1.0, 0.25)})): 1,
}


def table(tmp_path: Path, text: str, name: str = "some.csv") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "header", ["engine", "Retriever", "model", "source", "method", "System", "run_id", "judge", "Worker ID", "voter"]
)
def test_common_headers_of_experts_are_understood(tmp_path: Path, header: str) -> None:
    path = table(tmp_path, f"query,item,{header},score\n1,a,x,2\n1,b,y,1\n")
    assert read(path).experts == ("x", "y")


def test_two_columns_that_could_be_the_expert_are_named_with_what_to_say(tmp_path: Path) -> None:
    path = table(tmp_path, "query,item,model,source,score\n1,a,x,s,2\n1,b,y,t,1\n")
    with pytest.raises(DataError, match=r"'model', 'source' could all be the expert; .* columns=\{'expert': 'model'\}"):
        read(path)
    assert read(path, columns={"expert": "source"}).experts == ("s", "t")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("query,item,arm,score\n1,a,x,2\n1,b,x,1\n1,a,y,7\n", id="items repeat"),
        pytest.param("query,item,arm,rank\n1,a,x,1\n1,b,x,2\n1,c,y,1\n1,d,y,2\n", id="ranks repeat"),
        pytest.param("query,item,arm,title,rank\n1,a,x,A,1\n1,b,x,B,2\n1,a,y,A,2\n1,c,y,C,1\n", id="beside a title"),
    ],
)
def test_an_unused_column_that_could_be_the_expert_is_an_error(tmp_path: Path, text: str) -> None:
    path = table(tmp_path, text)
    with pytest.raises(DataError, match=r"column 'arm' could be the expert: .* use columns=\{'expert': 'arm'\}"):
        read(path)
    assert read(path, columns={"expert": "arm"}).experts == ("x", "y")


def test_an_unused_column_that_could_be_the_query_is_an_error(tmp_path: Path) -> None:
    path = table(tmp_path, "search,item,engine,score\ns1,a,x,2\ns1,b,x,1\ns2,a,x,7\n")
    with pytest.raises(DataError, match=r"column 'search' could be the query: .* use columns=\{'query': 'search'\}"):
        read(path)
    assert read(path, columns={"query": "search"}).queries == ("s1", "s2")


def test_a_column_named_none_is_left_alone(tmp_path: Path) -> None:
    path = table(tmp_path, "query,item,arm,score\n1,a,x,2\n1,b,x,1\n1,a,y,7\n")
    with (
        pytest.warns(DataWarning, match="1 column is not used: 'arm'"),
        pytest.warns(DataWarning, match="1 entries repeat an item"),
    ):
        assert read(path, columns={"expert": None}).experts == ("some",)


def test_unused_columns_are_named_once_and_texts_beside_the_items_are_not(tmp_path: Path) -> None:
    path = table(tmp_path, "query,item,title,URL,colour,price,rank\n1,a,A,u,red,3,1\n1,b,B,v,blue,4,2\n")
    with pytest.warns(DataWarning) as caught:
        read(path)
    assert [str(w.message) for w in caught] == [f"{path}: 2 columns are not used: 'colour', 'price'"]


def test_ties_beside_a_category_are_no_experts(tmp_path: Path) -> None:
    path = table(tmp_path, "item,colour,rank\na,red,1\nb,red,2\nc,blue,2\nd,blue,4\n")
    with pytest.warns(DataWarning, match="not used: 'colour'"):
        assert read(path).rankings.entry_rank.tolist() == [1, 2, 2, 4]


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(lambda folder: pl.DataFrame(WIDE), id="polars"),
        pytest.param(lambda folder: pd.DataFrame(WIDE), id="pandas"),
        *(pytest.param(lambda folder, e=e: written(folder, e), id=e) for e in ("csv", "tsv", "jsonl", "parquet")),
        pytest.param(lambda folder: with_index(folder), id="csv of pandas with its index"),
    ],
)
def test_a_wide_table_has_an_expert_per_column(tmp_path: Path, made: Callable[[Path], object]) -> None:
    with pytest.warns(DataWarning, match=r"one column per expert \('bm25', 'dense'\) with scores \(large is best\)"):
        data = read(made(tmp_path))
    assert lists_of(data) == WIDE_LISTS
    told = {"columns": {"expert": ["bm25", "dense"]}, "values": "score"}
    assert_same(read(made(tmp_path), **told), data)


def written(folder: Path, ending: str) -> Path:
    path, frame = folder / f"wide.{ending}", pl.DataFrame(WIDE)
    match ending:
        case "parquet":
            frame.write_parquet(path)
        case "jsonl":
            frame.write_ndjson(path)
        case _:
            frame.write_csv(path, separator="\t" if ending == "tsv" else ",")
    return path


def with_index(folder: Path) -> Path:
    pd.DataFrame(WIDE).to_csv(folder / "once.csv")
    pd.read_csv(folder / "once.csv").to_csv(folder / "twice.csv", index=False)  # "Unnamed: 0"
    assert read_quietly(folder / "once.csv") == read_quietly(folder / "twice.csv")
    return folder / "twice.csv"


def read_quietly(path: Path) -> object:
    with pytest.warns(DataWarning):
        return lists_of(read(path))


def test_a_wide_table_keeps_labels_and_items_that_nobody_has(tmp_path: Path) -> None:
    path = table(tmp_path, "item,bm25,dense,relevance\na,0.5,,1\nb,,,0\n")
    with pytest.warns(DataWarning, match="one column per expert"):
        data = read(path)
    assert data.experts == ("bm25",)
    assert labels_of(data) == {("all", "a"): 1, ("all", "b"): 0}
    assert slots_of(data) == {("all", "a"), ("all", "b")}


def test_a_wide_table_whose_columns_count_from_1_holds_ranks(tmp_path: Path) -> None:
    path = table(tmp_path, "query,item,x,y\n1,a,1,2\n1,b,2,1\n1,c,,3\n2,a,1,1\n")
    with pytest.warns(DataWarning, match=r"with ranks \(small is best\)"):
        data = read(path)
    assert lists_of(data)["1", "x", frozenset({("a", 1.0, None), ("b", 2.0, None)})] == 1


def test_whole_numbers_of_a_wide_table_that_do_not_count_must_be_explained(tmp_path: Path) -> None:
    path = table(tmp_path, "item,ann,bob\na,5,4\nb,3,5\n")
    with pytest.raises(DataError, match=r"'ann', 'bob' .* use values='rank' or values='score'"):
        read(path)
    told = {"expert": ["ann", "bob"]}
    assert lists_of(read(path, columns=told, values="score"))["all", "ann", frozenset({("a", 1, 5), ("b", 2, 3)})] == 1
    assert lists_of(read(path, columns=told, values="rank"))["all", "ann", frozenset({("a", 5, None), ("b", 3, None)})]


def test_distances_in_a_wide_table_must_be_explained(tmp_path: Path) -> None:
    path = table(tmp_path, "item,x_distance,y_distance\na,0.5,0.4\nb,0.3,0.5\n")
    with pytest.raises(DataError, match=r"'x_distance', 'y_distance' .* use values='rank' or values='score'"):
        read(path)
    data = read(path, columns={"expert": ["x_distance", "y_distance"]}, values="distance")
    assert data.rankings.items[data.rankings.slot_item[data.rankings.entry_slot]].tolist() == ["b", "a", "a", "b"]


def test_headers_of_a_wide_table_may_say_rank_or_score(tmp_path: Path) -> None:
    ranks = table(tmp_path, "item,x rank,y rank\na,5,4\nb,3,5\n")
    with pytest.warns(DataWarning, match=r"with ranks \(small is best\)"):
        assert read(ranks).rankings.entry_score is None
    both = table(tmp_path, "item,x_rank,x_score\na,1,0.4\nb,2,0.3\n")
    with pytest.raises(DataError, match="contain ranks and scores; use values='rank' or values='score'"):
        read(both)


def test_a_word_in_a_wide_column_is_an_error_at_its_line(tmp_path: Path) -> None:
    path = table(tmp_path, "item,x,y\na,0.5,4.5\nb,oops,5.5\nc,0.25,1.5\n")
    with (
        pytest.warns(DataWarning, match="one column per expert"),
        pytest.raises(DataError, match=r":3: expected a number in column 'x' \(not 'oops'\)"),
    ):
        read(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,item,score\n", "the table has a header and no rows"),
        ("item,title\na,A\n", "no column for a rank, a score or a label; columns are 'item', 'title'"),
        ("item,bm25\na,3.5\n", "use columns={'score': 'bm25'} or columns={'rank': 'bm25'}"),
        ("item,worker,label\na,w,1\n", "columns={'score': 'label'}"),
    ],
)
def test_a_table_without_anything_to_rank_by_says_so(tmp_path: Path, text: str, message: str) -> None:
    path = table(tmp_path, text)
    with pytest.raises(DataError) as caught:
        read(path)
    assert message in str(caught.value)


def test_an_empty_frame_is_an_error() -> None:
    with pytest.raises(DataError, match="the table: the table has a header and no rows"):
        read(pl.DataFrame({"item": [], "score": []}))


def test_decimal_commas_are_read_where_semicolons_separate(tmp_path: Path) -> None:
    path = table(tmp_path, "query;item;system;score\n1;a;x;3,5\n1;b;x;10\n1;c;x;-0,25\n")
    wanted = frozenset({("b", 1.0, 10.0), ("a", 2.0, 3.5), ("c", 3.0, -0.25)})
    assert lists_of(read(path)) == {("1", "x", wanted): 1}
    with pytest.raises(DataError, match=r"not '3,5'; a decimal comma is understood where ';' separates columns"):
        read(table(tmp_path, 'item,score\na,"3,5"\n'))
    with pytest.raises(DataError, match=r"expected a number in column 'score' \(not '1\.234,5'\)"):
        read(table(tmp_path, "item;score\na;1.234,5\n"))


def test_wide_and_long_tables_of_the_same_lists_are_the_same(tmp_path: Path) -> None:
    rng = random.Random(3)
    for n in range(20):
        cells = {
            (f"q{q}", f"i{i}", f"e{e}"): round(rng.uniform(-5, 5), 3)
            for q in range(3)
            for i in range(6)
            for e in range(1, 5)
            if rng.random() < 0.7
        }
        long = table(tmp_path, "query,item,expert,score\n" + "".join(f"{','.join(k)},{v}\n" for k, v in cells.items()))
        slots = sorted({key[:2] for key in cells})
        rows = [[*slot, *(str(cells.get((*slot, f"e{e}"), "")) for e in range(1, 5))] for slot in slots]
        text = "query,item,e1,e2,e3,e4\n" + "".join(",".join(row) + "\n" for row in rows)
        wide = table(tmp_path, text, f"wide{n}.csv")
        told = {"expert": ["e1", "e2", "e3", "e4"]}
        assert_same(read(wide, columns=told, values="score"), read(long))


@pytest.mark.parametrize("values", ["score", "rank"])
def test_a_wide_table_read_query_by_query_is_the_same(tmp_path: Path, values: str) -> None:
    from juryrank import method

    path = tmp_path / "wide.parquet"
    ranks = {"query": ["1", "1", "2", "2"], "item": ["a", "b", "a", "b"], "x": [1, 2, 2, 1], "y": [2, 1, None, 1]}
    pl.DataFrame(ranks if values == "rank" else {**ranks, "x": [0.5, 2, 2, 1]}).write_parquet(path)
    with pytest.warns(DataWarning, match=f"with {values}s"):
        data = read(path)
    write(method("rrf").fit_predict(data), tmp_path / "whole.run")
    with pytest.warns(DataWarning, match=f"with {values}s") as caught:
        rank_files([path], method("rrf"), tmp_path / "parts.run", memory=10**6)
    assert len(caught) == 1
    assert (tmp_path / "parts.run").read_bytes() == (tmp_path / "whole.run").read_bytes()


def test_a_named_index_of_pandas_is_a_column() -> None:
    long = pd.DataFrame(
        {"query": ["1", "1", "2"], "item": ["a", "b", "a"], "engine": ["x", "y", "x"], "score": [3.5, 2.0, 1.0]}
    )
    wanted = read(long)
    assert_same(read(long.set_index("query")), wanted)
    assert_same(read(long.set_index(["query", "item"])), wanted)
    pivoted = long.pivot(index=["query", "item"], columns="engine", values="score")
    assert_same(read(pivoted, columns={"expert": ["x", "y"]}, values="score"), wanted)


def test_columns_of_pandas_without_names_are_named_by_number() -> None:
    frame = pd.DataFrame([["a", "x", 2.5], ["b", "x", 1.5]])
    assert read(frame, columns={"item": 0, "expert": 1, "score": 2}).experts == ("x",)
