"""The lines of TREC runs, written by polars or, for a few of them, by Python: the same bytes, the same errors."""

import numpy as np
import polars as pl
import pytest

from conftest import random_dataset
from juryrank.data import Consensus
from juryrank.data.build import from_dicts
from juryrank.data.trec_lines import AT_ONCE, few_run_lines, has_odd_name, run_lines, score_text
from juryrank.errors import DataError

Row = tuple[str, str, int, float]


def both(rows: list[Row], tag: str = "me") -> tuple[bytes, bytes]:
    schema = {"query": pl.String, "item": pl.String, "rank": pl.Int64, "score": pl.Float64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], [], []]
    return run_lines(frame.with_columns(expert=pl.lit(tag))), few_run_lines(*columns, tag)


def random_consensus(seed: int) -> Consensus:
    rankings = random_dataset(seed).rankings
    return Consensus(rankings, np.random.default_rng(seed).integers(0, 4, rankings.n_slots) / 3)


def test_python_writes_the_lines_that_polars_writes() -> None:
    rng = np.random.default_rng(16)
    any_bits = rng.integers(0, 2**64, 20_000, dtype=np.uint64).view(np.float64)
    ordinary = rng.choice([-1, 1], 20_000) * 10.0 ** rng.uniform(-9, 20, 20_000)
    edges = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-4, 1e-5, -1e-5, 9.999e-5, 1e-6, 1e15, 1e16, 5e-324, 2.0**53, 1 / 61]
    scores = np.concatenate([any_bits, ordinary, edges]).tolist()
    rows = [(f"q{n % 7}", f"dé-{n}", n, score) for n, score in enumerate(scores)]
    by_polars, by_python = both(rows)
    assert by_polars == by_python
    assert all(float(score_text(score)) == score for score in scores if score == score)
    assert both([]) == (b"", b"")


@pytest.mark.parametrize(
    ("row", "tag"),
    [(("a b", "x", 1, 1.0), "me"), (("a", "", 1, 1.0), "me"), (("a", "x\0", 1, 1.0), "me"), (("a", "x", 1, 1.0), "m\n"),
     (("a", "x", 1, 1.0), ""), (("\ufeffa", "x", 1, 1.0), "me"), (("a", "x\ty", 1, 1.0), "m e")],
)  # fmt: skip
def test_both_refuse_the_same_names_with_the_same_message(row: Row, tag: str) -> None:
    frame = pl.DataFrame({"query": ["1", row[0]], "item": ["1", row[1]], "rank": [1, 2], "score": [1.0, 0.5]})
    with pytest.raises(DataError) as by_polars:
        run_lines(frame.with_columns(expert=pl.lit(tag)))
    with pytest.raises(DataError) as by_python:
        few_run_lines(["1", row[0]], ["1", row[1]], [1, 2], [1.0, 0.5], tag)
    assert str(by_polars.value) == str(by_python.value)


@pytest.mark.parametrize("odd", [*" \t\n\r\f\v\0", "\ufeff", ""])
@pytest.mark.parametrize("at", [0, 1, AT_ONCE - 1, AT_ONCE, 2 * AT_ONCE])
def test_an_odd_name_is_found_among_many(odd: str, at: int) -> None:
    names = ["é\u00a0\u2028"] * (2 * AT_ONCE + 1)  # other blanks are part of a name
    assert not has_odd_name(pl.Series(names))
    names[at] = odd and f"{odd}x"
    assert has_odd_name(pl.Series(names))


def test_among_no_names_none_is_odd() -> None:
    assert not has_odd_name(pl.Series([], dtype=pl.String))


@pytest.mark.parametrize("top", [None, 2])
def test_a_run_is_written_in_chunks_of_whole_queries(top: int | None) -> None:
    consensus = random_consensus(12)
    whole = list(consensus.run_lines("me", top, at_once=10**6))
    chunks = list(consensus.run_lines("me", top, at_once=5))
    assert len(whole) == 1
    assert len(chunks) > 3
    assert b"".join(chunks) == whole[0]
    queries = [{line.split()[0] for line in chunk.splitlines()} for chunk in chunks]
    assert sum(map(len, queries)) == len(set().union(*queries))


def test_a_name_in_the_last_query_is_refused_before_the_first_chunk() -> None:
    runs = {"e": {str(q): {f"d{q}": 2.0, "last one" if q == 9 else "x": 1.0} for q in range(10)}}
    data = from_dicts(runs)
    consensus = Consensus(data.rankings, np.arange(data.rankings.n_slots, dtype=float))
    with pytest.raises(DataError, match="whitespace in a name: item 'last one'"):
        consensus.run_lines("me", at_once=4)
    tops = Consensus(data.rankings, -np.arange(data.rankings.n_slots, dtype=float)).run_lines("me", 1, at_once=4)
    assert b"".join(tops).count(b"\n") == 10
