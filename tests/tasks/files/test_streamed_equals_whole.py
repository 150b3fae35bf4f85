"""Files read query by query give the bytes of files read whole, or both ways refuse them: made files, seeded.

Over formats, types of ids, ends of lines, byte order marks, blank lines, null queries, damage and equal headers. 200
cases by default; ``JURYRANK_STREAMED=3000`` runs as many.
"""

import io
import os
import random
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import polars as pl
import pytest

import juryrank
from juryrank.errors import DataWarning, JuryrankError
from juryrank.io.formats.trec_run import TrecRun
from juryrank.scan import QueryFiles
from juryrank.tasks.files.rank_files import rank_batches

BY_DESIGN = ("must be adjacent", "needs a column 'query'", "cannot be read query by query", "looks like qrels")
METHODS = ("rrf", "combsum", "borda")
Row = tuple[int, str, str, int, float]  # query, item, expert, rank, score


def rows(rng: random.Random, experts: list[str]) -> list[Row]:
    """Lists of some experts for some queries, which stand together; ties, missing lists, no order of queries."""
    out: list[Row] = []
    for q in rng.sample(range(1, 30), rng.randint(1, 14)):
        for expert in rng.sample(experts, rng.randint(1, len(experts))):
            items = rng.sample([f"d{i}" for i in range(8)], rng.randint(1, 6))
            scores = sorted((round(rng.random(), 1) for _ in items), reverse=True)
            out += [(q, item, expert, n, score) for n, (item, score) in enumerate(zip(items, scores, strict=True), 1)]
    return out


def query_names(rng: random.Random) -> Callable[[int], str]:
    forms = ["{}", "q{}", "0{}", "{}.0", "é{}", "\ufeff{}", "日{}", "{}\x01", "two words {}", "x" * 40 + "{}"]
    form = rng.choice(forms[: rng.choice([2, 8, 10])])
    return lambda q: (rng.choice(["{}", form]) if rng.random() < 0.05 else form).format(q)


def write_run(rng: random.Random, path: Path) -> None:
    """A run in one of the ways in which runs are written."""
    name, ranks = query_names(rng), rng.random() < 0.8
    separator = rng.choice([" ", " ", "\t", "\t", "  ", " \t", "\t "])
    end = rng.choice(["\n", "\n", "\r\n", "\r", "\n\r", "\n\n", "mixed"])
    experts = rng.choice([["a"], ["a"], ["b"], ["a", "b"], ["a", "b", "c d"]])
    text = rng.choice(["", "", "\ufeff", "\ufeff\ufeff"]) + rng.choice(["", "", "\n", " \n\r\n", "\t\n" * 15, "\r"])
    for q, item, expert, rank, score in rows(rng, experts):
        cells = [name(q), "Q0", item, *([str(rank)] if ranks else []), str(score), expert]
        text += separator.join(cells) if rng.random() > 0.02 else rng.choice([" ", "\t"]).join(cells) + " "
        text += rng.choice(["\n", "\r\n", "\r"]) if end == "mixed" else end
        text += rng.choice(["\n", " \n", "\t\r\n", "\f\r", "\v\n"]) if rng.random() < 0.02 else ""
    data = text.encode()
    path.write_bytes(data.rstrip(b"\r\n") if rng.random() < 0.2 else data)


def table_of(rng: random.Random) -> pl.DataFrame:
    """A table in one of the ways in which tables are laid out."""
    frame = pl.DataFrame(
        rows(rng, rng.choice([["a"], ["a", "b"], ["b", "c"]])),
        schema=["query", "item", "expert", "rank", "score"],
        orient="row",
    )
    kind = rng.choice(["score", "score", "rank", "both", "some scores", "no expert", "wide", "weights"])
    if kind == "some scores":
        frame = frame.with_columns(pl.when(pl.col("query") % 5 != 0).then("score"))
    if kind == "weights":
        frame = frame.with_columns(weight=pl.col("query") % 3 + 1.0, list=pl.col("query").cast(pl.String))
    if kind in ("score", "no expert", "wide"):
        frame = frame.drop("rank")
    if kind == "rank":
        frame = frame.drop("score")
    if kind == "no expert":
        frame = frame.filter(expert=frame["expert"][0]).drop("expert")
    if kind == "wide":
        frame = frame.pivot("expert", index=["query", "item"], values="score", maintain_order=True)
    return frame


