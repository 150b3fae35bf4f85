"""Cuts the demo data out of TREC-COVID round 1, from a folder with runs/ and qrels.txt, and fits the demo model."""

import sys
import tempfile
from pathlib import Path

import polars as pl

import juryrank

DEPTH = 100
OUT = Path(__file__).parents[1] / "src" / "juryrank" / "demo" / "trec-covid"


def cut_runs(folder: Path) -> pl.DataFrame:
    """Each list down to rank 100, best first; documents with equal scores share a rank."""
    with tempfile.TemporaryDirectory() as scratch:
        table = Path(scratch) / "runs.parquet"
        juryrank.write(juryrank.read(folder / "runs"), table)
        frame = pl.read_parquet(table)
    cut = frame.filter(pl.col("rank") <= DEPTH).select(
        pl.col("query").cast(pl.Int8), "item", "expert", pl.col("rank").cast(pl.Int8)
    )
    return cut.sort("query", "expert", "rank", "item")


def all_judgements(path: Path) -> pl.DataFrame:
    """Every judgement: the ideal ranking of nDCG also needs documents that no list has among its first 100."""
    rows = [line.split() for line in path.read_text().splitlines()]
    frame = pl.DataFrame(
        {
            "query": [int(topic) for topic, *_ in rows],
            "item": [document for _, _, document, _ in rows],
            "label": [int(grade) for *_, grade in rows],
        },
        schema_overrides={"query": pl.Int8, "label": pl.Int8},
    )
    return frame.sort("query", "item")


def save(frame: pl.DataFrame, name: str) -> None:
    frame.write_parquet(OUT / name, compression="zstd", compression_level=22, statistics=False)
    print(f"{name}: {frame.height} rows, {(OUT / name).stat().st_size} bytes")


def save_model() -> None:
    """The model that ``juryrank serve`` serves without a folder of models."""
    model = juryrank.fit(OUT / "runs.parquet", "jury", labels=OUT / "qrels.parquet")
    juryrank.save(model, OUT / "model.json")
    print(f"model.json: {(OUT / 'model.json').stat().st_size} bytes")


if __name__ == "__main__":
    OUT.mkdir(exist_ok=True)
    if sys.argv[1:]:
        source = Path(sys.argv[1])
        save(cut_runs(source), "runs.parquet")
        save(all_judgements(source / "qrels.txt"), "qrels.parquet")
    save_model()
