"""Checks the files of a dataset in a folder against their checksums."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from pathlib import Path

from studies.datasets import DataSet

AS_EXPECTED, UNKNOWN, DIFFERENT, MISSING = "as expected", "there, checksum not known", "different", "missing"
CHUNK = 1 << 20


def verify(data: DataSet, folder: Path) -> dict[str, str]:
    """The state of each file of the dataset; checksums are of the text, files may be compressed by gzip."""
    return {name: _state(folder / data.name / name, digest) for name, digest in data.files.items()}


def _state(path: Path, digest: str) -> str:
    there = next((p for p in (path, path.with_name(f"{path.name}.gz")) if p.is_file()), None)
    if there is None:
        return MISSING
    if not digest:
        return UNKNOWN
    try:
        return AS_EXPECTED if digest_of(there) == digest else DIFFERENT
    except (EOFError, OSError, zlib.error):  # cut off, or no gzip at all
        return DIFFERENT


def digest_of(path: Path) -> str:
    """SHA-256 of a file's text."""
    out = hashlib.sha256()
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as text:
        while chunk := text.read(CHUNK):
            out.update(chunk)
    return out.hexdigest()
