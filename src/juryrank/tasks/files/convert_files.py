"""``convert_files``: write files that are larger than memory in another format."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

from juryrank.data import Dataset
from juryrank.data.trec_lines import run_lines
from juryrank.errors import DataError
from juryrank.io.dataset_frames import TableColumns, entry_rows, unranked_rows, unranked_slots
from juryrank.io.files import Writable, deliver
from juryrank.io.folders import save_folder_interleaved
from juryrank.io.formats import format_for, get_format
from juryrank.io.formats.table import Table
from juryrank.io.formats.trec_qrels import TrecQrels
from juryrank.io.formats.trec_run import TrecRun, file_names, run_rows, warn_of_unranked_items
from juryrank.io.source import ending_of
from juryrank.io.tables.columns import Columns
from juryrank.io.tables.frames import frame_lines
from juryrank.polars import pl
from juryrank.scan.batches import Batch
from juryrank.scan.labelled_files import LabelledFiles, open_files
from juryrank.scan.streamed_output import parquet_chunks

Rows = Callable[[Dataset], "pl.DataFrame"]
SHARE = 0.5  # of the memory of a batch, for reading it; the rest is for its rows and their text
ONLY = "with a memory limit, a TREC run, TREC qrels or a table (.csv, .tsv, .ndjson, .parquet) is written"


def convert_files(
    paths: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str] | Writable,
    *,
    memory: int,
    to: str | None = None,
    labels: Any = None,
    label_columns: Columns = None,
    format: str | None = None,  # noqa: A002
    options: Mapping[str, Any] | None = None,
) -> tuple[int, int]:
    """Write the lists in TREC runs or Parquet tables in another format, using about ``memory`` bytes.

    Returns the numbers of queries and of entries. ``out`` and the format ``to`` are as in ``write``: a TREC run (of
    several experts, a folder of runs), TREC qrels or a table. The output has the bytes that ``write`` gives for all
    data, except that Parquet files have the same rows in other row groups, and .zst other frames. ``labels`` are as in
    ``fit_files``.
    """
    files = open_files(
        paths, labels, memory=memory, share=SHARE, format=format, options=options, label_columns=label_columns
    )
    return convert_labelled(files, out, to)


def convert_labelled(
    files: LabelledFiles, out: str | os.PathLike[str] | Writable, to: str | None = None
) -> tuple[int, int]:
    """As ``convert_files``."""
    path = Path(out) if isinstance(out, str | os.PathLike) else None
    chosen = get_format(to or "trec-run") if path is None else format_for(_NO_DATA, path, to)
    target = out if path is None else path
    assert not isinstance(target, str | os.PathLike) or isinstance(target, Path)
    conversion = _Conversion(files)
    if isinstance(chosen, Table):
        conversion.write_table(target)
    elif isinstance(chosen, TrecQrels):
        deliver(conversion.chunks(lambda data: b"".join(TrecQrels().lines(data))), target)
    elif not isinstance(chosen, TrecRun):
        raise DataError(f"{ONLY}, not {chosen.name}; convert without a limit")
    elif path is None or (len(files.experts) == 1 and path.suffix):
        deliver(conversion.chunks(lambda data: run_lines(run_rows(data, warn=False))), target)
        conversion.warn_of_unranked()
    else:
        conversion.write_runs(path)
    return conversion.n_queries, conversion.n_entries


_NO_DATA: Any = None  # the format is chosen by the name of the file, not by the data


class _Conversion:
    """The files on the way to another format, and what is counted on the way."""

    def __init__(self, files: LabelledFiles) -> None:
        self.files = files
        self.n_queries = self.n_entries = self.n_unranked = 0

    def chunks(self, work: Any) -> Iterator[Any]:
        """The result of ``work`` on the data of each batch."""

        def counted(batch: Batch) -> tuple[Any, int, int, int]:
            r = batch.data.rankings
            return work(batch.data), len(r), r.n_entries, len(unranked_slots(r))

        self.n_queries = self.n_entries = self.n_unranked = 0
        for result, n_queries, n_entries, n_unranked in self.files.map(counted):
            self.n_queries, self.n_entries = self.n_queries + n_queries, self.n_entries + n_entries
            self.n_unranked += n_unranked
            yield result

    def warn_of_unranked(self) -> None:
        warn_of_unranked_items(self.n_unranked)

    def write_runs(self, folder: Path) -> None:
        """A run for each expert."""
        if os.path.isfile(folder) or folder.suffix:
            n = len(self.files.experts)
            raise DataError(f"{folder}: {n} experts need a folder; give a path without an ending")
        names = dict(zip(self.files.experts, file_names(self.files.experts), strict=True))

        def runs(data: Dataset) -> list[tuple[str, bytes]]:
            parts = run_rows(data, warn=False).partition_by("expert", maintain_order=True)
            return [(names[part["expert"][0]], run_lines(part)) for part in parts]

        save_folder_interleaved(folder, list(names.values()), (one for part in self.chunks(runs) for one in part))
        self.warn_of_unranked()

    def write_table(self, target: Path | Writable) -> None:
        """Every entry, then the items that no expert ranks; the columns are found in a pass of their own."""
        found = list(self.chunks(lambda data: (TableColumns.of(data), data.rankings.n_lists, data.queries[:1])))
        columns = reduce(TableColumns.merge, (part for part, _, _ in found))
        columns.warn()
        before, first_list = 0, dict[tuple[str, ...], int]()
        for _, n_lists, query in found:
            first_list[query] = before
            before += n_lists

        def entries(data: Dataset) -> pl.DataFrame:
            return entry_rows(data, columns, first_list[data.queries[:1]])

        def unranked(data: Dataset) -> pl.DataFrame:
            return unranked_rows(data, columns)

        parts = [entries, unranked] if columns.unranked else [entries]
        if isinstance(target, Path) and ending_of(target) == ".parquet":
            deliver(parquet_chunks(frame for rows in parts for frame in self.chunks(rows)), target)
        else:
            deliver(self._table_text(target.name if isinstance(target, Path) else "", parts), target)

    def _table_text(self, name: str, parts: Sequence[Rows]) -> Iterator[bytes]:
        """The text of a table; each of ``parts`` is a pass."""
        head = True
        for rows in parts:

            def text(data: Dataset, rows: Rows = rows) -> tuple[bytes, bytes]:
                frame = rows(data)
                head, body = (frame_lines(part, name, header=part is not frame) for part in (frame.clear(), frame))
                return b"".join(head), b"".join(body)

            for header, body in self.chunks(text):
                yield header + body if head else body
                head = False
