"""Frames of PyTerrier: lists and labels from them, and the frame of a fused ranking."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt

from juryrank.data.names import natural_key
from juryrank.errors import DataError
from juryrank.polars import pl

Runs = dict[str, dict[str, Any]]  # expert -> query -> list
Ranking = dict[str, dict[str, float]]  # query -> document -> score, best first

KEYS = ["qid", "docno"]
RANKED = ["score", "rank"]
# Of an index or of a pipeline, so those of several experts do not go together.
OF_ONE_EXPERT = {*KEYS, *RANKED, "docid", "features"}


def results_of(frame: Any, expert: str, queries: Any) -> Any:
    """The results of an expert, checked, for the queries of a frame; qid and docno are text."""
    demand_frame(frame, f"what expert {expert!r} returns")
    if absent := [column for column in KEYS if column not in frame.columns]:
        raise DataError(
            f"expert {expert!r} must return the column {absent[0]!r}; its columns are {list(frame.columns)}"
        )
    if not {*RANKED} & {*frame.columns}:
        raise DataError(f"expert {expert!r} must return a score or a rank; its columns are {list(frame.columns)}")
    frame = with_text_keys(frame, f"expert {expert!r}")
    return frame[frame["qid"].isin(set(texts(queries["qid"])))]


def demand_frame(given: Any, name: str) -> None:
    """An error for anything but a frame."""
    if not isinstance(given, pd.DataFrame):
        raise DataError(f"{name} must be a pandas DataFrame, got {type(given).__name__}")


def with_text_keys(frame: Any, source: str) -> Any:
    """The frame with qid and docno as text, so that 7 and "7" are the same."""
    for column in KEYS:
        if n := int(frame[column].isna().sum()):
            raise DataError(f"{source}: {column} must not be empty; it is in {n} of {len(frame)} rows")
    return frame.assign(**{column: texts(frame[column]) for column in KEYS})


def texts(column: Any) -> list[str]:
    """The values of a column as text."""
    return [value if isinstance(value, str) else str(value) for value in column.tolist()]


def lists_of(frame: Any, expert: str) -> dict[str, Any]:
    """The list of each query: by score, or in the order of rank where there is no score."""
    if "score" not in frame.columns:
        ordered = frame.sort_values("rank", kind="stable")
        orders: dict[str, list[str]] = {}
        for qid, docno in zip(ordered["qid"].tolist(), ordered["docno"].tolist(), strict=True):
            orders.setdefault(qid, []).append(docno)
        return orders
    scores = numbers(frame["score"], f"expert {expert!r}: score")
    return scored_lists(frame["qid"].tolist(), frame["docno"].tolist(), scores.tolist())


def numbers(column: Any, name: str) -> Any:
    """A column of numbers as an array; missing ones are NaN."""
    try:
        return pd.to_numeric(column).to_numpy(dtype=float, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must be a number: {error}") from None


def scored_lists(qids: Iterable[str], docnos: Iterable[str], scores: Iterable[float]) -> dict[str, Any]:
    """``{query: {document: score}}``; a list with a document twice keeps both, for juryrank to count and report."""
    pairs: dict[str, list[tuple[str, float]]] = {}
    for qid, docno, score in zip(qids, docnos, scores, strict=True):
        pairs.setdefault(qid, []).append((docno, score))
    out: dict[str, Any] = {}
    for qid, listed in pairs.items():
        unique = dict(listed)
        repeats = len(unique) < len(listed)
        out[qid] = [{"id": docno, "score": score} for docno, score in listed] if repeats else unique
    return out


def feature_lists(frame: Any, experts: Sequence[str], missing_value: float | None) -> Runs:
    """The lists of the experts whose scores are the features."""
    widths = {np.size(features) for features in frame["features"]}
    if widths != {len(experts)}:
        found = " or ".join(map(str, sorted(widths)))
        raise DataError(f"{len(experts)} experts are named ({', '.join(experts)}), but documents have {found} features")
    keyed = with_text_keys(frame, "the input")
    qids, docnos = keyed["qid"].to_numpy(object), keyed["docno"].to_numpy(object)
    table = np.stack([np.asarray(features, float).ravel() for features in frame["features"]])
    listed = ~np.isnan(table) if missing_value is None else ~np.isnan(table) & (table != missing_value)
    return {
        expert: scored_lists(qids[listed[:, n]], docnos[listed[:, n]], table[listed[:, n], n].tolist())
        for n, expert in enumerate(experts)
    }


def labels_of(qrels: Any) -> pl.DataFrame:
    """The rows of qrels as labels."""
    demand_frame(qrels, "qrels")
    if absent := [column for column in (*KEYS, "label") if column not in qrels.columns]:
        raise DataError(f"qrels must have the column {absent[0]!r}; its columns are {list(qrels.columns)}")
    keyed = with_text_keys(qrels, "qrels")
    names = {"query": keyed["qid"].tolist(), "item": keyed["docno"].tolist()}
    return pl.DataFrame({**names, "label": numbers(qrels["label"], "qrels: label")})


@dataclass(frozen=True)
class Columns:
    """The columns of a fused ranking, without qid and docno."""

    of_query: list[str]  # those of the input
    of_document: list[str]  # those of the input, if it has documents, then those of the experts

    @classmethod
    def of(cls, given: Sequence[str], by_expert: Iterable[Sequence[str]]) -> Columns:
        """From the columns of the input and of the results of each expert."""
        own = [column for column in given if column not in (*KEYS, *RANKED)]
        of_query = [column for column in own if "docno" not in given or _is_of_query(column)]
        new = (column for columns in by_expert for column in columns if not _is_of_query(column))
        of_document = [column for column in (*own, *new) if column not in of_query]
        known = {*own} - {*of_query}
        return cls(of_query, [c for c in dict.fromkeys(of_document) if c in known or c not in OF_ONE_EXPERT])

    @property
    def all(self) -> list[str]:
        return ["qid", *self.of_query, "docno", *self.of_document, *RANKED]


def _is_of_query(column: str) -> bool:
    return bool(pt.model.query_columns(pd.DataFrame(columns=[column])))


def assemble(inp: Any, fused: Ranking, results: Sequence[Any]) -> Any:
    """The frame of a fused ranking: queries in the order of the input, documents best first."""
    columns = Columns.of(list(inp.columns), [list(frame.columns) for frame in results])
    first: dict[str, int] = {}
    for row, qid in enumerate(texts(inp["qid"])):
        first.setdefault(qid, row)
    found = [(qid, docno, score, rank) for qid in first for docno, score, rank in _best_first(fused.get(qid, {}))]
    if not found:
        return empty(columns.all)
    qids, docnos, scores, ranks = map(list, zip(*found, strict=True))
    rows = inp[["qid", *columns.of_query]].iloc[[first[qid] for qid in qids]].reset_index(drop=True)
    documents = {} if not columns.of_document else _documents(inp, results, columns, [qids, docnos])
    return rows.assign(docno=docnos, **documents, score=scores, rank=ranks)


def _documents(inp: Any, results: Sequence[Any], columns: Columns, keys: list[list[str]]) -> dict[str, Any]:
    """The columns that describe a document, each from the first source with a value: the input, then the experts."""
    shared = [column for column in columns.of_document if column not in OF_ONE_EXPERT]
    parts = [frame[[*KEYS, *(column for column in shared if column in frame.columns)]] for frame in results]
    if "docno" in inp.columns:
        own = [column for column in columns.of_document if column in inp.columns]
        parts.insert(0, with_text_keys(inp, "the input")[[*KEYS, *own]])
    known = pd.concat([part for part in parts if len(part)]).groupby(KEYS, sort=False).first()
    rows = known.reindex(pd.MultiIndex.from_arrays(keys))
    return {column: rows[column].array for column in columns.of_document}


def rerank(inp: Any, fused: Ranking) -> Any:
    """The rows of the input, each document once, in the order of the fused ranking; those that are not in it, last."""
    keyed = with_text_keys(inp, "the input")
    places: dict[str, dict[str, int]] = {}  # of the first row of each document
    for row, (qid, docno) in enumerate(zip(keyed["qid"].tolist(), keyed["docno"].tolist(), strict=True)):
        places.setdefault(qid, {}).setdefault(docno, row)
    found = []
    for qid, row_of in places.items():
        ranking = fused.get(qid, {})
        last = min(ranking.values(), default=1.0) - 1
        unlisted = sorted(row_of.keys() - ranking.keys(), key=natural_key)
        complete = {**ranking, **dict.fromkeys(unlisted, last)}
        found += [(row_of[docno], score, rank) for docno, score, rank in _best_first(complete)]
    rows, scores, ranks = map(list, zip(*found, strict=True))
    kept = inp[[column for column in inp.columns if column not in RANKED]]
    return kept.iloc[rows].reset_index(drop=True).assign(score=scores, rank=ranks)


def _best_first(ranking: dict[str, float]) -> Iterator[tuple[str, float, int]]:
    """Document, score and rank, as PyTerrier counts ranks."""
    for rank, (docno, score) in enumerate(ranking.items(), pt.model.FIRST_RANK):
        yield docno, score, rank


def empty(columns: Sequence[str]) -> Any:
    """A frame without rows."""
    return pd.DataFrame(columns=columns).astype({"score": float, "rank": int})
