"""A consensus that is written part by part: as a TREC run, or as a Parquet table.

The file depends neither on how the queries are divided into parts nor on the number of threads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from juryrank.data import Consensus
from juryrank.errors import DataError
from juryrank.io.files import Writable
from juryrank.io.formats.table import Table
from juryrank.io.formats.trec_run import DEFAULT_TAG, TrecRun
from juryrank.io.source import ending_of
from juryrank.io.tables.frames import frame_lines
from juryrank.polars import pl
from juryrank.scan.parquet_footer import JoinedFiles

PARQUET = ".parquet"
GROUP = 1 << 17  # rows of a row group


@dataclass(frozen=True)
class StreamedOutput(ABC):
    """How parts of a consensus become a file: ``part`` of each, in any thread, then ``chunks`` of all in order."""

    top: int | None
    tag: str

    @abstractmethod
    def part(self, consensus: Consensus) -> Any:
        """What is kept of some queries until it is their turn."""

    @abstractmethod
    def chunks(self, parts: Iterable[Any]) -> Iterator[bytes]:
        """The content of the file."""


class RunOutput(StreamedOutput):
    """A TREC run."""

    def part(self, consensus: Consensus) -> bytes:
        return b"".join(TrecRun().lines(consensus, top=self.top, tag=self.tag))

    def chunks(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        return iter(parts)


class ParquetOutput(StreamedOutput):
    """A Parquet table with the columns of ``Consensus.to_frame``, in row groups of one size."""

    def part(self, consensus: Consensus) -> pl.DataFrame:
        return consensus.to_frame(self.top)

    def chunks(self, parts: Iterable[pl.DataFrame]) -> Iterator[bytes]:
        return parquet_chunks(parts)


def parquet_chunks(frames: Iterable[pl.DataFrame]) -> Iterator[bytes]:
    """The content of a Parquet file with the rows of all frames, at least one."""
    file = JoinedFiles()
    for group in row_groups(frames, GROUP):
        yield file.add(b"".join(frame_lines(group, f"group{PARQUET}")))
    yield file.finish()


def row_groups(frames: Iterable[pl.DataFrame], rows: int) -> Iterator[pl.DataFrame]:
    """The rows of all frames, ``rows`` at a time; the last may have fewer."""
    kept: list[pl.DataFrame] = []
    height = 0
    for frame in frames:
        kept.append(frame)
        height += frame.height
        if height > rows:
            whole = pl.concat(kept)
            full = (height - 1) // rows * rows
            yield from (whole[start : start + rows] for start in range(0, full, rows))
            kept, height = [whole[full:]], height - full
    if kept:
        yield pl.concat(kept)


def output_for(out: Path | Writable, top: int | None, tag: str | None) -> StreamedOutput:
    """The output for a path by its ending, or for an open file, which gets a TREC run."""
    ending = ending_of(out) if isinstance(out, Path) else ""
    if isinstance(out, Path) and ending == PARQUET:
        if tag is not None:
            raise DataError(f"{out.name}: tag= does not apply to the format {Table.name}")
        return ParquetOutput(top, "")
    if ending not in ("", *TrecRun.endings, ".txt"):
        raise DataError(
            f"{out}: a ranking query by query is written as a TREC run (.run, .trec or .txt) or as Parquet (.parquet)"
        )
    return RunOutput(top, DEFAULT_TAG if tag is None else tag)
