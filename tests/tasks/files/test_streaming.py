"""What is ranked query by query is what is ranked at once, byte by byte; and what cannot be is said."""

import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

import juryrank
from juryrank import scan as by_query
from juryrank.errors import DataError, DataWarning
from juryrank.methods import Aggregator
from juryrank.scan.trec_run import RunFile
from juryrank.tasks.files.rank_files import rank_batches, rank_files

EXPERTS = ("bm25", "dense", "sparse")


def rows(seed: int = 0, n_queries: int = 40) -> list[tuple[str, str, str, int, float]]:
    """query, expert, item, rank, score; some lists are missing, and there are ties."""
    rng = random.Random(seed)
    out = []
    for expert in EXPERTS:
        for q in rng.sample(range(n_queries), n_queries - 5):
            items = rng.sample([f"d{i}" for i in range(12)], rng.randint(1, 9))
            scores = sorted((rng.choice([0.5, rng.random()]) for _ in items), reverse=True)
            out += [
                (f"q{q}", expert, item, n, score) for n, (item, score) in enumerate(zip(items, scores, strict=True), 1)
            ]
    return out


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    folder.mkdir()
    for expert in EXPERTS:
        lines = [f"{q} Q0 {item} {rank} {score!r} {e}\n" for q, e, item, rank, score in rows() if e == expert]
        (folder / f"{expert}.run").write_text("".join(lines))
    return folder


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    folder = tmp_path / "tables"
    folder.mkdir()
    frame = pl.DataFrame(rows(), schema=["query", "expert", "item", "rank", "score"], orient="row").drop("rank")
    for (expert,), part in frame.group_by("expert", maintain_order=True):
        part.write_parquet(folder / f"{expert}.parquet", row_group_size=20)
    return folder


def ranked(sources: list[Path], model: Aggregator, out: Path, *, size: int = 5000, chunk: int = 512) -> tuple[int, int]:
    """As ``rank_files``, but looked through in small chunks and ranked in small batches."""
    return rank_batches(by_query.QueryFiles(sources, None, {}, chunk), model, out, size=size)


def at_once(source: Path, out: Path, name: str, **params: object) -> bytes:
    data = juryrank.read(source)
    juryrank.write(juryrank.method(name, **params).fit(data).predict(data), out)
    return out.read_bytes()


