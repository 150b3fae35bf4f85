"""The pages of the documentation show the results of one stored run, and no other numbers."""

from pathlib import Path

import pytest

from juryrank.errors import DataError
from studies.papers import Context, Experiment, Outcome
from studies.papers.findings import Claim, Findings, OverviewRow, ResultRow, ResultTable
from studies.papers.page import FILE, PAGES, Record, filled, foreign_numbers, stale, unexplained_numbers, write_docs
from studies.tables import Table

FOUND = Findings(
    results=(
        ResultTable("Table 9", ("nDCG@1", "AP"), (ResultRow("crf", (41.236, 50.1), (42.0, 50.0), "x"),), (1.0, 1.0)),
    ),
    claims=(Claim("Means are above sums", "MAP +0.49 ± 0.46, p = 0.28", True),),
    targets=(Claim("jury: MAP ≥ 50.7", "50.81", True),),
    tables=(
        Table("Rates", ["rate", "MAP", "nDCG@5"], [["2", "49.41", "50.02"]]),
        Table("Parameters that the paper does not state", ["parameter", "value", ""], [["rate", "200", "validation"]]),
    ),
    overview=(OverviewRow("Table 9", "50.00", "50.10", "", "reproduced"),),
)
DOCS = Path(__file__).parents[3] / "docs"
PAGE = """# Page

Text without numbers.

<!-- reproduced: cikm2013-table9 / Rates | nDCG@5 -->
old
<!-- end -->

## Sums

`python -m studies reproduce cikm2013-table9` shows MAP 49.41 and {}.

```
juryrank 9.99
```
"""


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    for name in PAGES:
        (tmp_path / name).write_text(PAGE.format("41.24"))
    experiment = Experiment("cikm2013-table9", "cikm2013", "Table 9", (), lambda context: FOUND)
    absent = Experiment("cikm2013-table10", "cikm2013", "Table 10", ("MQ2007",), lambda context: FOUND)
    outcomes = [Outcome(experiment, FOUND, 61.0), Outcome(absent, None, lacking=f"needs MQ2007 in {tmp_path}")]
    write_docs(outcomes, Context(tmp_path, tmp_path), tmp_path)
    return tmp_path


def test_tables_of_a_page_are_those_of_the_run(docs):
    text = (docs / "reproduce.md").read_text()
    assert "old" not in text
    assert "| rate | nDCG@5 |" in text
    assert "50.02 |" in text
    assert stale(docs) == []


def test_the_stored_run_does_not_name_the_folder_of_data(docs):
    assert Record.read(docs / FILE).skipped == {"cikm2013-table10": "needs MQ2007"}


def test_a_changed_table_is_found(docs):
    page = docs / "learn.md"
    page.write_text(page.read_text().replace("50.02", "50.03"))
    assert stale(docs) == ["learn.md: a table is not as stored"]


@pytest.mark.parametrize("number", ["41.25", "0.07", "9.99"])
def test_a_number_that_the_named_experiment_does_not_give_is_found(docs, number):
    assert foreign_numbers(PAGE.format(number), Record.read(docs / FILE)) == [f"Sums: {number}"]


@pytest.mark.parametrize("number", ["41.24", "41.2", "0.46", "0.3"])
def test_a_number_of_the_experiment_may_be_rounded(docs, number):
    assert foreign_numbers(PAGE.format(number), Record.read(docs / FILE)) == []


@pytest.mark.parametrize("names", ["cikm2013", "cikm2013-table9 --data DIR", "\ncikm2013-table9"])
def test_a_command_may_name_a_paper_and_be_wrapped(docs, names):
    text = f"# A\n\n`python -m studies reproduce {names}`: 49.41 and 49.42\n"
    assert foreign_numbers(text, Record.read(docs / FILE)) == ["A: 49.42"]


def test_a_command_of_an_experiment_without_results_is_an_error(docs):
    with pytest.raises(DataError, match="cikm2014"):
        foreign_numbers("`python -m studies reproduce cikm2014`", Record.read(docs / FILE))


def test_a_number_in_a_section_without_a_command_is_found():
    text = "# A\n\n`python -m studies reproduce cikm2013-table9`: 49.41\n\n## B\n\nAlso 49.41, `0.5`.\n"
    assert unexplained_numbers(text) == ["B: 49.41"]


def test_parts_name_what_they_show(docs):
    record = Record.read(docs / FILE)
    shown = {
        what: filled(f"<!-- reproduced: {what} -->\n<!-- end -->", record)
        for what in ("run", "overview cikm2013", "targets", "parameters", "summary")
    }
    assert "1 experiments in 1 minutes" in shown["run"]
    assert "1 skipped" in shown["run"]
    assert "| Table 9" in shown["overview cikm2013"]
    assert "| jury: MAP ≥ 50.7 | 50.81    | met |" in shown["targets"]
    assert "| CIKM 2013 | rate" in shown["parameters"]
    assert "| cikm2013-table9 |" in shown["summary"]


@pytest.mark.parametrize("what", ["cikm2013-table9 / Steps", "cikm2013-table10 / Rates"])
def test_a_table_that_is_not_stored_is_an_error(docs, what):
    with pytest.raises(DataError, match="cikm2013-table"):
        filled(f"<!-- reproduced: {what} -->\n<!-- end -->", Record.read(docs / FILE))


def test_pages_are_not_written_from_a_failed_run(docs):
    experiment = Experiment("cikm2013-table9", "cikm2013", "Table 9", (), lambda context: FOUND)
    before = (docs / FILE).read_bytes()
    with pytest.raises(DataError, match="cikm2013-table9"):
        write_docs([Outcome(experiment, None, lacking="x", failed=True)], Context(docs, docs), docs)
    assert (docs / FILE).read_bytes() == before


@pytest.mark.parametrize(
    "verdict", ["reproduced", "reproduced except AP", "not reproduced: noise", "not possible: data"]
)
def test_verdicts_are_of_four_kinds(verdict):
    assert OverviewRow("Table 9", "", "", "", verdict).verdict == verdict


@pytest.mark.parametrize("verdict", ["", "Reproduced", "not reproduced", "reproduced, nearly"])
def test_other_verdicts_are_errors(verdict):
    with pytest.raises(ValueError, match="Table 9"):
        OverviewRow("Table 9", "", "", "", verdict)


CONSTANTS = {  # no results: parameters of methods and of the comparison
    "reproduce.md: How values are compared: 0.02",
    *(f"learn.md: Verdict: {n}" for n in ("0.025", "0.035", "0.002", "0.9", "0.1", "0.5")),
    *(f"learn.md: Unjudged items: {n}" for n in ("0.05", "0.3")),
}


def test_the_pages_show_the_stored_run_and_no_other_numbers():
    assert stale(DOCS) == []
    for name in ("reproduce.md", "findings.md", "learn.md"):
        numbers = {f"{name}: {each}" for each in unexplained_numbers((DOCS / name).read_text())}
        assert numbers <= CONSTANTS
