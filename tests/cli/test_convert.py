"""``juryrank convert`` and the options that describe foreign tables."""

from pathlib import Path

import pytest

import juryrank
from cli.conftest import DEMO, Run, items


@pytest.mark.parametrize("ending", ["tsv", "parquet", "ndjson"])
def test_convert_keeps_ranks_and_labels(run: Run, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"cooking.{ending}"
    assert run("convert", DEMO, out).code == 0
    before, after = juryrank.read(DEMO), juryrank.read(out)
    assert after.rankings.entry_rank.tolist() == before.rankings.entry_rank.tolist()
    assert str(after.slot_labels.tolist()) == str(before.slot_labels.tolist())
    assert after.experts == before.experts


def test_columns_and_values_describe_a_foreign_table(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "foreign.csv"
    path.write_text("topic,doc,system,value\n1,a,s,2\n1,b,s,1\n")
    columns = ["--columns", "query=topic,item=doc,expert=system"]
    assert items(run("rank", path, "--method", "rrf", *columns, "--values", "rank").out) == {"1": ["b", "a"]}
    assert items(run("rank", path, "--method", "rrf", *columns, "--values", "score").out) == {"1": ["a", "b"]}