@pytest.mark.parametrize("size", [1, 20_000, 10**9])
@pytest.mark.parametrize("name", ["rrf", "borda", "combmnz", "condorcet", "kemeny"])
@pytest.mark.parametrize("kind", ["runs", "tables"])
def test_the_output_is_that_of_everything_at_once(
    kind: str, name: str, size: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    source = request.getfixturevalue(kind)
    counted = ranked([source], juryrank.method(name), tmp_path / "streamed.run", size=size)
    expected = at_once(source, tmp_path / "whole.run", name)
    assert (tmp_path / "streamed.run").read_bytes() == expected
    assert counted == (40, len(expected.splitlines()))


def test_threads_do_not_change_a_byte(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = []
    for n in ("1", "4"):
        monkeypatch.setenv("JURYRANK_THREADS", n)
        ranked([runs], juryrank.method("rrf"), tmp_path / "out.run", size=5000)
        texts.append((tmp_path / "out.run").read_bytes())
    assert texts[0] == texts[1]


def test_a_fitted_model_ranks_query_by_query(runs: Path, tmp_path: Path) -> None:
    data = juryrank.read(runs, labels={"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 1, "d4": 0}})
    model = juryrank.method("jury").fit(data)
    ranked([runs], model, tmp_path / "streamed.run", size=5000)
    juryrank.write(model.predict(data), tmp_path / "whole.run")
    assert (tmp_path / "streamed.run").read_bytes() == (tmp_path / "whole.run").read_bytes()


def test_a_batch_takes_no_more_than_it_may(runs: Path) -> None:
    files = by_query.QueryFiles([runs], None, {})
    batches = files.batches(5000)
    cost = Counter[str]()
    for path in runs.iterdir():
        for line in path.read_text().splitlines():
            cost[line.split()[0]] += RunFile.weight * (len(line) + 1)
    costs = [sum(cost[files.queries[n]] for n in batch) for batch in batches]
    assert [n for batch in batches for n in batch] == list(range(len(files.queries)))
    assert len(batches) > 3
    assert all(cost <= 5000 or len(batch) == 1 for cost, batch in zip(costs, batches, strict=True))


def test_scattered_queries_are_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    lines = [f"q{n % 50} Q0 d{n} 1 {1 - n / 5000} x\n" for n in range(4000)]
    (tmp_path / "x.run").write_text("".join(lines))
    with pytest.raises(DataError, match=r"must be adjacent.*sort -s -k1,1"):
        rank_files([tmp_path / "x.run"], juryrank.method("rrf"), tmp_path / "out.run", memory=10**6)
    assert not (tmp_path / "out.run").exists()


def test_an_error_has_the_line_of_the_whole_file(runs: Path, tmp_path: Path) -> None:
    path = runs / "dense.run"
    lines = path.read_text().splitlines()
    lines[100] = " ".join([*lines[100].split()[:4], "high", "dense"])
    path.write_text("\n".join(lines))
    with pytest.raises(DataError, match=r"dense\.run:101: expected 6 columns"):
        ranked([runs], juryrank.method("rrf"), tmp_path / "out.run", size=2000)


def test_a_method_that_learns_from_all_queries_must_be_fitted(runs: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="fit it on a part"):
        rank_files([runs], juryrank.method("jury"), tmp_path / "out.run", memory=10**6)


def test_two_files_with_one_expert_are_named_by_file_as_in_a_whole_read(runs: Path, tmp_path: Path) -> None:
    (runs / "again.run").write_text((runs / "dense.run").read_text())
    model = juryrank.method("rrf", weights={"again": 3.0})
    with pytest.warns(DataWarning, match="2 files share the expert 'dense'; they are named by file"):
        ranked([runs], model, tmp_path / "out.run")
    with pytest.warns(DataWarning, match="2 files share the expert 'dense'; they are named by file"):
        assert (tmp_path / "out.run").read_bytes() == at_once(
            runs, tmp_path / "whole.run", "rrf", weights={"again": 3.0}
        )


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.csv", b"query,item,expert,rank\nq,a,x,1\n", "only TREC runs and Parquet"),
        ("a.run.gz", b"\x1f\x8b", "unpack it"),
    ],
)
def test_other_files_are_refused(name: str, content: bytes, told: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=told):
        rank_files([tmp_path / name], juryrank.method("rrf"), tmp_path / "out.run", memory=10**6)


def test_only_a_stranger_to_all_batches_is_warned_of(runs: Path, tmp_path: Path) -> None:
    model = juryrank.method("rrf", weights={"dense": 2.0, "nobody": 1.0})
    with pytest.warns(DataWarning) as told:
        ranked([runs], model, tmp_path / "out.run", size=2000)
    assert [str(w.message) for w in told] == [
        "rrf: weights for experts that are not in the data: nobody; known: bm25, dense, sparse"
    ]


@pytest.mark.parametrize("chunk", [8, 24, 40, 64, 100])
def test_lines_may_be_longer_than_a_chunk(runs: Path, chunk: int) -> None:
    whole, cut = (by_query.QueryFiles([runs], None, {}, size) for size in (1 << 20, chunk))
    assert cut.queries.to_list() == whole.queries.to_list()
    for mine, theirs in zip(cut.places, whole.places, strict=True):
        assert [column.tolist() for column in mine] == [column.tolist() for column in theirs]


@pytest.mark.parametrize("kind", ["runs", "tables"])
def test_a_limit_below_what_the_index_takes_is_an_error_that_says_how_much_is_needed(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    source = request.getfixturevalue(kind)
    with pytest.raises(DataError, match=r"index of 40 queries takes .* give at least \d"):
        rank_files([source], juryrank.method("rrf"), tmp_path / "out.run", memory=1000)


@pytest.mark.parametrize("wrong", [None, float("nan")])
def test_queries_that_are_floats_are_named_as_in_a_whole_read(wrong: float | None, tmp_path: Path) -> None:
    """pandas makes floats of whole numbers with gaps; here the gaps are in rows that say nothing at all."""
    paths = []
    for expert, dtype in (("a", pl.Float64), ("b", pl.Int64)):
        frame = pl.DataFrame(
            {"query": [10, 2, 3, 12], "item": ["x", "y", "x", "z"], "score": [1.0, 2.0, 3.0, 4.0], "expert": expert},
            schema_overrides={"query": dtype},
        )
        blank = pl.DataFrame({"query": [wrong]}, schema={"query": pl.Float64})
        frame = pl.concat([frame, blank], how="diagonal") if dtype == pl.Float64 else frame
        paths.append(tmp_path / f"{expert}.parquet")
        frame.write_parquet(paths[-1])
    counted = ranked(paths, juryrank.method("rrf"), tmp_path / "out.run", size=1)
    names = [line.split()[0] for line in (tmp_path / "out.run").read_text().splitlines()]
    assert (names, counted) == (["2", "3", "10", "12"], (4, 4))


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(DataError, match="cannot be read query by query; save the data to a file"):
            rank_files([path], juryrank.method("rrf"), tmp_path / "out.run", memory=10**6)


def test_a_file_that_became_shorter_is_an_error(runs: Path, tmp_path: Path) -> None:
    files = by_query.QueryFiles([runs], None, {})
    path = runs / "dense.run"
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(DataError, match=r"dense\.run: the file became shorter"):
        rank_batches(files, juryrank.method("rrf"), tmp_path / "out.run", size=1)


def test_a_long_line_is_an_error(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (runs / "dense.run").open("a") as file:
        file.write(f"q1 Q0 {'d' * 20_000} 1 1 dense\n")
    monkeypatch.setenv("JURYRANK_MAX_SIZE", "640KB")
    n_lines = (runs / "dense.run").read_text().count("\n")
    with pytest.raises(DataError, match=rf"dense\.run:{n_lines}: a line of more than 10 KB"):
        ranked([runs], juryrank.method("rrf"), tmp_path / "out.run")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux for the peak of memory")
def test_the_limit_of_memory_holds_with_many_queries(tmp_path: Path) -> None:
    """Beside what the program takes with few queries, once kernels are compiled; a quarter more is about as much."""
    program = (
        "import sys, juryrank\n"
        "from juryrank.tasks.files.rank_files import rank_files\n"
        "paths, out = sys.argv[1:-1], sys.argv[-1]\n"
        "rank_files(paths, juryrank.method('rrf'), out, memory=120 * 10**6)\n"
        "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])"
    )
    peaks = []
    for n in (100, 100, 400_000):  # the first run may compile
        paths = [tmp_path / f"{n}-{tag}.run" for tag in "ab"]
        for path in paths:
            path.write_text("".join(f"query-{q:09} Q0 d{q % 100} 1 1.5 {path.stem}\n" for q in range(n)))
        command = [sys.executable, "-c", program, *paths, tmp_path / "out.run"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        peaks.append(int(done.stdout) / 1000)
    assert (tmp_path / "out.run").read_text().count("\n") == 400_000
    assert peaks[2] - peaks[1] < 150
