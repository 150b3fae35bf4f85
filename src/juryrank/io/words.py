"""Lines of words with one separator, as columns of a frame."""

from __future__ import annotations

import re
from collections.abc import Collection

from juryrank.io.rows import first_true
from juryrank.io.source import BYTE_ORDER_MARK, Source
from juryrank.polars import pl

BLANKS = b" \f\v"  # beside tab and line feed
INDENTED = re.compile(rb"^[ \t\f\v]+", re.MULTILINE)


def first_words(source: Source) -> list[str]:
    """The words of the first line that is not blank."""
    return [word.decode() for word in source.start[0].encode().split()] if source.start else []


def is_number(text: str) -> bool:
    """Whether a word is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_iteration(text: str) -> bool:
    """Whether a word can be the second column of TREC files: Q0 or a number, so that an item is not taken for it."""
    return text.upper() == "Q0" or is_number(text)


def separator_of(data: bytes) -> bytes:
    """The tab if the beginning of a text has one, else the blank."""
    return b"\t" if b"\t" in data[:10_000] else b" "


def split_columns(line: bytes, n: int, optional: Collection[int] = ()) -> list[bytes]:
    """The columns of a line: between tabs, where that gives all n of them, otherwise between blanks of any kind.

    So a name between tabs may have blanks inside, blanks around it never count, and each line is split on its own.
    """
    cells = [cell.strip(BLANKS) for cell in line.split(b"\t")]
    if len(cells) == n and all(cell or at in optional for at, cell in enumerate(cells)):
        return cells
    return line.split()


def has_both_separators(data: bytes) -> bool:
    """Whether there are tabs and other blanks, so that each line must be split by ``split_columns``."""
    return b"\t" in data and any(bytes([blank]) in data for blank in BLANKS)


def blank_separated(
    source: Source, names: tuple[str, ...], numeric: tuple[str, ...], optional: tuple[str, ...] = ()
) -> pl.DataFrame:
    """Columns as ``split_columns`` finds them, or an error for the first line that does not have them."""
    separator, texts = separator_of(source.data), [name for name in names if name not in numeric]
    margin = separator * len(names)  # a line that begins like this looks blank
    wide = source.data.startswith(margin) or b"\n" + margin in source.data
    data = INDENTED.sub(separator, source.data) if wide else source.data
    frame = read_separated(data, separator.decode(), names, numeric)
    odd = pl.any_horizontal(pl.col(names).is_null()) | pl.col("more").is_not_null()
    others = BLANKS if separator == b"\t" else b"\t\f\v"
    if any(bytes([blank]) in source.data for blank in others):
        pattern = r"^[ \f\v]|[ \f\v]$" if separator == b"\t" else r"[\t\f\v]"
        odd |= pl.any_horizontal(pl.col(texts).str.contains(pattern))
    is_odd = frame.select(odd.fill_null(True)).to_series()
    if is_odd.any():  # most files have one separator throughout; only other lines are split again
        again = _split_again(source.data, frame["line"].filter(is_odd).to_list(), names, numeric, optional)
        frame = pl.concat([frame.filter(~is_odd), again]).sort("line")
    demanded = [name for name in names if name not in optional]
    wrong = frame.select(pl.any_horizontal(pl.col(demanded).is_null()) | pl.col("more").is_not_null()).to_series()
    if (row := first_true(wrong)) is not None:
        expected = " ".join(f"{name} (a number)" if name in numeric else name for name in names)
        raise source.error(frame["line"][row], f"{len(names)} columns: {expected}")
    return frame.select(names)


def _split_again(
    data: bytes, numbers: list[int], names: tuple[str, ...], numeric: tuple[str, ...], optional: tuple[str, ...]
) -> pl.DataFrame:
    """Some lines of a text by ``split_columns``, those that are not blank."""
    lines, may_lack = data.split(b"\n"), {at for at, name in enumerate(names) if name in optional}
    split = [(number, split_columns(lines[number - 1], len(names), may_lack)) for number in numbers]
    split = [(number, columns) for number, columns in split if columns]
    frame = read_separated(b"\n".join(b"\t".join(columns) for _, columns in split) or b"\n", "\t", names, numeric)
    line = pl.Series("line", [number for number, _ in split], frame.schema["line"])
    return frame.with_columns(line=line.gather(frame["line"] - 1))


def read_separated(data: bytes, separator: str, names: tuple[str, ...], numeric: tuple[str, ...]) -> pl.DataFrame:
    """Columns with the number of their line: null if absent or not a number, ``more`` for a surplus column."""
    marked = data.startswith(BYTE_ORDER_MARK)  # part of a name here, but polars would drop it at the very beginning
    frame = pl.read_csv(
        b"\n" + data if marked else data,
        has_header=False,
        separator=separator,
        quote_char=None,
        schema={name: pl.Float64 if name in numeric else pl.String for name in (*names, "more")},
        ignore_errors=True,
        extra_columns="ignore",
        missing_columns="insert",
        row_index_name="line",
        row_index_offset=0 if marked else 1,
    )
    return frame.filter(~pl.all_horizontal(pl.col(names).is_null()))


def collapse_blanks(data: bytes, separator: bytes) -> bytes:
    """The text with ``separator`` for every run of blanks inside a line; lines keep their numbers."""
    data = re.sub(rb"[ \t\f\v]+", separator, data)
    return data.replace(b"\n" + separator, b"\n").replace(separator + b"\n", b"\n").strip(separator)
