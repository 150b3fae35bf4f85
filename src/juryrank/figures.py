"""Pictures drawn with matplotlib (an optional dependency), with names escaped, written as files."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from juryrank.errors import DataWarning, MissingExtraError, UnknownNameError
from juryrank.report.escapes import visible
from juryrank.report.layout import cut_apart

LONGEST_NAME = 60  # characters of a name in a picture
NO_PICTURES = ("pgf", "raw", "rgba")  # formats of matplotlib that are not offered: LaTeX commands and raw pixels
MISSING_GLYPH = re.compile(r"Glyph (\d+) |Matplotlib currently does not support (\w+) natively")


@contextmanager
def drawing(width: float, height: float, **style: Any) -> Iterator[Any]:
    """An empty figure of a size in inches, to be drawn and written inside the block; dollar signs are plain text."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError.of("plots", "plots need matplotlib") from None
    chosen: Any = {"text.parse_math": False, "svg.hashsalt": "juryrank", **style}
    with matplotlib.rc_context(chosen), _fonts_reported():
        yield Figure(figsize=(min(width, 40.0), min(height, 60.0)), layout="constrained")


@contextmanager
def saved_drawing(path: str | PathLike[str], width: float, height: float) -> Iterator[Any]:
    """As ``drawing``; the figure is written when the block ends, in the format of the extension (png by default)."""
    from juryrank.io.files import save

    form = check_picture(path)
    with drawing(width, height) as figure:
        yield figure
        content = picture_bytes(figure, form)
    save(Path(path), content)


def picture_bytes(figure: Any, form: str, **options: Any) -> bytes:
    """The figure as the bytes of a file."""
    out = io.BytesIO()
    figure.savefig(out, format=form, dpi=150, **options)
    return out.getvalue()


def check_picture(path: str | PathLike[str]) -> str:
    """The picture format of the extension of a path; an error if it cannot be drawn."""
    with drawing(1.0, 1.0) as figure:
        known = [form for form in figure.canvas.get_supported_filetypes() if form not in NO_PICTURES]
    form = Path(fspath(path)).suffix[1:].lower() or "png"
    if form not in known:
        raise UnknownNameError.of("picture format", form, known)
    return form


def drawn_names(names: Iterable[object]) -> list[str]:
    """Names as shown in a picture: control characters escaped, long names shortened, all still distinct."""
    shown = [visible(str(name)) for name in names]
    return cut_apart(shown, [LONGEST_NAME] * len(shown))


@contextmanager
def _fonts_reported() -> Iterator[None]:
    """One DataWarning for all characters that the font lacks; other warnings are passed on."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    missing = set[str]()
    for warning in caught:
        if found := MISSING_GLYPH.search(str(warning.message)):
            missing.add(found[0])
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    if missing:
        message = "the font of the picture lacks characters of some names; set font.family of matplotlib"
        warnings.warn(message, DataWarning, stacklevel=4)
