"""A TREC run that is read query by query; lines end in ``\\n``, ``\\r\\n`` or ``\\r``."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import BinaryIO

import numpy as np

from juryrank.errors import DataError
from juryrank.io.experts import sample_tags
from juryrank.io.formats import trec_run
from juryrank.io.limits import max_line, too_long
from juryrank.io.rows import Rows
from juryrank.io.runs import Runs, names_in
from juryrank.io.source import BYTE_ORDER_MARK, Source, demand_text, with_line_feeds
from juryrank.kernels.trec import find_queries
from juryrank.scan.query_file import Extents, QueryFile, Stretches, merge_extents

LINE_END = re.compile(rb"[\r\n]")
BLOCK = 1 << 20  # bytes that are read at a time to find the end of a line or to count lines


@dataclass
class RunFile(QueryFile):
    """A TREC run; places are bytes."""

    run_columns: tuple[str, ...] = trec_run.FULL
    begin: int = 0  # where the text begins, after byte order marks
    tags: set[str] = field(default_factory=set)  # one if all lines have the same, otherwise at least two
    advice = "sort it by its first column (sort -s -k1,1), or rank it without a memory limit"
    weight = 16
    most = 1 << 25  # above it, names no longer fit into the cache of a core

    def chunks(self) -> Sequence[int]:
        with self.path.open("rb") as file:
            self.begin = 0
            while file.read(len(BYTE_ORDER_MARK)) == BYTE_ORDER_MARK:
                self.begin += len(BYTE_ORDER_MARK)
        return range(self.begin, self.path.stat().st_size, self.chunk)

    def stretches_in(self, chunk: int) -> Stretches:
        first, data = self._lines_of(chunk)
        demand_text(self.path, with_line_feeds(data), lambda: self._line_at(first))
        names, start, tags = find_queries(data, len(self.run_columns))
        self.tags.update(tag.decode() for tag in tags)
        return Stretches(names_in(names), first + start, first + np.append(start[1:], len(data))[: len(start)])

    def _lines_of(self, chunk: int) -> tuple[int, bytes]:
        """The start of the first line that begins in a chunk, and all lines that begin in it."""
        with self.path.open("rb") as file:
            first = chunk
            if chunk > self.begin:  # a line that continues here belongs to the previous chunk
                file.seek(chunk - 1)
                found = LINE_END.search(file.read(self.chunk))
                if found is None:
                    return chunk, b""
                first = chunk + found.start()
            file.seek(first)
            data = file.read(chunk + self.chunk - first)
            data += b"" if data.endswith((b"\n", b"\r")) else self._rest_of_line(file, first, data)
        return first, data

    def _rest_of_line(self, file: BinaryIO, first: int, data: bytes) -> bytes:
        """The rest of a line, which must not be too long."""
        parts, size = [], len(data) - max(data.rfind(b"\n"), data.rfind(b"\r")) - 1
        while block := file.read(BLOCK):
            found = LINE_END.search(block)
            parts.append(block if found is None else block[: found.end()])
            size += len(parts[-1])
            if size > max_line():
                raise too_long(self.path, self._line_at(first + len(data)))
            if found is not None:
                break
        return b"".join(parts)

    def settle_experts(self) -> None:
        """Find the experts of the file, once all chunks have been scanned."""
        size = self.path.stat().st_size
        sampled = sample_tags(lambda start, stop: self._bytes([(start, min(stop, size))]), size)
        self.experts = self.tags | (sampled if len(self.tags) > 1 else set())
        self.tag = next(iter(self.tags)) if len(self.tags) == 1 else ""

    def source(self, extents: Extents) -> Source:
        """The lines in some places."""
        return Source(self.path, with_line_feeds(self._bytes(merge_extents(extents))))

    def _bytes(self, extents: Extents) -> bytes:
        with self.path.open("rb", buffering=0) as file:
            return b"".join(self._part(file.fileno(), start, stop) for start, stop in extents)

    def _part(self, descriptor: int, start: int, stop: int) -> bytes:
        parts = []
        while start < stop:
            part = os.pread(descriptor, stop - start, start)
            if not part:
                raise DataError(f"{self.path}: the file became shorter while it was read")
            parts.append(part)
            start += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def rows(self, extents: Extents) -> Rows:
        try:
            return self._read(self.source(extents))
        except DataError:
            for start, stop in extents:  # the same error, with the line in the whole file
                self._read(replace(self.source([(start, stop)]), first_line=self._line_at(start)))
            raise

    def _read(self, source: Source) -> Rows:
        with source.reading():
            return Runs([source], [self.run_columns]).rows()[0]

    def _line_at(self, at: int) -> int:
        """The line of the file, from 1, that starts at a byte."""
        count, last = 1, b""
        with self.path.open("rb") as file:
            while at > 0 and (block := file.read(min(at, BLOCK))):
                count += block.count(b"\n") + block.count(b"\r") - (last + block).count(b"\r\n")
                at, last = at - len(block), block[-1:]
        return count
