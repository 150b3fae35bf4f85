"""Exit codes, complaints and quiet endings."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import juryrank
from cli.conftest import DEMO, Outcome, Run
from juryrank import cli


def test_an_unknown_method_ends_with_2_and_the_nearest_name(run: Run) -> None:
    for args in (["methods", "rff"], ["rank", DEMO, "--method", "rff"], ["compare", DEMO, "--methods", "rff"]):
        failed = run(*args)
        assert failed.code == 2
        assert failed.err.startswith("error: no method 'rff'; did you mean 'rrf'?")
        assert failed.err.count("\n") == 1


@pytest.mark.parametrize("args", [["-p", "k"], ["--weights", "bm25"], ["--nonsense"]])
def test_wrong_usage_ends_with_2(run: Run, runs: list[Path], args: list[str]) -> None:
    failed = run("fuse", *runs, *args)
    assert (failed.code, failed.out) == (2, "")
    assert args[0].lstrip("-") in failed.err


def test_a_missing_file_ends_with_1_and_is_named(run: Run, tmp_path: Path) -> None:
    failed = run("fuse", tmp_path / "absent.run", tmp_path / "gone.run")
    assert (failed.code, failed.out) == (1, "")
    assert str(tmp_path / "absent.run") in failed.err
    assert failed.err.count("\n") == 1


def test_a_folder_that_cannot_be_written_to_ends_with_1(run: Run, runs: list[Path], tmp_path: Path) -> None:
    failed = run("fuse", *runs, "-o", tmp_path / "absent" / "fused.run")
    assert failed.code == 1
    assert "absent" in failed.err
    assert "Traceback" not in failed.err


def test_a_pipe_is_not_replaced_by_a_file(run: Run, runs: list[Path], tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.run"
    os.mkfifo(pipe)
    for args in (["fuse", *runs, "-o", pipe], ["convert", runs[0], pipe]):
        assert run(*args).code == 2
        assert pipe.is_fifo()


def test_a_link_stays_a_link(run: Run, runs: list[Path], tmp_path: Path) -> None:
    link, real = tmp_path / "latest.run", tmp_path / "fused.run"
    real.write_text("old")
    link.symlink_to(real)
    assert run("fuse", *runs, "-o", link).code == 0
    assert link.is_symlink()
    assert real.read_text().startswith("1 Q0 b 1 ")


def test_a_failed_command_leaves_the_old_output(run: Run, runs: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "fused.run"
    out.write_text("old")
    assert run("fuse", *runs, "-p", "k=-5", "-o", out).code == 1
    assert out.read_text() == "old"


def test_version(run: Run) -> None:
    assert run("--version").out == f"juryrank {juryrank.__version__}\n"


@pytest.mark.parametrize(
    "command",
    ["methods", "fuse", "rank", "evaluate", "compare", "fit", "judge", "explain", "export", "convert", "demo"],
)
def test_every_command_has_help(run: Run, command: str) -> None:
    assert command in run("--help").out
    shown = run(command, "--help")
    assert shown.code == 0
    assert "--help" in shown.out


def test_ctrl_c_ends_quietly(run: Run, runs: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("juryrank.io.read", interrupt)
    assert run("fuse", *runs) == Outcome(130, "", "")


def test_a_reader_that_stops_reading_is_no_error() -> None:
    command = [sys.executable, "-c", "from juryrank.cli import main; main()", "rank", str(DEMO), "--method", "rrf"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        first = process.stdout.readline()
        process.stdout.close()
        complaint = process.stderr.read()
    assert first.startswith("q01 Q0 ")
    assert complaint == ""


def test_a_bug_keeps_its_traceback(run: Run, runs: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("juryrank.io.read", stumble)
    monkeypatch.setattr(sys, "argv", ["juryrank", "fuse", str(runs[0])])
    with warnings.catch_warnings(), pytest.raises(ZeroDivisionError):
        cli.main()


def test_the_package_runs_as_a_program() -> None:
    done = subprocess.run([sys.executable, "-m", "juryrank", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"juryrank {juryrank.__version__}\n"
