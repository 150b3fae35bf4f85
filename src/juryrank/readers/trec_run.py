"""TREC runs: ``query Q0 item rank score tag``, tabs or any blanks; the tag is the name of the expert.

The order is that of the scores, largest first, as in trec_eval; equal scores are ties. The rank column may be
absent, may start at 0 or be no number: it is only compared with the scores, and a contradiction is a warning.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import polars as pl

from juryrank.data import Consensus, Dataset
from juryrank.data.trec_lines import run_lines
from juryrank.errors import DataError
from juryrank.readers.atomic import save
from juryrank.readers.long import Long, warn_of_contradictions
from juryrank.readers.rows import demand_single_lists, entries_of, text_of, unranked, warn_of_loss
from juryrank.readers.source import Source
from juryrank.readers.words import blank_separated, first_words, is_number

ENDINGS = (".run", ".trec")
OUR_TAG = "juryrank"

FULL = ("query", "iteration", "item", "rank", "score", "tag")
RANKLESS = ("query", "iteration", "item", "score", "tag")


def sniff(source: Source) -> bool:
    """Six blank-separated words with a number in the fifth, or five with Q0 or 0 second, a number fourth."""
    words = first_words(source)
    return (len(words) == 6 or (len(words) == 5 and words[1] in ("Q0", "q0", "0"))) and is_number(words[-2])


def read(source: Source) -> Long:
    """The lists of one run, or of several in one file when tags differ."""
    names = RANKLESS if len(first_words(source)) == len(RANKLESS) else FULL
    frame = blank_separated(source, names, numeric=("rank", "score"), optional=("rank",))
    frame = frame.drop("iteration").rename({"tag": "expert"})
    if "rank" in names:
        warn_of_contradictions(frame, str(source.path), "scores")
        frame = frame.drop("rank")
    return Long(name=str(source.path), entries=frame, one_expert=frame["expert"].n_unique() == 1)


def write(thing: Dataset | Consensus, path: Path, top: int | None = None, tag: str = OUR_TAG) -> None:
    """One file for a consensus or a single expert, otherwise a folder with one file per expert."""
    rows = rows_of(thing, top, tag)
    if isinstance(thing, Consensus) or (len(thing.experts) == 1 and path.suffix):
        save(path, run_lines(rows))
        return
    if path.is_file() or path.suffix:
        raise DataError(f"{path}: {len(thing.experts)} experts need a folder; give a path without an ending")
    parts = rows.partition_by("expert", maintain_order=True)
    texts = {f"{_file_name(part['expert'][0])}.run": run_lines(part) for part in parts}
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{path}: cannot be made: {error.strerror or error}") from None
    for name, text in texts.items():
        save(path / name, text)


def _file_name(expert: str) -> str:
    """The name as a file may have it, not hidden; the reader goes by the tag inside."""
    return quote(expert, safe=" +,=@").replace(".", "%2E", expert.startswith("."))


def rows_of(thing: Dataset | Consensus, top: int | None = None, tag: str = OUR_TAG) -> pl.DataFrame:
    """The rows of a run; lists without scores get the negative rank as score."""
    if isinstance(thing, Consensus):
        frame = thing.to_frame(top).with_columns(expert=pl.lit(tag))
    else:
        demand_single_lists(thing.rankings, "a TREC run")
        warn_of_loss(
            len(unranked(thing.rankings)), "items that nobody ranks are left out: a TREC run has no place for them"
        )
        frame = entries_of(thing.rankings)
        if "score" not in frame.columns:
            frame = frame.with_columns(score=-pl.col("rank"))
    whole = frame.schema["rank"].is_integer()
    return frame if whole else frame.with_columns(text_of(pl.col("rank").cast(pl.Float64)).alias("rank"))