def typed(rng: random.Random, frame: pl.DataFrame) -> pl.DataFrame:
    """The table with queries of some type, and sometimes gaps."""
    query = pl.col("query")
    kinds: dict[str, pl.Expr] = {
        "int": query,
        "float": query.cast(pl.Float64),
        "float32": query.cast(pl.Float32),
        "some halves": query + pl.when(query % 7 == 0).then(0.5).otherwise(0.0),
        "text": query.cast(pl.String),
        "prefixed": "q" + query.cast(pl.String),
        "category": query.cast(pl.String).cast(pl.Categorical),
        "date": pl.date(2020, 1, query),
        "bool": query % 2 == 0,
        "large": query * 1e17,
        "huge": query * 1e40,
        "bytes": query.cast(pl.String).cast(pl.Binary),
        "list": pl.concat_list(query),
    }
    kind = rng.choice([*list(kinds)[:7], *kinds])
    frame = frame.with_columns(query=kinds[kind])
    if rng.random() < 0.2:
        frame = frame.with_columns(item=frame["item"].str.slice(1).cast(pl.Float64) + rng.choice([0.0, 0.5]))
    gap = rng.choice(["none"] * 5 + ["blank rows", "null", "nan", "empty"])
    where = rng.randrange(frame.height)
    if gap == "blank rows":
        blank = frame.clear(2)
        frame = pl.concat([frame[:where], blank, frame[where:]])
    elif gap == "null":
        frame = frame.with_columns(pl.when(pl.int_range(pl.len()) != where).then("query"))
    elif gap == "nan" and frame.schema["query"].is_float():
        frame = frame.with_columns(pl.when(pl.int_range(pl.len()) != where).then("query").otherwise(float("nan")))
    elif gap == "empty" and frame.schema["query"] == pl.String:
        frame = frame.with_columns(pl.when(pl.int_range(pl.len()) != where).then("query").otherwise(pl.lit("")))
    return frame


def write_table(rng: random.Random, path: Path) -> None:
    frame = typed(rng, table_of(rng))
    header = rng.choice(["same"] * 8 + ["other word", "like another", "equal"])
    if header == "other word":
        frame = frame.rename({"query": "qid"})
    if header == "like another":
        frame = frame.with_columns(Query=pl.col("query"))
    if header == "equal":
        frame = frame.with_columns(itex=pl.col("item"))
    frame.write_parquet(path, row_group_size=rng.choice([5, 1000]), compression="uncompressed")
    if header == "equal":
        path.write_bytes(path.read_bytes().replace(b"itex", b"item"))


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Some bytes changed, dropped or repeated."""
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 3])):
        at, size = rng.randrange(len(out)), rng.choice([1, 1, 5, 40])
        new = rng.choice([b"", bytes([rng.randrange(256)]), bytes(out[at : at + size]) * 2, b" ", b"\t", b"\n", b"\r"])
        out[at : at + size] = new
    return bytes(out or b" ")


def made(rng: random.Random, folder: Path) -> list[Path]:
    """Some files, one of them damaged or cut short now and then."""
    paths = []
    for n in range(rng.choice([1, 1, 2, 3])):
        if rng.random() < 0.6:
            paths.append(folder / f"{n}.run")
            write_run(rng, paths[-1])
        else:
            paths.append(folder / f"{n}.parquet")
            write_table(rng, paths[-1])
    if rng.random() < 0.25:
        path = rng.choice(paths)
        data = path.read_bytes()
        path.write_bytes(damaged(data, rng) if rng.random() < 0.5 else data[: rng.randrange(len(data))])
    return paths


def format_of(rng: random.Random, paths: list[Path]) -> str | None:
    """Runs are sometimes called so, which lets their first line be anything."""
    return "trec-run" if rng.random() < 0.5 and all(path.suffix == ".run" for path in paths) else None


def whole(paths: list[Path], format_name: str | None, name: str) -> bytes:
    data = juryrank.read(paths, format=format_name)
    if not data.rankings.n_lists:
        raise juryrank.errors.DataError("no lists")
    return b"".join(TrecRun().lines(juryrank.method(name).fit(data).predict(data)))


def streamed(paths: list[Path], format_name: str | None, name: str, rng: random.Random) -> bytes:
    out = io.BytesIO()
    files = QueryFiles(paths, format_name, {}, chunk=rng.choice([8, 64, 512, 1 << 20]))
    rank_batches(files, juryrank.method(name), out, size=rng.choice([1, 2000, 1 << 20]))
    return out.getvalue()


def attempt(work: Callable[[], bytes]) -> bytes | str:
    """What comes out, or what is wrong."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        try:
            return work()
        except JuryrankError as error:
            return str(error)


@pytest.mark.parametrize("block", range(int(os.environ.get("JURYRANK_STREAMED", "100")) // 100))
def test_both_ways_give_the_same_bytes_or_an_error(block: int, tmp_path: Path) -> None:
    outcomes = Counter[str]()
    for seed in range(100 * block, 100 * (block + 1)):
        rng = random.Random(seed)
        folder = tmp_path / str(seed)
        folder.mkdir()
        paths = made(rng, folder)
        given = paths, format_of(rng, paths), rng.choice(METHODS)
        one, other = attempt(partial(whole, *given)), attempt(partial(streamed, *given, rng))
        if isinstance(other, str) and any(words in other for words in BY_DESIGN):
            outcomes["refused by design"] += 1
        elif isinstance(one, str) or isinstance(other, str):
            assert isinstance(one, str), (seed, other)
            assert isinstance(other, str), (seed, one)
            outcomes["both refuse"] += 1
        else:
            assert one == other, seed
            outcomes["same"] += 1
    assert outcomes["same"] > 30
    assert outcomes["both refuse"] > 5
