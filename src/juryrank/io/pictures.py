"""Pictures that are drawn and written as files."""

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from juryrank.io.files import save
from juryrank.report.figure import check_picture, drawing, picture_bytes


@contextmanager
def saved_drawing(path: str | PathLike[str], width: float, height: float) -> Iterator[Any]:
    """As ``drawing``; the figure is written when the block ends, in the format of the extension (png by default)."""
    form = check_picture(path)
    with drawing(width, height) as figure:
        yield figure
        content = picture_bytes(figure, form)
    save(Path(path), content)
