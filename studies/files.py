"""Files that are complete or absent: written under another name first, then renamed."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from juryrank.errors import DataError


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file; if that fails, the file that was there remains."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        try:
            with part.open("xb") as file:
                file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror or error}") from None


def make_folder(path: Path) -> None:
    """Create a folder, and the folders above it, unless it exists."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{path}: cannot be created: {error.strerror or error}") from None
