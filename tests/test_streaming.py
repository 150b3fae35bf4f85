"""What is ranked query by query is what is ranked at once, byte by byte; and what cannot be is said."""

import random
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

import juryrank
from juryrank import streaming
from juryrank.errors import DataError, DataWarning
from juryrank.readers import by_query, query_file
from juryrank.streaming import rank_files

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


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "LEAST", 1)
    monkeypatch.setattr(query_file, "CHUNK", 512)


def at_once(source: Path, out: Path, name: str, **params: object) -> bytes:
    data = juryrank.read(source)
    juryrank.write(juryrank.method(name, **params).fit(data).predict(data), out)
    return out.read_bytes()


@pytest.mark.parametrize("memory", [1, 20_000, 10**9])
@pytest.mark.parametrize("name", ["rrf", "borda", "combmnz", "condorcet", "kemeny"])
@pytest.mark.parametrize("kind", ["runs", "tables"])
def test_the_output_is_that_of_everything_at_once(
    kind: str, name: str, memory: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    source = request.getfixturevalue(kind)
    counted = rank_files([source], juryrank.method(name), tmp_path / "streamed.run", memory=memory)
    expected = at_once(source, tmp_path / "whole.run", name)
    assert (tmp_path / "streamed.run").read_bytes() == expected
    assert counted == (40, len(expected.splitlines()))


def test_threads_do_not_change_a_byte(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = []
    for n in ("1", "4"):
        monkeypatch.setenv("JURYRANK_THREADS", n)
        rank_files([runs], juryrank.method("rrf"), tmp_path / "out.run", memory=5000)
        texts.append((tmp_path / "out.run").read_bytes())
    assert texts[0] == texts[1]


def test_a_fitted_model_ranks_query_by_query(runs: Path, tmp_path: Path) -> None:
    data = juryrank.read(runs, labels={"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 1, "d4": 0}})
    model = juryrank.method("jury").fit(data)
    rank_files([runs], model, tmp_path / "streamed.run", memory=5000)
    juryrank.write(model.predict(data), tmp_path / "whole.run")
    assert (tmp_path / "streamed.run").read_bytes() == (tmp_path / "whole.run").read_bytes()


def test_a_batch_takes_no_more_than_it_may(runs: Path) -> None:
    files = by_query.QueryFiles([runs], None, {})
    batches = files.batches(5000)
    cost = Counter[str]()
    for path in runs.iterdir():
        for line in path.read_text().splitlines():
            cost[line.split()[0]] += 8 * (len(line) + 1)
    costs = [sum(cost[files.queries[n]] for n in batch) for batch in batches]
    assert [n for batch in batches for n in batch] == list(range(len(files.queries)))
    assert len(batches) > 3
    assert all(cost <= 5000 or len(batch) == 1 for cost, batch in zip(costs, batches, strict=True))


def test_scattered_queries_are_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    lines = [f"q{n % 50} Q0 d{n} 1 {1 - n / 5000} x\n" for n in range(4000)]
    (tmp_path / "x.run").write_text("".join(lines))
    with pytest.raises(DataError, match=r"must stand together.*sort -s -k1,1"):
        rank_files([tmp_path / "x.run"], juryrank.method("rrf"), tmp_path / "out.run", memory=10**6)
    assert not (tmp_path / "out.run").exists()


def test_an_error_has_the_line_of_the_whole_file(runs: Path, tmp_path: Path) -> None:
    path = runs / "dense.run"
    lines = path.read_text().splitlines()
    lines[100] = " ".join([*lines[100].split()[:4], "high", "dense"])
    path.write_text("\n".join(lines))
    with pytest.raises(DataError, match=r"dense\.run:101: expected 6 columns"):
        rank_files([runs], juryrank.method("rrf"), tmp_path / "out.run", memory=2000)


def test_a_method_that_learns_from_all_queries_must_be_fitted(runs: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="fit it on a part"):
        rank_files([runs], juryrank.method("jury"), tmp_path / "out.run", memory=10**6)


def test_two_files_with_one_expert_are_an_error(runs: Path, tmp_path: Path) -> None:
    (runs / "again.run").write_text((runs / "dense.run").read_text())
    with pytest.raises(DataError, match="both name their expert 'dense'"):
        rank_files([runs], juryrank.method("rrf"), tmp_path / "out.run", memory=10**6)


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
        rank_files([runs], model, tmp_path / "out.run", memory=2000)
    assert [str(w.message) for w in told] == [
        "rrf: weights for experts that are not in the data: nobody; known: bm25, dense, sparse"
    ]


@pytest.mark.parametrize("chunk", [8, 24, 40, 64, 100])
def test_lines_may_be_longer_than_a_chunk(runs: Path, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = by_query.QueryFiles([runs], None, {})
    monkeypatch.setattr(query_file, "CHUNK", chunk)
    cut = by_query.QueryFiles([runs], None, {})
    assert cut.queries == whole.queries
    for mine, theirs in zip(cut.places, whole.places, strict=True):
        assert [column.tolist() for column in mine] == [column.tolist() for column in theirs]
