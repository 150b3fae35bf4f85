"""Parquet tables are read query by query in blocks, however they are written, and a consensus is written as Parquet."""

import io
import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import juryrank
from juryrank.errors import DataError, DataWarning
from juryrank.kernels.trec import Names
from juryrank.scan import QueryFiles
from juryrank.scan.entry_blocks import EntryBlocks, block_bounds
from juryrank.scan.parquet import TableFile
from juryrank.scan.parquet_footer import JoinedFiles, row_group_starts
from juryrank.scan.streamed_output import row_groups
from juryrank.tasks.files.rank_files import rank_batches, rank_files

pq = pytest.importorskip("pyarrow.parquet")

EXPERTS = ("bm25", "dense", "sparse")
Writer = Callable[[pl.DataFrame, Path], object]
WRITERS: dict[str, Writer] = {
    "one row group": lambda frame, path: frame.write_parquet(path),
    "many row groups": lambda frame, path: frame.write_parquet(path, row_group_size=7),
    "dictionaries": lambda frame, path: pq.write_table(frame.to_arrow(), path, use_dictionary=True, row_group_size=50),
    "plain, many pages": lambda frame, path: pq.write_table(
        frame.to_arrow(), path, use_dictionary=False, data_page_size=64, write_batch_size=8
    ),
}


def table(seed: int = 0, n_queries: int = 30) -> pl.DataFrame:
    """query, expert, item, rank, score, sorted by query; missing lists, ties, items of several alphabets."""
    rng = random.Random(seed)
    rows = []
    for q in range(1, n_queries + 1):
        for expert in rng.sample(EXPERTS, rng.randint(1, 3)):
            items = rng.sample([f"{name}{i}" for i in range(8) for name in ("d", "a long name of item ", "é日")], 7)
            scores = sorted((rng.choice([0.5, rng.random()]) for _ in items), reverse=True)
            rows += [(str(q), expert, item, n, s) for n, (item, s) in enumerate(zip(items, scores, strict=True), 1)]
    return pl.DataFrame(rows, schema=["query", "expert", "item", "rank", "score"], orient="row")


