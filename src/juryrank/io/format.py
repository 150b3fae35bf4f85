"""The protocol that every file format follows: how it is recognised, read and written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from juryrank.data import Consensus, Dataset
from juryrank.errors import DataError
from juryrank.io.rows import Rows
from juryrank.io.source import Source
from juryrank.polars import pl


class Format(ABC):
    """A file format.

    A subclass declares its name and options, and implements ``sniff``, ``_read`` and ``_lines``. Options that it does
    not declare are refused here, with the same message for every format. A file, a folder, standard output and a
    streamed file all take their bytes from ``lines``.
    """

    name: ClassVar[str]
    endings: ClassVar[tuple[str, ...]] = ()  # of file names, below .gz and .zst
    options: ClassVar[tuple[str, ...]] = ()  # of reading: columns, values
    writes: ClassVar[tuple[type, ...]] = (Dataset,)
    write_options: ClassVar[tuple[str, ...]] = ()  # for a Consensus: top, tag
    one_file_per_expert: ClassVar[bool] = False  # then a Dataset is written to a folder

    @abstractmethod
    def sniff(self, source: Source) -> bool:
        """Whether the content, or the ending, of a file looks like this format."""

    def read(self, source: Source, **options: Any) -> Rows:
        """The rows of a file; a DataError for an option that the format does not have, and for what it cannot read."""
        self.check_options(options, str(source.path))
        with source.reading():
            return self._read(source, **options)

    @abstractmethod
    def _read(self, source: Source, *args: Any, **options: Any) -> Rows:
        """The rows of a file; ``options`` are among those that the format declares."""

    def read_frame(self, frame: pl.DataFrame, **options: Any) -> Rows:
        """The rows of a dataframe, for formats with columns under headers."""
        self.check_options(options, "the table")
        return self._read_frame(frame, **options)

    def _read_frame(self, frame: pl.DataFrame, *args: Any, **options: Any) -> Rows:
        raise DataError(f"a dataframe is read as a table or as comparisons, not as {self.name}")

    def lines(self, thing: Dataset | Consensus, file_name: str = "", **options: Any) -> Iterator[bytes]:
        """The content of a file, in chunks; a DataError for what the format cannot represent.

        ``file_name`` is the name of the file, if it has one: its ending chooses among the kinds of a format.
        """
        self._check_writing(thing, file_name, options)
        return self._lines(thing, file_name, **options)

    @abstractmethod
    def _lines(self, thing: Any, file_name: str, *args: Any, **options: Any) -> Iterator[bytes]:
        """The content of a file, in chunks; ``thing`` is of a type that the format writes."""

    def expert_files(self, data: Dataset, **options: Any) -> Mapping[str, Iterator[bytes]]:
        """The name and the content of a file for each expert; as ``lines`` for what cannot be written."""
        self._check_writing(data, "", options)
        return self._expert_files(data)

    def _expert_files(self, data: Dataset) -> Mapping[str, Iterator[bytes]]:
        raise DataError(f"the format {self.name} has one file for all experts, not a folder")

    def _check_writing(self, thing: Dataset | Consensus, file_name: str, options: Mapping[str, Any]) -> None:
        if not isinstance(thing, self.writes):
            kind = type(thing).__name__
            raise DataError(f"a {kind} cannot be written as {self.name}; write a TREC run or a table instead")
        if options and not isinstance(thing, Consensus):
            given = " and ".join(options)
            raise DataError(f"{given}: only a Consensus is cut and named when it is written, not a Dataset")
        if strange := [name for name in options if name not in self.write_options]:
            raise DataError(f"{file_name or 'writing'}: {strange[0]}= does not apply to the format {self.name}")

    def check_options(self, options: Mapping[str, Any], source: str) -> None:
        """A DataError for a reading option that the format does not have."""
        if strange := [name for name in options if name not in self.options]:
            raise DataError(f"{source}: {strange[0]}= does not apply to the format {self.name}")
