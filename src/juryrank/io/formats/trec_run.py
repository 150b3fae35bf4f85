"""TREC runs: ``query Q0 item rank score tag``, tabs or any blanks; the tag is the name of the expert.

A line with a tab between all its columns may have blanks inside a name; blanks around names do not count.

The order is that of the scores, largest first, as in trec_eval; equal scores are ties. The rank column may be
absent, may start at 0 or be no number: it is only compared with the scores, and a contradiction is a warning.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import polars as pl

from juryrank.data import Consensus, Dataset
from juryrank.data.trec_lines import run_lines
from juryrank.errors import DataError
from juryrank.io.dataset_frames import entries_of, text_of, unranked
from juryrank.io.files import save, save_all
from juryrank.io.rows import Rows, warn_of_contradictions
from juryrank.io.source import Source
from juryrank.io.words import blank_separated, first_words, is_iteration, is_number
from juryrank.io.write_checks import demand_single_lists, warn_of_loss

ENDINGS = (".run", ".trec")
OUR_TAG = "juryrank"
LONGEST_NAME = 150  # characters of an expert in the name of its file; a digest stands for the rest

FULL = ("query", "iteration", "item", "rank", "score", "tag")
RANKLESS = ("query", "iteration", "item", "score", "tag")


def sniff(source: Source) -> bool:
    """Six blank-separated words with a number in the fifth, or five with Q0 or 0 second, a number fourth."""
    words = first_words(source)
    return (len(words) == 6 or (len(words) == 5 and words[1] in ("Q0", "q0", "0"))) and is_number(words[-2])


def names_of(source: Source) -> tuple[str, ...]:
    """The columns of a run, as its first line has them: five or six."""
    cells = [cell.strip() for cell in source.start[0].split("\t")] if source.start else []
    if len(cells) == len(RANKLESS) and is_iteration(cells[1]) and is_number(cells[3]):
        return RANKLESS
    full = len(cells) == len(FULL) and is_number(cells[4])
    return RANKLESS if len(first_words(source)) == len(RANKLESS) and not full else FULL


def read(source: Source, names: tuple[str, ...] = ()) -> Rows:
    """The lists of one run, or of several in one file when tags differ; ``names`` are its columns, if known."""
    names = names or names_of(source)
    frame = blank_separated(source, names, numeric=("rank", "score"), optional=("rank",))
    frame = frame.drop("iteration").rename({"tag": "expert"})
    if "rank" in names:
        warn_of_contradictions(frame, str(source.path), "scores")
        frame = frame.drop("rank")
    return Rows(name=str(source.path), entries=frame, one_expert=frame["expert"].n_unique() == 1)


def write(thing: Dataset | Consensus, path: Path, top: int | None = None, tag: str = OUR_TAG) -> None:
    """One file for a consensus or a single expert, otherwise a folder with one file per expert."""
    rows = rows_of(thing, top, tag)
    if isinstance(thing, Consensus) or (len(thing.experts) == 1 and path.suffix):
        save(path, run_lines(rows))
        return
    if path.is_file() or path.suffix:
        raise DataError(f"{path}: {len(thing.experts)} experts need a folder; give a path without an ending")
    _save_folder(path, rows)


def _save_folder(folder: Path, rows: pl.DataFrame) -> None:
    """One file per expert, all of them prepared before the first is replaced; no other file may be in the folder."""
    parts = rows.partition_by("expert", maintain_order=True)
    names = _file_names([part["expert"][0] for part in parts])
    texts = {folder / name: [run_lines(part)] for name, part in zip(names, parts, strict=True)}
    try:
        others = sorted(e.name for e in os.scandir(folder) if e.name not in names and not e.name.startswith("."))
    except FileNotFoundError:
        others = []
    except OSError as error:
        raise DataError(f"{folder}: cannot be read: {error.strerror or error}") from None
    if others:
        shown = ", ".join(map(repr, others[:3])) + (" …" if len(others) > 3 else "")
        raise DataError(
            f"{folder}: the folder has {shown}, no part of these runs, which would be read together with them; "
            "move it away, or give another folder"
        )
    made = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot be made: {error.strerror or error}") from None
    try:
        save_all(texts)
    except BaseException:
        if made:
            with suppress(OSError):
                folder.rmdir()
        raise


def _file_names(experts: Sequence[str]) -> list[str]:
    """Names that files may have and that differ in more than case, not hidden; the reader goes by the tag inside."""
    plain = [quote(expert, safe=" +,=@").replace(".", "%2E", expert.startswith(".")) for expert in experts]
    often = Counter(name.lower() for name in plain)
    return [
        f"{name}.run" if len(name) <= LONGEST_NAME and often[name.lower()] == 1
        else f"{name[:LONGEST_NAME]}-{hashlib.sha256(expert.encode()).hexdigest()[:16]}.run"
        for name, expert in zip(plain, experts, strict=True)
    ]  # fmt: skip


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