NO_BLANKS = pl.col(pl.String).str.replace_all(" ", "-")  # a run has no blanks in names
SMALL = table(n_queries=12)
LAYOUTS: dict[str, pl.DataFrame] = {
    "scores": SMALL.drop("rank"),
    "ranks": SMALL.drop("score"),
    "ranks and scores": SMALL,
    "tied ranks": SMALL.with_columns(rank=(pl.col("rank") + 1) // 2),
    "whole numbers as items": SMALL.with_columns(item=pl.col("item").cast(pl.Categorical).to_physical()),
    "categories": SMALL.drop("rank").with_columns(pl.col("query", "expert").cast(pl.Categorical)),
    "experts take turns": SMALL.drop("rank").sort("query", "item", maintain_order=True),
    "scores in no order": SMALL.drop("rank").sample(fraction=1, shuffle=True, seed=1).sort("query"),
    "queries by code point": SMALL.drop("rank").sort("query", maintain_order=True),
    "one query": table(n_queries=1).drop("rank"),
    "one expert, no column": SMALL.filter(expert="dense").drop("expert", "rank"),
}


def streamed(paths: list[Path], method: str = "combsum", *, size: int = 5000, chunk: int = 512) -> bytes:
    out = io.BytesIO()
    rank_batches(QueryFiles(paths, None, {}, chunk), juryrank.method(method), out, size=size)
    return out.getvalue()


def whole(paths: list[Path], method: str = "combsum") -> bytes:
    data, out = juryrank.read(paths), io.BytesIO()
    juryrank.write(juryrank.method(method).fit(data).predict(data), out)
    return out.getvalue()


def fast_path_reads(path: Path) -> bool:
    """Whether the whole table is read in blocks of entries."""
    file = QueryFiles([path], None, {}).files[0]
    assert isinstance(file, TableFile)
    return file.blocks is not None and file.blocks.read([(0, file.height)]) is not None


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("writer", WRITERS)
def test_however_a_table_is_written_the_output_is_that_of_everything_at_once(
    layout: str, writer: str, tmp_path: Path
) -> None:
    frame = LAYOUTS[layout].with_columns(NO_BLANKS)
    WRITERS[writer](frame, tmp_path / "a.parquet")
    method = "rrf" if "score" not in frame.columns else "combsum"
    assert fast_path_reads(tmp_path / "a.parquet")
    expected = whole([tmp_path / "a.parquet"], method)
    for size in (1, 20_000):
        assert streamed([tmp_path / "a.parquet"], method, size=size) == expected


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (pl.when(pl.int_range(pl.len()) != 200).then("score").alias("score"), ""),
        (pl.when(pl.int_range(pl.len()) != 200).then("score").otherwise(float("nan")).alias("score"), ""),
        (pl.when(pl.int_range(pl.len()) != 200).then("expert").alias("expert"), ""),
        (pl.when(pl.int_range(pl.len()) != 200).then("score").otherwise(float("inf")).alias("score"), "dropped"),
        (pl.when(pl.int_range(pl.len()) != 3).then("item").otherwise(pl.col("item").shift(-1)).alias("item"), "repeat"),
        (pl.col("score").cast(pl.String).alias("score"), ""),
        (pl.lit(2.0).alias("weight"), ""),
    ],
    ids=["null", "NaN", "no expert", "infinite", "item twice", "numbers as text", "weights"],
)
@pytest.mark.filterwarnings("ignore::juryrank.errors.DataWarning")
def test_what_the_fast_path_does_not_cover_is_read_as_in_a_whole_read(
    change: pl.Expr, told: str, tmp_path: Path
) -> None:
    frame = table().drop("rank").with_columns(NO_BLANKS).with_columns(change)
    frame.write_parquet(tmp_path / "a.parquet", row_group_size=20)
    path = [tmp_path / "a.parquet"]
    assert streamed(path, size=1) == streamed(path, size=10**6) == whole(path)
    if told:
        with pytest.warns(DataWarning, match=told):
            streamed(path)


@pytest.mark.parametrize("odd", ["a\0", "a\nb", "a\r", "\r", "a b"])
def test_unusual_names_are_kept(odd: str, tmp_path: Path) -> None:
    frame = table().drop("rank").with_columns(item=pl.when(pl.col("item") == "d1").then(pl.lit(odd)).otherwise("item"))
    frame.write_parquet(tmp_path / "a.parquet", row_group_size=40)
    rank_files([tmp_path / "a.parquet"], juryrank.method("rrf"), tmp_path / "out.parquet", memory=10**7)
    data = juryrank.read(tmp_path / "a.parquet")
    expected = juryrank.method("rrf").fit(data).predict(data).to_frame()
    assert_frame_equal(pl.read_parquet(tmp_path / "out.parquet"), expected)
    assert odd in expected["item"]


@pytest.mark.filterwarnings("ignore:3 files share the expert 'run'")
@pytest.mark.parametrize("names", ["in a column", "of files", "of folders"])
def test_several_tables_are_ranked_together(names: str, tmp_path: Path) -> None:
    """Files without a column of experts are named after the file, and after the folder if that is the same for some."""
    paths = []
    for n, expert in enumerate(EXPERTS):
        frame = table(seed=n).filter(expert=expert).drop("rank").with_columns(NO_BLANKS)
        paths.append(tmp_path / (f"{expert}/run.parquet" if names == "of folders" else f"{expert}.parquet"))
        paths[-1].parent.mkdir(exist_ok=True)
        frame = frame if names == "in a column" else frame.drop("expert")
        frame.write_parquet(paths[-1], row_group_size=[5, 50, 500][n])
    assert streamed(paths, "dowdall") == whole(paths, "dowdall")
    assert len(QueryFiles(paths, None, {}).read(range(30)).experts) == 3
    assert all(map(fast_path_reads, paths))


