"""What tests of the command line share: ``main`` run in this process, two small runs, and their labels."""

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import juryrank
from juryrank import cli
from juryrank.errors import JuryrankWarning

DEMO = Path(juryrank.__file__).parent / "demo" / "cooking.csv"
BM25 = "1 Q0 a 1 9.0 bm25\n1 Q0 b 2 8.0 bm25\n1 Q0 c 3 7.0 bm25\n2 Q0 x 1 5.0 bm25\n"
DENSE = "1 Q0 b 1 0.9 dense\n1 Q0 c 2 0.8 dense\n2 Q0 y 1 0.5 dense\n2 Q0 x 2 0.4 dense\n"
COMPILING = "compiling, first run only\n"  # true where kernels are not cached yet; what a test expects does not change
QRELS = "1 0 a 0\n1 0 b 2\n1 0 c 1\n2 0 x 1\n2 0 y 0\n"


@dataclass
class Outcome:
    """What a run of the command line left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def _piped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The width of output is that of a pipe, whatever the shell or the test runner exports."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def run_main(*args: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["juryrank", *map(str, args)])
        with warnings.catch_warnings():
            warnings.simplefilter("always", JuryrankWarning)
            with pytest.raises(SystemExit) as stopped:
                cli.main()
        out, err = capsys.readouterr()
        return Outcome(int(stopped.value.code or 0), out, err.replace(COMPILING, ""))

    return run_main


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "bm25.run", tmp_path / "dense.run"]
    for path, text in zip(paths, (BM25, DENSE), strict=True):
        path.write_text(text)
    return paths


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    path = tmp_path / "labels.qrels"
    path.write_text(QRELS)
    return path


def items(text: str) -> dict[str, list[str]]:
    """Items per query of a TREC run."""
    out: dict[str, list[str]] = {}
    for line in text.splitlines():
        query, _, item, *_ = line.split()
        out.setdefault(query, []).append(item)
    return out
