"""The command from data to report, on a small set in the format of LETOR; and the report in a browser."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from letor_sample import write_letor

from studies import __main__ as studies
from studies.papers.published import TABLES

EXPERIMENTS = (
    "cikm2013-table2-MQ2008-agg",
    "cikm2013-figure1-MQ2007-agg",
    "www2012-figure3-MQ2008-agg",
    "cikm2012-figure4-MQ2008-agg",
)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    write_letor(folder / "data" / "MQ2008-agg")
    return reproduced(folder)


def reproduced(folder: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        paths = ["--data", str(folder / "data"), "-o", str(folder / "out")]
        patch.setattr(sys, "argv", ["studies", "reproduce", *EXPERIMENTS, "--quick", *paths])
        patch.setenv("OPENBLAS_NUM_THREADS", "1")  # else the command sets it, for good
        with pytest.raises(SystemExit) as stopped:
            studies.main()
    assert not stopped.value.code
    return folder / "out"


def test_every_published_row_has_a_verdict(out):
    text = (out / "report.md").read_text()
    rows = [line.split("|") for line in text.splitlines() if "| CIKM 2013, Table 2" in line]
    assert len(rows) == len(TABLES["MQ2008-agg"]) - 1 + 2  # borda is of another source; crf also has sums and means
    assert all(row[-2].strip() for row in rows)
    assert text.count("| difference ") == len(rows)


def test_ours_stand_below_theirs(out):
    text = (out / "report.md").read_text()
    for name in ("jury", "ridge", "kernel", "blend", "auto"):
        assert f"| {name} " in text


def test_the_overview_has_a_verdict_on_each_table_and_figure(out):
    text = (out / "report.md").read_text()
    verdicts = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 7 and cells[1].startswith(("Table 2, MQ", "Figure 3, MQ")):
            verdicts[cells[1]] = cells[-2]
    assert verdicts["Table 2, MQ2007-agg"] == "not possible: MQ2007-agg is not in the folder of data"
    assert verdicts["Table 2, MQ2008-agg"].startswith(("reproduced", "not reproduced: "))
    assert any(what.startswith("Figure 3, MQ2008-agg") for what in verdicts)


def test_what_lacks_data_is_named(out):
    assert "cikm2013-figure1-MQ2007-agg" in (out / "report.md").read_text().partition("## Skipped")[2]
    assert sorted(path.stem for path in (out / "results").iterdir()) == sorted(set(EXPERIMENTS) - {EXPERIMENTS[1]})


def test_a_second_run_changes_nothing(out, capsys):
    before = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
    reproduced(out.parent)
    assert capsys.readouterr().err.count("kept from before") == 3
    assert {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()} == before


def test_values_are_those_of_compare(out):
    import juryrank

    data = juryrank.read(out.parent / "data" / "MQ2008-agg")
    found = juryrank.compare(["rrf", "jury"], data, ["nDCG@1", "AP"], convention="letor")
    (shown,) = json.loads((out / "results" / f"{EXPERIMENTS[0]}.json").read_text())["findings"]["results"]
    lines = {line["label"]: line for line in shown["rows"]}
    for name in ("rrf", "jury"):
        assert lines[name]["measured"][0] == pytest.approx(100 * found.mean(name, "nDCG@1"))
        assert lines[name]["measured"][-1] == pytest.approx(100 * found.mean(name, "AP"))
    lead = found.mean("rrf", "AP") - lines["crf"]["measured"][-1] / 100
    assert lines["rrf"]["lead"][1] == pytest.approx(100 * lead)


def test_a_browser_shows_tables_and_plots_without_a_network(out, tmp_path):
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip(f"no browser is installed ({', '.join(BROWSERS)})")
    image = pytest.importorskip("PIL.Image", reason="Pillow reads the screenshot")
    picture = tmp_path / "page.png"
    page = (out / "report.html").as_uri()
    call = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}"]
    call.append("--host-resolver-rules=MAP * ~NOTFOUND")
    size = ["--hide-scrollbars", "--window-size=1400,4000"]
    subprocess.run([*call, *size, f"--screenshot={picture}", page], check=True, capture_output=True, timeout=120)
    dom = subprocess.run([*call, "--dump-dom", page], check=True, capture_output=True, text=True, timeout=120).stdout
    assert dom.count("<table>") >= 6
    assert dom.count("<img ") == 2
    with image.open(picture) as shown:
        colours = {colour for _, colour in shown.convert("RGB").getcolors(1 << 24)}
    assert {(0x1F, 0x5F, 0xA8), (0xC8, 0x50, 0x2D)} <= colours  # a rule of the page, and bars of a plot
