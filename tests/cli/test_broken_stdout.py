"""Standard output that is full, closed, or read by nobody."""

import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import DEMO, Run
from juryrank.io import read
from juryrank.methods import method
from juryrank.models import save

BATTLES = DEMO.with_name("battles.csv")
FULL = Path("/dev/full")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model.json"
    save(method("rrf", weights={"bm25": 2.0}).fit(read(DEMO)), path)
    return path


def juryrank(*args: object, shell: str = "", **options: object) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, with what a shell does to its output."""
    command = [sys.executable, "-m", "juryrank", *map(str, args)]
    return subprocess.run(
        ["bash", "-c", f'"$@" {shell}', "bash", *command], stderr=subprocess.PIPE, text=True, check=False, **options
    )  # type: ignore[call-overload, no-any-return]


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize(
    "args",
    [
        ["--version"],
        ["--help"],
        ["rank", "--help"],
        ["methods"],
        ["methods", "rrf"],
        ["rank", DEMO, "--method", "rrf"],
        ["evaluate", DEMO, "-m", "AP"],
        ["evaluate", DEMO, "-m", "AP", "--format", "csv"],
        ["compare", DEMO, "--methods", "rrf,isr", "-m", "AP", "-q"],
        ["leaderboard", BATTLES, "--interval", "none", "--no-judges"],
        ["election", BATTLES, "--rules", "borda"],
        ["explain", "MODEL"],
        ["export", "MODEL", "--to", "csv"],
    ],
    ids=lambda args: " ".join(str(getattr(arg, "name", arg)) for arg in args),
)
def test_a_full_disk_is_one_line_and_exit_1(
    run: Run, model: Path, args: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    with FULL.open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        monkeypatch.setattr(sys, "__stdout__", full)
        done = run(*(model if arg == "MODEL" else arg for arg in args))
    lines = [line for line in done.err.splitlines() if not line.startswith(("warning: ", "compiling"))]
    assert lines == ["error: results cannot be written to stdout: No space left on device"]
    assert done.code == 1


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")
def test_a_full_disk_stops_what_is_written_query_by_query(runs: list[Path]) -> None:
    done = juryrank("fuse", *runs, "--memory", "10MB", "-q", shell="> /dev/full")
    assert done.stderr == "error: results cannot be written to stdout: No space left on device\n"
    assert done.returncode == 1


def test_a_reader_that_stops_ends_the_program_quietly_as_sigpipe_would() -> None:
    text = juryrank("rank", DEMO, "--method", "rrf", "-q", shell='| head -1; exit "${PIPESTATUS[0]}"', stdout=-1)
    assert text.stdout.startswith("q01 Q0 ")
    assert text.stdout.count("\n") == 1
    assert (text.returncode, text.stderr) in [(141, ""), (0, "")]  # 0 where all of it went into the pipe
    gone = juryrank("rank", DEMO, "--method", "rrf", "-q", shell='| true; exit "${PIPESTATUS[0]}"')
    assert (gone.returncode, gone.stderr) == (141, "")


def test_a_closed_stdout_is_an_error_only_where_something_is_printed(tmp_path: Path) -> None:
    done = juryrank("rank", DEMO, "--method", "rrf", "-q", shell=">&-")
    assert (done.returncode, done.stderr) == (1, "error: results cannot be written to stdout: it is closed\n")
    assert juryrank("rank", DEMO, "--method", "rrf", "-q", "-o", tmp_path / "x.run", shell=">&-").returncode == 0
    assert (tmp_path / "x.run").read_text().startswith("q01 Q0 ")


def test_notes_that_cannot_be_written_do_not_spoil_the_result(tmp_path: Path) -> None:
    for n, shell in enumerate(["2> /dev/full", "2>&-"]):
        out = tmp_path / f"{n}.run"
        done = juryrank("rank", DEMO, "--method", "rrf", "-o", out, shell=shell, stdout=-1)
        assert (done.returncode, done.stdout) == (0, "")
        assert out.read_text().startswith("q01 Q0 ")
