"""Pictures drawn with matplotlib (an optional dependency), with names escaped."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from juryrank.errors import MissingExtraError, UnknownNameError, warn_about_data
from juryrank.report.escapes import escape_controls
from juryrank.report.layout import cut_distinct

LONGEST_NAME = 60  # characters of a name in a picture
NO_PICTURES = ("pgf", "raw", "rgba")  # formats of matplotlib that are not offered: LaTeX commands and raw pixels
# Characters that the font lacks, collected over all parts of the current drawing for a single warning.
_missing: ContextVar[set[str] | None] = ContextVar("_missing", default=None)


@contextmanager
def drawing(width: float, height: float, **style: Any) -> Iterator[Any]:
    """An empty figure of a size in inches, to be drawn and written inside the block; dollar signs are plain text.

    One DataWarning at the end counts the characters that the font lacks.
    """
    matplotlib = _matplotlib()
    chosen: Any = {"text.parse_math": False, "svg.hashsalt": "juryrank", **style}
    missing = set[str]()
    token = _missing.set(missing)
    try:
        with matplotlib.rc_context(chosen):
            yield matplotlib.figure.Figure(figsize=(min(width, 40.0), min(height, 60.0)), layout="constrained")
    finally:
        _missing.reset(token)
    _warn_of_missing(missing)


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
    """Names as shown in a picture, all still distinct: long names are shortened.

    Control characters and characters that the font lacks are escaped; the latter are counted in a DataWarning.
    """
    shown = [escape_controls(str(name)) for name in names]
    missing = _missing_characters(set().union(*shown))
    escapes = str.maketrans({character: character.encode("unicode_escape").decode() for character in missing})
    if (of_drawing := _missing.get()) is None:
        _warn_of_missing(missing)
    else:
        of_drawing |= missing
    return cut_distinct([name.translate(escapes) for name in shown], [LONGEST_NAME] * len(shown))


def _missing_characters(characters: set[str]) -> set[str]:
    """The characters that no font of matplotlib's ``font.family`` has."""
    fonts = _matplotlib().font_manager
    default = fonts.FontProperties()
    paths = []
    for family in default.get_family():  # matplotlib uses later families for characters that the first one lacks
        try:
            paths.append(fonts.findfont(fonts.FontProperties(family=family), fallback_to_default=False))
        except ValueError:  # not installed
            continue
    for path in paths or [fonts.findfont(default)]:
        font = fonts.get_font(path)
        characters = {character for character in characters if not font.get_char_index(ord(character))}
    return characters


def _warn_of_missing(characters: set[str]) -> None:
    if characters:
        count = f"{len(characters)} characters of names" if len(characters) > 1 else "a character of the names"
        warn_about_data(f"the font of the picture lacks {count}, drawn as escapes; set font.family of matplotlib")


def _matplotlib() -> Any:
    try:
        import matplotlib.figure
        import matplotlib.font_manager
    except ImportError:
        raise MissingExtraError.of("plots", "plots need matplotlib") from None
    return matplotlib
