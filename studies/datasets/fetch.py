"""Downloads with progress: resumed after an interruption, verified, and renamed when complete."""

from __future__ import annotations

import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import juryrank as jr
from juryrank.errors import DataError
from studies.datasets import DataSet
from studies.datasets.verify import AS_EXPECTED, CHUNK, digest_of, verify
from studies.files import make_folder

TRIES = 3
SECONDS = 30.0  # without a byte

Progress = Callable[[str, int, int | None], None]  # file, bytes so far, bytes in all


def fetch(data: DataSet, folder: Path, progress: Progress = lambda name, so_far, total: None) -> list[str]:
    """Download the files that are missing or different, and return their names."""
    if not data.address:
        text = f"{data.name} cannot be fetched by a program: {data.licence}. Get it from {data.home}"
        raise DataError(f"{text} and put its files into {folder / data.name}")
    wanted = [name for name, state in verify(data, folder).items() if state != AS_EXPECTED]
    for name in wanted:
        path = folder / data.name / name
        make_folder(path.parent)
        _fetch_file(f"{data.address}{name}", path, data.files[name], partial(progress, name))
    return wanted


def _fetch_file(address: str, path: Path, digest: str, progress: Callable[[int, int | None], None]) -> None:
    part = path.with_name(f".{path.name}.part")
    for attempt in range(1, TRIES + 1):
        try:
            _append(address, part, progress)
            break
        except (urllib.error.URLError, http.client.HTTPException, OSError, ValueError) as error:
            final = isinstance(error, urllib.error.HTTPError) and error.code < 500
            if final or attempt == TRIES:
                raise DataError(f"{address}: {_reason(error)}; the part downloaded so far is kept, try again") from None
    found = digest_of(part)
    if found != digest:
        part.unlink()
        raise DataError(f"{address}: SHA-256 should be {digest}, is {found}; the file was removed")
    part.replace(path)


def _append(address: str, part: Path, progress: Callable[[int, int | None], None]) -> None:
    """Resume an earlier attempt, or start again if the server cannot."""
    so_far = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": f"juryrank/{jr.__version__}"} | ({"Range": f"bytes={so_far}-"} if so_far else {})
    request = urllib.request.Request(address, headers=headers)
    try:
        answer = urllib.request.urlopen(request, timeout=SECONDS)
    except urllib.error.HTTPError as error:
        if error.code == 416:  # nothing is left: the file is complete, or not the expected one
            return
        raise
    with answer:
        resumed = answer.status == 206
        so_far = so_far if resumed else 0
        length = (answer.headers.get("Content-Length") or "").strip()
        total = so_far + int(length) if length.isascii() and length.isdigit() and len(length) < 19 else None
        with open(part, "ab" if resumed else "wb", opener=_open_no_link) as out:
            for chunk in _chunks(answer):
                out.write(chunk)
                so_far += len(chunk)
                progress(so_far, total)
    if total is not None and so_far < total:
        raise http.client.IncompleteRead(b"", total - so_far)


def _open_no_link(path: str, flags: int) -> int:
    """Open the partial download, but never through a symbolic link: its name can be guessed."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


def _chunks(answer: Any) -> Iterator[bytes]:
    while chunk := answer.read(min(CHUNK, 1 << 16)):
        yield chunk


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"the server says {error.code} {error.reason}"
    if isinstance(error, http.client.IncompleteRead):
        return f"cut off {error.expected} bytes before the end"
    return str(getattr(error, "reason", error))
