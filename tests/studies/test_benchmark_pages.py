"""The results of a benchmark are written to the pages of the documentation."""

from pathlib import Path

import pytest

from juryrank.errors import DataError
from studies.speed import pages
from studies.speed.clock import Timing
from studies.speed.commands import CommandRow
from studies.speed.documented import ROOT
from studies.speed.table import Benchmark, Row, Series
from studies.speed.targets import Target


@pytest.fixture
def report() -> Benchmark:
    spent = Timing(0.5, 0.1, 7, 0.1, 1 << 20)
    series = Series("rrf", [1_000, 10_000], [0.001, 0.01], [None, 1 << 20])
    rows = [
        Row("a task", "a peer", spent, Timing(None, 1.0, 1), "equal"),
        Row("b", "–", spent, None, "", series=series),
    ]
    targets = [Target("one ≤ 1 s", "2 s", False, "0.5 s", True, "a peer: 3 s"), Target("two", "1 s", True)]
    command = CommandRow("juryrank demo", "README.md", spent, spent)
    return Benchmark(rows, targets, "No data.", 12.0, 0.5, [command])


def test_targets_replace_those_between_the_marks(report: Benchmark) -> None:
    text = pages.with_targets(f"before\n{pages.START}\nold\n{pages.END}\nafter\n", report)
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "met by CPU only |" in text
    assert "Of 2 targets in this run: 1 met by CPU only, 1 met." in text
    assert pages.with_targets(text, report) == text


def test_a_page_without_the_marks_is_an_error(report: Benchmark) -> None:
    with pytest.raises(DataError, match="expected the lines"):
        pages.with_targets("nothing", report)


def test_a_complete_run_writes_a_page_of_rows_commands_and_growth(report: Benchmark, tmp_path: Path) -> None:
    (tmp_path / "benchmarks.md").write_text(f"{pages.START}\n{pages.END}\n")
    assert [path.name for path in pages.write_docs(report, tmp_path, complete=False)] == ["benchmarks.md"]
    written = pages.write_docs(report, tmp_path, complete=True)
    assert {path.name for path in written} >= {"benchmarks.md", "benchmarks-table.md"}
    text = (tmp_path / "benchmarks-table.md").read_text()
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "# Benchmark table", "## Speed", "## Commands", "## Growth",
    ]  # fmt: skip
    for part in ("| a task |", "| juryrank demo |", "| rrf "):
        assert part in text


def test_the_page_of_the_documentation_has_the_marks(report: Benchmark) -> None:
    text = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert "one ≤ 1 s" in pages.with_targets(text, report)
