"""The demo data as PyTerrier has it, and a retriever that also re-ranks, as PyTerrier's own do."""

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyterrier as pt

import juryrank

FOLDER = Path(juryrank.__file__).parent / "demo" / "trec-covid"
SYSTEMS = ("bm25_baseline", "T5R1", "RUIR-doc2vec", "lda400s2000", "uogTrDPH_QE")


class Retriever(pt.Transformer):
    """Documents with known scores; those of the input, where it has documents."""

    def __init__(self, results: pd.DataFrame) -> None:
        self.results = results

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        pt.validate.columns(inp, includes=["qid", "query"], context=self)
        if "docno" in inp.columns:
            kept = inp.drop(columns=["score", "rank"], errors="ignore")
            return kept.merge(self.results, on=["qid", "docno"])
        return inp.merge(self.results, on="qid")


def runs() -> dict[str, pd.DataFrame]:
    """The results of some systems; equal ranks are equal scores."""
    rows = pl.read_parquet(FOLDER / "runs.parquet").with_columns(pl.col("query").cast(pl.String))
    out = {}
    for system in SYSTEMS:
        of = rows.filter(pl.col("expert") == system)
        frame = pd.DataFrame({"qid": of["query"].to_list(), "docno": of["item"].to_list()})
        frame["score"] = (1000.0 - of["rank"]).to_list()
        frame["rank"] = frame.groupby("qid")["score"].rank(ascending=False, method="first").astype(int) - 1
        out[system] = frame
    return out


def qrels() -> pd.DataFrame:
    rows = pl.read_parquet(FOLDER / "qrels.parquet")
    names = {"qid": rows["query"].cast(pl.String).to_list(), "docno": rows["item"].to_list()}
    return pd.DataFrame({**names, "label": rows["label"].cast(int).to_list()})


def topics() -> pd.DataFrame:
    names = [str(n) for n in range(1, 31)]
    return pd.DataFrame({"qid": names, "query": [f"topic {name}" for name in names]})


def as_dicts(results: dict[str, pd.DataFrame], chosen: Any) -> dict[str, dict[str, dict[str, float]]]:
    """``{system: {qid: {docno: score}}}`` of the chosen topics, for juryrank."""
    return {
        system: {
            qid: dict(zip(rows["docno"], rows["score"], strict=True))
            for qid, rows in frame[frame["qid"].isin(list(chosen))].groupby("qid")
        }
        for system, frame in results.items()
    }


def orders(frame: pd.DataFrame) -> dict[str, list[str]]:
    """The documents of each query, by rank."""
    ordered = frame.sort_values(["qid", "rank"])
    return {qid: rows["docno"].tolist() for qid, rows in ordered.groupby("qid")}
