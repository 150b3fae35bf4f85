"""``reproduce`` stores finished results, reports missing data, and shows every published row."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from juryrank.errors import DataError, UnknownNameError
from studies.papers import EXPERIMENTS, Context, Experiment, run, select
from studies.papers.findings import Claim, Findings, ResultRow, ResultTable
from studies.papers.report import write
from studies.papers.targets import floor
from studies.papers.trials import METRICS, Trial
from studies.pictures import Figure
from studies.tables import Table

TABLE = ResultTable(
    "Table 9",
    ("nDCG@1", "AP"),
    (
        ResultRow("same", (50.01, 40.0), (50.0, 40.0), "Somebody 2001"),
        ResultRow("noisy", (50.7, 40.5), (50.0, 40.0), "Somebody 2001"),
        ResultRow("better", (58.0, None), (50.0, 40.0), "Somebody 2001"),
        ResultRow("worse", (50.0, 30.0), (50.0, 40.0), "Somebody 2001"),
        ResultRow("unseen", (), (51.5, 41.5), "Somebody 2001"),
        ResultRow("house", (60.0, 45.0), lead=(10.0,), error=(1.0,), p=(0.001,), spread=0.77),
        ResultRow("other house", (50.0, 40.0), lead=(0.1,), error=(1.0,), p=(0.9,)),
    ),
    noise=(0.5, 0.4),
    tested=("AP",),
    baseline="same",
)
FOUND = Findings(
    results=(TABLE,),
    claims=(Claim("Water is wet", "it is", True), Claim("Fire is <cold>", "it is not", False)),
    targets=(Claim("reach 40", "40.0", True), Claim("reach 90", "60.0", False)),
    tables=(Table("Plain", ["a", "b"], [["x", "1"]]),),
    figures=(
        Figure("squares", "Squares", "hinton", {"rows": ["r"], "columns": ["a", "b"], "values": [[1.0, -0.5]]}),
        Figure(
            "lines",
            "Lines",
            "lines",
            {"panels": [{"x": [1, 2], "series": {"a": [1, 2]}, "xlabel": "x", "ylabel": "y"}]},
        ),
    ),
    notes=("A *note*.",),
)


class Counted:
    """An experiment that counts how often it is run."""

    def __init__(self) -> None:
        self.runs = 0

    def __call__(self, context: Context) -> Findings:
        self.runs += 1
        return FOUND


@pytest.fixture
def counted() -> Counted:
    return Counted()


@pytest.fixture
def experiment(counted: Counted, tmp_path: Path) -> Experiment:
    (tmp_path / "data" / "set").mkdir(parents=True)
    (tmp_path / "data" / "set" / "a.txt").write_text("1")
    return Experiment("somebody-table9", "www2007", "Table 9", ("set",), counted)


def context(tmp_path: Path, **changed: object) -> Context:
    return Context(tmp_path / "data", tmp_path / "out", **changed)  # type: ignore[arg-type]


def test_what_is_finished_is_not_run_again(tmp_path, experiment, counted):
    lines: list[str] = []
    first = run([experiment], context(tmp_path), lines.append)
    again = run([experiment], context(tmp_path), lines.append)
    assert counted.runs == 1
    assert first[0].findings == again[0].findings == FOUND
    assert lines[1] == "somebody-table9: kept from before"


@pytest.mark.parametrize("change", ["data", "quick", "truncated"])
def test_what_has_changed_is_run_again(tmp_path, experiment, counted, change):
    run([experiment], context(tmp_path))
    if change == "data":
        (tmp_path / "data" / "set" / "a.txt").write_text("2")
    if change == "truncated":
        path = tmp_path / "out" / "results" / "somebody-table9.json"
        path.write_bytes(path.read_bytes()[:-20])
    run([experiment], context(tmp_path, quick=change == "quick"))
    assert counted.runs == 2


TAMPERED = {
    "a number": lambda found: found["findings"]["results"][0]["rows"][0]["measured"].__setitem__(0, 99.0),
    "text for a number": lambda found: found["findings"]["results"][0]["rows"][0]["measured"].__setitem__(0, "much"),
    "no findings": lambda found: found.pop("findings"),
    "no seconds": lambda found: found.pop("seconds"),
    "another part": lambda found: found["findings"].update(more=1),
    "another figure": lambda found: found["findings"]["figures"][0].update(kind="nothing"),
    "another digest": lambda found: found.update(digest=7),
}


@pytest.mark.parametrize("how", TAMPERED)
def test_a_kept_result_that_was_edited_is_found_again(tmp_path, experiment, counted, how):
    run([experiment], context(tmp_path))
    path = tmp_path / "out" / "results" / "somebody-table9.json"
    found = json.loads(path.read_text(encoding="utf-8"))
    TAMPERED[how](found)
    path.write_text(json.dumps(found), encoding="utf-8")
    lines: list[str] = []
    outcomes = run([experiment], context(tmp_path), lines.append)
    assert lines == ["somebody-table9: done in 0 s; the kept result was damaged or edited"]
    assert counted.runs == 2
    assert outcomes[0].findings == FOUND


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"7", b"null", b"{}", b"[" * 100_000, b"\xff", b"{"], ids=lambda text: repr(text[:5])
)
def test_a_kept_result_of_another_kind_is_found_again(tmp_path, experiment, counted, content):
    run([experiment], context(tmp_path))
    (tmp_path / "out" / "results" / "somebody-table9.json").write_bytes(content)
    assert run([experiment], context(tmp_path))[0].findings == FOUND
    assert counted.runs == 2


def test_an_experiment_without_its_data_is_skipped_and_the_others_run(tmp_path, experiment, counted):
    lacking = Experiment("other", "www2007", "Other", ("set", "no-such-set"), counted)
    lines: list[str] = []
    outcomes = run([lacking, experiment], context(tmp_path), lines.append)
    assert lines[0].startswith("other: skipped: needs no-such-set in ")
    assert [o.findings for o in outcomes] == [None, FOUND]
    write(outcomes, context(tmp_path))
    assert "| needs no-such-set in " in (tmp_path / "out" / "report.md").read_text()


def test_an_experiment_that_fails_does_not_stop_the_others(tmp_path, experiment):
    def fail(context: Context) -> Findings:
        raise DataError("a file is broken")

    failing, lines = Experiment("other", "www2007", "Other", (), fail), []
    outcomes = run([failing, experiment], context(tmp_path), lines.append)
    assert lines[0] == "other: FAILED: a file is broken"
    assert [o.findings for o in outcomes] == [None, FOUND]
    assert not (tmp_path / "out" / "results" / "other.json").exists()


def test_a_folder_of_data_that_is_not_there_is_an_error(tmp_path, experiment):
    with pytest.raises(DataError, match="no such folder"):
        run([experiment], Context(tmp_path / "nowhere", tmp_path / "out"))


def test_experiments_are_chosen_by_name_or_paper():
    assert {e.paper for e in select(["cikm2013"], EXPERIMENTS)} == {"cikm2013"}
    assert [e.name for e in select(["cikm2013-table3"], EXPERIMENTS)] == ["cikm2013-table3"]
    with pytest.raises(UnknownNameError, match="did you mean 'cikm2013'"):
        select(["cikm20013"], EXPERIMENTS)


def test_every_experiment_has_a_name_of_its_own():
    names = [e.name for e in EXPERIMENTS]
    assert len(set(names)) == len(names)


def test_verdicts_say_what_differs_and_where():
    told = {line.label: TABLE.verdict(line) for line in TABLE.rows}
    assert told == {
        "same": "agrees",
        "noisy": "within noise",
        "better": "above",
        "worse": "below in AP",
        "unseen": "not measured",
        "house": "above",
        "other house": "within noise",
    }


def test_findings_come_back_from_json():
    assert Findings.from_dict(json.loads(json.dumps(FOUND.to_dict()))) == FOUND


@pytest.fixture
def written(tmp_path, experiment):
    outcomes = run([experiment], context(tmp_path))
    write(outcomes, context(tmp_path))
    return {name: (tmp_path / "out" / name).read_text() for name in ("report.md", "report.html")}


@pytest.mark.parametrize("name", ["report.md", "report.html"])
def test_the_report_shows_every_published_row(written, name):
    text = written[name]
    for line in TABLE.rows:
        for value in (*line.published, *line.measured):
            assert value is None or f"{value:.2f}" in text
        assert TABLE.verdict(line) in text
    for wanted in ("+8.00", "-10.00", "NOT met", "1 of 2 are met", "seeds 0, 1, 2", "Water is wet", "differs"):
        assert wanted in text
    assert "± folds and seeds" in text


def test_the_error_over_folds_and_seeds_is_beside_the_values_of_its_row(written):
    rows = [[cell.strip() for cell in line.split("|")] for line in written["report.md"].splitlines()]
    columns = next(row for row in rows if "± folds and seeds" in row)
    house = next(row for row in rows if "house" in row and "60.00" in row)
    assert house[columns.index("± folds and seeds")] == "0.77"
    assert len(house) == len(columns)


def test_the_page_loads_nothing_from_elsewhere(written):
    page = written["report.html"]
    assert not re.search(r"(?:src|href)=[\"'](?!data:|#)|url\(|@import|<script|<link|<iframe", page)
    assert page.count("data:image/png;base64,") == 2
    assert "Fire is &lt;cold&gt;" in page


def test_markdown_names_pictures_that_lie_beside_it(written, tmp_path):
    names = re.findall(r"!\[[^\]]*\]\(([^)]*)\)", written["report.md"])
    assert names == ["squares.png", "lines.png"]
    assert all((tmp_path / "out" / name).read_bytes().startswith(b"\x89PNG") for name in names)


@pytest.mark.parametrize(
    ("mean_precision", "ndcg_5", "met"), [(51.2, 51.8, True), (51.19, 60.0, False), (60.0, 51.79, False)]
)
def test_a_learner_must_reach_both_of_its_floors(mean_precision, ndcg_5, met):
    class Told:
        def means(self, trial: Trial) -> np.ndarray:
            found = {"AP": mean_precision, "nDCG@5": ndcg_5}
            return np.array([found.get(metric, 0.0) for metric in METRICS])

    assert floor(Told(), "blend", (51.2, 51.8)).holds == met
