"""Pictures by matplotlib, an extra: a figure on which names are only names, written as a file."""

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
NO_PICTURES = ("pgf", "raw", "rgba")  # of what matplotlib writes: LaTeX commands (which need LaTeX) and bare pixels
UNDRAWN = re.compile(r"Glyph (\d+) |Matplotlib currently does not support (\w+) natively")


@contextmanager
def drawing(width: float, height: float, **style: Any) -> Iterator[Any]:
    """An empty figure, in inches, to be drawn on and written inside the block; dollar signs are no mathematics."""
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
    """As ``drawing``; what was drawn is written when the block ends, in the format of the ending (png without one)."""
    from juryrank.io.files import save

    form = check_picture(path)
    with drawing(width, height) as figure:
        yield figure
        content = drawn(figure, form)
    save(Path(path), content)


def drawn(figure: Any, form: str, **options: Any) -> bytes:
    """The figure as the content of a file."""
    out = io.BytesIO()
    figure.savefig(out, format=form, dpi=150, **options)
    return out.getvalue()


def check_picture(path: str | PathLike[str]) -> str:
    """The format that the ending of a path means; an error where no picture can be drawn there."""
    with drawing(1.0, 1.0) as figure:
        known = [form for form in figure.canvas.get_supported_filetypes() if form not in NO_PICTURES]
    form = Path(fspath(path)).suffix[1:].lower() or "png"
    if form not in known:
        raise UnknownNameError.of("picture format", form, known)
    return form


def drawn_names(names: Iterable[object]) -> list[str]:
    """Names as a picture shows them: control characters as escapes, long ones shortened, no two the same."""
    shown = [visible(str(name)) for name in names]
    return cut_apart(shown, [LONGEST_NAME] * len(shown))


@contextmanager
def _fonts_reported() -> Iterator[None]:
    """One DataWarning for all signs that the font does not have; other warnings pass."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    undrawn = set[str]()
    for warning in caught:
        if found := UNDRAWN.search(str(warning.message)):
            undrawn.add(found[0])
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    if undrawn:
        message = (
            "the picture's font lacks letters of some names; matplotlib draws them with a font.family that has them"
        )
        warnings.warn(message, DataWarning, stacklevel=4)
