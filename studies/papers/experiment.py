"""An experiment, and what it is given: where data are, the seeds, and how much time it may take."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import juryrank
from studies.papers.findings import Findings

SEEDS = (0, 1, 2)
DECISIVE = ("kernels", "data", "io", "metrics", "training", "methods")
DRAWING = {"run", "report", "page", "pictures", "findings"}  # of this folder: they show values, and change none


@dataclass(frozen=True)
class Context:
    """Where an experiment finds data and keeps values that others can use, and whether it is in a hurry."""

    data: Path
    out: Path
    quick: bool = False
    shared: dict[str, Any] = field(default_factory=dict, compare=False)  # by name: what was read in this process

    @property
    def seeds(self) -> tuple[int, ...]:
        return SEEDS[:1] if self.quick else SEEDS

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """What ``make`` gives, made once for all experiments of this process."""
        if name not in self.shared:
            self.shared[name] = make()
        return self.shared[name]

    def missing(self, needs: tuple[str, ...]) -> list[str]:
        """Which of the folders or files are not there."""
        return [need for need in needs if not (self.data / need).exists()]

    def fingerprint(self, needs: tuple[str, ...]) -> str:
        """A digest of the names and contents of everything below the folders or files."""
        return self.once(f"fingerprint of {needs}", lambda: _digest(self.data, needs))  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Experiment:
    """Something that a paper did, and what does it here."""

    name: str
    paper: str
    title: str
    needs: tuple[str, ...]  # below the folder of data
    run: Callable[[Context], Findings]


def code_digest(*more: str) -> str:
    """A digest of the code that decides values: everything below the comparison of methods, and ``more`` of it."""
    out = hashlib.sha256()
    top = Path(juryrank.__file__).parent
    for part in (*DECISIVE, *more):
        for file in sorted((top / part).rglob("*.py")):
            if file.stem not in DRAWING:
                out.update(f"{file.relative_to(top).as_posix()}\n".encode() + file.read_bytes())
    return out.hexdigest()[:16]


def _digest(folder: Path, needs: tuple[str, ...]) -> str:
    out = hashlib.sha256()
    for need in needs:
        top = folder / need
        files = sorted(path for path in top.rglob("*") if path.is_file()) if top.is_dir() else [top]
        for file in files:
            out.update(f"{file.relative_to(folder).as_posix()}\n{file.stat().st_size}\n".encode())
            out.update(file.read_bytes())
    return out.hexdigest()[:16]
