"""Pictures by matplotlib, an extra: an empty figure, and a figure as a file."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import Any

from juryrank.errors import MissingExtraError, UnknownNameError


def new_figure(width: float, height: float) -> Any:
    """An empty figure, in inches; a MissingExtraError without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("pictures need matplotlib: pip install 'juryrank[plots]'") from None
    return Figure(figsize=(min(width, 40.0), min(height, 60.0)), layout="constrained")


def check_picture(path: str | PathLike[str]) -> str:
    """The format that the ending of a path means; an error where no picture can be drawn there."""
    known = new_figure(1.0, 1.0).canvas.get_supported_filetypes()
    form = Path(fspath(path)).suffix[1:].lower() or "png"
    if form not in known:
        raise UnknownNameError.of("picture format", form, known)
    return form


def save_figure(figure: Any, path: str | PathLike[str]) -> None:
    """Write a figure in the format of the ending of the path; png without one."""
    import io

    from juryrank.readers.atomic import save

    drawn = io.BytesIO()
    figure.savefig(drawn, format=check_picture(path), dpi=150)
    save(Path(path), drawn.getvalue())