def test_queries_in_no_order_are_read_without_blocks(tmp_path: Path) -> None:
    """A block would be decoded for every query in it."""
    frame = table(n_queries=200).drop("rank").with_columns(NO_BLANKS)
    parts = frame.partition_by("query")
    random.Random(0).shuffle(parts)
    pl.concat(parts).write_parquet(tmp_path / "a.parquet", row_group_size=100)
    assert not fast_path_reads(tmp_path / "a.parquet")
    assert streamed([tmp_path / "a.parquet"], size=100_000) == whole([tmp_path / "a.parquet"])


def test_each_block_is_decoded_once_when_queries_are_in_order(tmp_path: Path) -> None:
    table().drop("rank").with_columns(NO_BLANKS).write_parquet(tmp_path / "a.parquet")
    files = QueryFiles([tmp_path / "a.parquet"], None, {})
    (file,) = files.files
    assert isinstance(file, TableFile)
    assert file.blocks is not None
    decoded, decode = [], file.blocks.decode
    bounds = block_bounds([0, file.height], 50)
    file.blocks = EntryBlocks(bounds, lambda start, stop: decoded.append((start, stop)) or decode(start, stop))  # type: ignore[func-returns-value]
    for queries in files.batches(1):
        files.read(queries)
    assert decoded == list(pairwise(bounds))


@pytest.mark.parametrize("seed", range(20))
def test_blocks_are_whole_row_groups_or_parts_of_one(seed: int) -> None:
    rng = random.Random(seed)
    groups = [0, *np.cumsum([rng.choice([1, 10, 100, 1000]) for _ in range(rng.randint(1, 30))]).tolist()]
    bounds, most = block_bounds(groups, 100), 100
    assert (bounds[0], bounds[-1]) == (0, groups[-1])
    assert all(0 < stop - start <= most for start, stop in pairwise(bounds))
    assert all(any(low < bound < high for low, high in pairwise(groups) if high - low > most)
               for bound in bounds if bound not in groups)  # fmt: skip


@pytest.mark.parametrize("seed", range(10))
def test_names_are_numbered_in_the_order_of_their_first_use(seed: int) -> None:
    rng = random.Random(seed)
    letters = ["a", "b", " ", "\t", "é", "日", "12345678", "\x01"]
    names = ["".join(rng.choices(letters, k=rng.randint(1, 5))) for _ in range(3000)]
    text = "".join(names).encode()
    sizes = np.array([len(name.encode()) for name in names], np.int64)
    found = Names()
    out = found.number_all(text, sizes)
    distinct = list(dict.fromkeys(names))
    assert len(found) == len(distinct)
    assert [distinct[n] for n in out] == names
    assert bytes(found).decode() == "".join(f"{name}\n" for name in distinct)


@pytest.mark.parametrize("writer", WRITERS)
def test_row_groups_are_those_that_pyarrow_finds(writer: str, tmp_path: Path) -> None:
    WRITERS[writer](table(), tmp_path / "a.parquet")
    found = pq.ParquetFile(tmp_path / "a.parquet").metadata
    sizes = [found.row_group(n).num_rows for n in range(found.num_row_groups)]
    assert row_group_starts(tmp_path / "a.parquet") == [0, *np.cumsum(sizes).tolist()]


def test_a_damaged_footer_has_no_row_groups_or_wrong_ones_but_raises_nothing(tmp_path: Path) -> None:
    table().write_parquet(tmp_path / "a.parquet", row_group_size=50)
    content, rng = (tmp_path / "a.parquet").read_bytes(), random.Random(0)
    size = int.from_bytes(content[-8:-4], "little")
    for _ in range(100):
        damaged = bytearray(content)
        damaged[len(content) - 8 - rng.randrange(size)] = rng.randrange(256)
        (tmp_path / "a.parquet").write_bytes(damaged)
        found = row_group_starts(tmp_path / "a.parquet")
        assert found is None or found[0] == 0
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    assert row_group_starts(tmp_path / "a.parquet") is None


