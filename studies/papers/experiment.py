"""An experiment and its context: the folders, the seeds, and whether it should be quick."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import juryrank as jr
from studies.papers.findings import Findings

SEEDS = (0, 1, 2)
# Parts of the code, by folder or module, that change no value of an experiment; all others do.
SHOWING = {"cli", "demo", "report", "page", "pictures", "plots", "texts", "export", "leaderboard"}
SHOWING_STUDIES = {
    "commands",
    "console",
    "datasets",
    "findings",
    "pictures",
    "page",
    "report",
    "run",
    "speed",
    "tables",
}


@dataclass(frozen=True)
class Context:
    """Where an experiment finds its data and stores values that others use, and whether it should be quick."""

    data: Path
    out: Path
    quick: bool = False
    shared: dict[str, Any] = field(
        default_factory=dict, compare=False
    )  # by name: objects of this process that several experiments use

    @property
    def seeds(self) -> tuple[int, ...]:
        return SEEDS[:1] if self.quick else SEEDS

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """The result of ``make``, which is called once for all experiments of this process."""
        if name not in self.shared:
            self.shared[name] = make()
        return self.shared[name]

    def missing(self, needs: tuple[str, ...]) -> list[str]:
        """Which of the folders or files do not exist."""
        return [need for need in needs if not (self.data / need).exists()]

    def fingerprint(self, needs: tuple[str, ...]) -> str:
        """A digest of the names and contents of everything below the folders or files."""
        return self.once(f"fingerprint of {needs}", lambda: _digest(self.data, needs))  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Experiment:
    """An experiment of a paper, and the function that runs it here."""

    name: str
    paper: str
    title: str
    needs: tuple[str, ...]  # below the folder of data
    run: Callable[[Context], Findings]


def library_digest() -> str:
    """A digest of the code of juryrank, without the parts that only show or store results."""
    return code_digest(Path(jr.__file__).parent, SHOWING)


def studies_digest() -> str:
    """A digest of the code of the experiments, without the parts that only show results."""
    return code_digest(Path(__file__).parents[1], SHOWING_STUDIES)


def code_digest(top: Path, skipped: set[str]) -> str:
    """A digest of all Python files below a folder, without folders and modules of these names."""
    out = hashlib.sha256()
    for file in sorted(top.rglob("*.py")):
        name = file.relative_to(top)
        if skipped.isdisjoint(name.with_suffix("").parts):
            out.update(f"{name.as_posix()}\n".encode() + file.read_bytes())
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
