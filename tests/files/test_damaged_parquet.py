"""Parquet files with damaged bytes, beside an independent parser: the same rows, or one clear error; never a crash.

150 files by default; ``JURYRANK_PARQUET=5000`` makes as many.
"""

import io
import os
import random
import warnings
from collections import Counter
from pathlib import Path

import pytest

import juryrank
from juryrank.data import Dataset
from juryrank.errors import DataError, DataWarning

pa = pytest.importorskip("pyarrow", reason="it is the independent parser")
pq = pytest.importorskip("pyarrow.parquet", reason="it is the independent parser")

CASES = int(os.environ.get("JURYRANK_PARQUET", "150"))
Lists = dict[tuple[str, str], dict[str, float]]  # by query and expert: the score of each item


def content(rng: random.Random) -> bytes:
    rows = [
        (f"q{q}", f"d{item}", expert, round(rng.random() * 9, 2))
        for q in range(rng.randint(1, 6))
        for expert in ("a", "b")
        for item in rng.sample(range(9), rng.randint(1, 6))
    ]
    columns = dict(zip(("query", "item", "expert", "score"), map(list, zip(*rows, strict=True)), strict=True))
    out = io.BytesIO()
    pq.write_table(
        pa.table(columns), out, compression=rng.choice(["none", "snappy", "zstd", "gzip"]),
        use_dictionary=rng.random() < 0.5,
    )  # fmt: skip
    return out.getvalue()


def damaged(rng: random.Random, data: bytes) -> bytes:
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        at = rng.randrange(len(out))
        kind = rng.choice(["bit", "cut", "zeros", "more", "byte"])
        if kind == "bit":
            out[at] ^= 1 << rng.randrange(8)
        elif kind == "cut":
            del out[at : at + rng.randint(1, 20)]
        elif kind == "zeros":
            out[at : at + 8] = bytes(len(out[at : at + 8]))
        elif kind == "more":
            out[at:at] = rng.randbytes(rng.randint(1, 8))
        else:
            out[at] = rng.randrange(256)
    return bytes(out)


def slow_lists(path: Path) -> Lists | str:
    """What pyarrow reads: the best score of each item, nothing for a score that is no finite number."""
    try:
        rows = pq.read_table(path).to_pylist()
    except Exception:  # whatever it raises, it refuses
        return "refused"
    if any(set(row) != {"query", "item", "expert", "score"} or None in row.values() for row in rows):
        return "other columns"
    out: Lists = {}
    for row in rows:
        if abs(row["score"]) < float("inf"):
            of_list = out.setdefault((row["query"], row["expert"]), {})
            of_list[row["item"]] = max(row["score"], of_list.get(row["item"], row["score"]))
    return out


def lists_of(data: Dataset) -> Lists:
    r = data.rankings
    assert r.entry_score is not None
    out: Lists = {}
    for n in range(r.n_lists):
        entries = slice(r.entry_ptr[n], r.entry_ptr[n + 1])
        items = r.items[r.slot_item[r.entry_slot[entries]]].tolist()
        name = (r.queries[r.list_query[n]], r.experts[r.list_expert[n]])
        out[name] = dict(zip(items, r.entry_score[entries].tolist(), strict=True))
    return out


def test_a_damaged_parquet_file_gives_the_rows_of_another_parser_or_one_error(tmp_path: Path) -> None:
    ends: Counter[str] = Counter()
    path = tmp_path / "a.parquet"
    for seed in range(CASES):
        rng = random.Random(seed)
        path.write_bytes(damaged(rng, content(rng)))
        wanted = slow_lists(path)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)
                found = lists_of(juryrank.read(path))
        except DataError as error:
            named = "a.parquet" in str(error) and "\n" not in str(error)
            ends["refused" if named else f"{seed}: {error}"] += 1
            continue
        if isinstance(wanted, dict):
            ends["the same rows" if found == wanted else "other rows"] += 1
        else:
            ends[f"read, where pyarrow says {wanted}"] += 1
    print(dict(ends))
    assert ends["refused"] > CASES / 4
    assert ends["the same rows"] > CASES / 20
    assert not [end for end in ends if end[0].isdigit()]  # refused with other words
    # Pages have no checksum: where bytes make no sense, parsers may differ, and pyarrow verifies more than polars.
    assert ends["other rows"] <= CASES / 100
    assert ends["read, where pyarrow says refused"] < CASES / 10