@pytest.mark.parametrize("compression", ["zstd", "uncompressed", "snappy"])
def test_joined_files_are_one_file_for_other_readers(compression: str, tmp_path: Path) -> None:
    parts, file, content = list(row_groups([table(seed) for seed in range(20)], 300)), JoinedFiles(), b""
    for part in parts:
        out = io.BytesIO()
        part.write_parquet(out, compression=compression)  # type: ignore[arg-type]
        content += file.add(out.getvalue())
    path, expected = tmp_path / "a.parquet", pl.concat(parts)
    path.write_bytes(content + file.finish())
    assert_frame_equal(pl.concat([table(seed) for seed in range(20)]), expected)
    assert_frame_equal(pl.read_parquet(path), expected)
    assert_frame_equal(pl.DataFrame(pq.read_table(path)), expected)
    chosen = pq.read_table(path, filters=[("query", "=", "7"), ("score", ">", 0.7)])  # uses statistics of row groups
    assert_frame_equal(pl.DataFrame(chosen), expected.filter(query="7").filter(pl.col("score") > 0.7))
    assert {part.height for part in parts[:-1]} == {300}


@pytest.mark.parametrize("top", [None, 2])
def test_a_consensus_is_written_as_parquet_with_the_content_of_a_whole_write(top: int | None, tmp_path: Path) -> None:
    source, out = tmp_path / "a.parquet", tmp_path / "streamed.parquet"
    table().write_parquet(source, row_group_size=50)
    counted = rank_files([source], juryrank.method("borda"), out, memory=10**7, top=top)
    data = juryrank.read(source)
    juryrank.write(juryrank.method("borda").fit(data).predict(data), tmp_path / "whole.parquet", top=top)
    assert_frame_equal(pl.read_parquet(out), pl.read_parquet(tmp_path / "whole.parquet"))
    assert counted == (30, pl.read_parquet(out).height)
    again = juryrank.read(out).rankings
    assert again.n_entries == counted[1]
    assert again.queries == data.rankings.queries
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_neither_batches_nor_threads_change_a_byte_of_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table().write_parquet(tmp_path / "a.parquet", row_group_size=50)
    contents = set()
    for threads, size in (("1", 1), ("4", 5000), ("2", 10**9)):
        monkeypatch.setenv("JURYRANK_THREADS", threads)
        files = QueryFiles([tmp_path / "a.parquet"], None, {})
        rank_batches(files, juryrank.method("rrf"), tmp_path / "out.parquet", size=size)
        contents.add((tmp_path / "out.parquet").read_bytes())
    assert len(contents) == 1


def test_an_error_in_the_middle_leaves_the_old_file(tmp_path: Path) -> None:
    frame = table().with_columns(item=pl.when(pl.int_range(pl.len()) != 300).then("item"))
    frame.write_parquet(tmp_path / "a.parquet", row_group_size=50)
    (tmp_path / "out.parquet").write_bytes(b"old")
    files = QueryFiles([tmp_path / "a.parquet"], None, {})
    with pytest.raises(DataError, match=r"a\.parquet: row 301: expected a name for query and item"):
        rank_batches(files, juryrank.method("rrf"), tmp_path / "out.parquet", size=1)
    assert (tmp_path / "out.parquet").read_bytes() == b"old"
    assert {path.name for path in tmp_path.iterdir()} == {"a.parquet", "out.parquet"}


@pytest.mark.parametrize(
    ("name", "tag", "told"),
    [
        ("out.csv", None, r"out\.csv: .* TREC run \(\.run, \.trec or \.txt\) or as Parquet \(\.parquet\)"),
        ("out.parquet", "mine", "tag= does not apply to the format table"),
    ],
)
def test_other_endings_and_a_tag_for_a_table_are_refused_before_the_work(
    name: str, tag: str | None, told: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=told):
        rank_files([tmp_path / "absent.parquet"], juryrank.method("rrf"), tmp_path / name, memory=10**7, tag=tag)
