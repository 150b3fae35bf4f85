"""Answers of models on disk, one JSON object per line: what was asked once is not asked, and paid, again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

from juryrank.errors import DataError, warn_about_data


def request_key(body: Mapping[str, Any]) -> str:
    """The key of a request: model, messages and settings."""
    return sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


class AnswerCache:
    """Answers by request; every new one is a line at the end of the file. A damaged line is skipped and asked again."""

    def __init__(self, path: Path) -> None:
        self.path, self._lock, self._answers = path, Lock(), dict[str, str]()
        try:
            lines = path.read_bytes().split(b"\n")
        except FileNotFoundError:
            lines = []
        except OSError as error:
            raise DataError(f"{path}: the cache of answers cannot be read: {error.strerror or error}") from None
        self._torn = bool(lines and lines[-1])
        damaged = sum(not self._load(line) for line in lines if line.strip())
        if damaged:
            warn_about_data(f"{path}: {damaged} damaged lines of the cache are skipped")

    def _load(self, line: bytes) -> bool:
        try:
            row = json.loads(line)
            key, answer = row["key"], row["answer"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return False
        if not (isinstance(key, str) and isinstance(answer, str)):
            return False
        self._answers[key] = answer
        return True

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, body: Mapping[str, Any]) -> str | None:
        """The answer to this request, if it is known."""
        return self._answers.get(request_key(body))

    def put(self, body: Mapping[str, Any], answer: str) -> None:
        """Keep an answer; when this returns, it is in the file."""
        key = request_key(body)
        line = json.dumps({"key": key, "model": body.get("model"), "answer": answer}, ensure_ascii=False) + "\n"
        with self._lock:
            self._answers[key] = answer
            before, self._torn = "\n" if self._torn else "", False
            try:
                with self.path.open("ab") as file:
                    file.write((before + line).encode("utf-8", "backslashreplace"))  # one write: a line is whole
            except OSError as error:
                raise DataError(
                    f"{self.path}: the cache of answers cannot be written: {error.strerror or error}"
                ) from None
