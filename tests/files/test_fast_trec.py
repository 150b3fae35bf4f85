"""The fast path reads runs as the general reader does, and leaves to it what it does not cover."""

import random
import warnings
from pathlib import Path

import numpy as np
import pytest

from juryrank.data import Dataset
from juryrank.errors import DataWarning, JuryrankError
from juryrank.io import fast_trec, read
from juryrank.io.files import load
from juryrank.io.source import Source
from juryrank.io.sources import load_sources, read_fast, read_rows

from .test_fuzz import damaged

FLAT = (
    "slot_ptr", "slot_item", "list_ptr", "list_expert", "list_weight", "entry_ptr", "entry_slot", "entry_rank",
    "entry_score",
)  # fmt: skip


def lines(seed: int, tag: str, n_queries: int = 6, separator: str = " ", *, ranks: bool = True) -> str:
    """A run with ties, long and short numbers, and names of any script."""
    rng = random.Random(seed)
    out = []
    for q in rng.sample(["10", "9", "q1", "ä2", "07", "0"], n_queries):
        items = rng.sample([f"d{i}" for i in range(9)] + ["ß", "日本", "D-1", "d10"], rng.randint(1, 9))
        scores = sorted(
            (rng.choice([rng.random(), 0.5, 17 * rng.random(), -rng.random()]) for _ in items), reverse=True
        )
        for n, (item, score) in enumerate(zip(items, scores, strict=True)):
            out.append(separator.join([q, "Q0", item, *([str(n)] if ranks else []), repr(score), tag]))
    return "\n".join(out) + "\n"


def sources(*texts: str | bytes) -> list[Source]:
    return [Source(Path(f"{n}.run"), t if isinstance(t, bytes) else t.encode()) for n, t in enumerate(texts)]


def assert_identical(one: Dataset, other: Dataset) -> None:
    a, b = one.rankings, other.rankings
    assert (a.queries, a.experts, a.items.tolist()) == (b.queries, b.experts, b.items.tolist())
    for name in FLAT:
        mine, theirs = getattr(a, name), getattr(b, name)
        assert mine.dtype == theirs.dtype, name
        np.testing.assert_array_equal(mine, theirs, err_msg=name)


@pytest.mark.parametrize("separator", [" ", "\t"])
@pytest.mark.parametrize("ranks", [True, False])
@pytest.mark.parametrize("n_threads", ["1", "3"])
def test_both_ways_give_the_same_dataset(
    separator: str, ranks: bool, n_threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JURYRANK_THREADS", n_threads)
    for seed in range(20):
        given = sources(*(lines(10 * seed + n, f"e{n}", separator=separator, ranks=ranks) for n in range(4)))
        fast = fast_trec.read(given, bytes_per_thread=1)
        assert fast is not None
        assert_identical(fast, read_rows(given, "trec-run", {}).build())


def test_files_of_one_expert_about_different_queries_are_one_expert() -> None:
    given = sources("1 Q0 a 1 2.5 x\n", "2 Q0 a 1 2.5 x\n2 Q0 b 2 1e-3 x")
    fast = fast_trec.read(given)
    assert fast is not None
    assert fast.experts == ("x",)
    assert_identical(fast, read_rows(given, "trec-run", {}).build())


@pytest.mark.parametrize(
    "text",
    [
        "1 Q0 a 1 2.5 x y\n",
        "1 Q0 a 1 2.5\n1 Q0 a 1 2.5 x\n",
        "1  Q0 a 1 2.5 x\n",
        "1 Q0 a\t1 2.5 x\n",
        " 1 Q0 a 1 2.5 x\n",
        "1 Q0 a 1 nan x\n",
        "1 Q0 a 1 1e999 x\n",
        "1 Q0 a first 2.5 x\n",
        "1 Q0 a 1 2.5 x\n1 Q0 a 2 2.0 x\n",  # twice in a list
        "1 Q0 a 1 2.5 x\n1 Q0 b 2 3.0 x\n",  # rises
        "1 Q0 a 2 2.5 x\n1 Q0 b 1 2.0 x\n",  # ranks contradict
        "1 Q0 a 1 2.5 x\n2 Q0 a 1 2.5 x\n1 Q0 b 2 2.0 x\n",  # a list in two places
    ],
)
def test_what_is_not_covered_is_left_to_the_general_reader(text: str) -> None:
    assert fast_trec.read(sources(text)) is None


def test_two_files_that_share_an_expert_and_a_query_are_left_to_the_general_reader() -> None:
    assert fast_trec.read(sources("1 Q0 a 1 2.5 x\n", "1 Q0 b 1 2.5 x\n")) is None


def test_a_damaged_run_is_never_read_differently(tmp_path: Path) -> None:
    rng = random.Random(0)
    whole = lines(1, "e").encode()
    compared = 0
    for _ in range(1500):
        path = tmp_path / "damaged.run"
        path.write_bytes(damaged(whole, rng))
        try:
            given = [load(path)]
        except JuryrankError:
            continue
        fast = fast_trec.read(given)
        if fast is None:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error", DataWarning)
            assert_identical(fast, read_rows(given, "trec-run", {}).build())
        compared += 1
    assert compared > 100


def test_large_runs_are_read_the_short_way(tmp_path: Path) -> None:
    for n in range(3):
        (tmp_path / f"{n}.run").write_text(lines(n, f"e{n}"))
    given = load_sources([tmp_path])
    assert read_fast(given, None, {}) is None
    fast = read_fast(given, None, {}, at_least=0)
    assert fast is not None
    assert_identical(fast, read(tmp_path))
