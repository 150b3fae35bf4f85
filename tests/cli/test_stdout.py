"""What goes to stdout is what goes to a file: the same bytes, the same checks, UTF-8 whatever the locale."""

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import juryrank
from cli.conftest import Run
from juryrank.data.build import from_dicts
from juryrank.errors import DataError
from juryrank.io.files import load

NAMES = {"a blank": "green tea", "a line break": "a\nq Q0 z 1 9 x", "a tab": "a\tb", "nothing": ""}


def table(path: Path, item: str, query: str = "q") -> Path:
    frame = pl.DataFrame({"query": [query] * 2, "item": ["good", item], "expert": ["e"] * 2, "rank": [1, 2]})
    frame.write_parquet(path)
    return path


@pytest.mark.parametrize("name", [name for name in NAMES.values() if name])  # readers refuse an empty one
@pytest.mark.parametrize("command", [["fuse"], ["rank", "--method", "borda"], ["fuse", "--memory", "1MB"]], ids=str)
def test_a_name_that_a_run_cannot_carry_is_refused_everywhere(
    run: Run, tmp_path: Path, name: str, command: list[str]
) -> None:
    data = table(tmp_path / "data.parquet", name)
    printed, dashed = run(*command, data), run(*command, data, "-o", "-")
    written = run(*command, data, "-o", tmp_path / "out.run")
    assert printed == dashed == written
    assert (printed.code, printed.out) == (1, "")
    assert printed.err == (
        f"error: a TREC run cannot represent whitespace in a name: item {name!r}; write a table instead\n"
    )
    assert not (tmp_path / "out.run").exists()


@pytest.mark.parametrize("name", [name for name in NAMES.values() if name])
def test_convert_refuses_the_same_name_on_stdout_in_a_file_and_in_a_folder(run: Run, tmp_path: Path, name: str) -> None:
    data = table(tmp_path / "data.parquet", name)
    outcomes = [run("convert", data, out) for out in ("-", tmp_path / "out.run", tmp_path / "runs")]
    outcomes.append(run("convert", data, tmp_path / "out", "--to", "trec-run"))
    for outcome in outcomes:
        assert (outcome.code, outcome.out) == (1, "")
        assert (
            outcome.err
            == f"error: a TREC run cannot represent whitespace in a name: item {name!r}; write a table instead\n"
        )
    assert [path.name for path in tmp_path.iterdir()] == ["data.parquet"]


def test_convert_prints_the_bytes_of_a_file(run: Run, runs: list[Path], tmp_path: Path) -> None:
    assert run("convert", runs[0], tmp_path / "one.run", "--quiet").code == 0
    assert run("convert", runs[0], "-").out == (tmp_path / "one.run").read_text()
    assert run("convert", runs[0], tmp_path / "one.csv", "--quiet").code == 0
    assert run("convert", runs[0], "-", "--to", "table").out == (tmp_path / "one.csv").read_text()


def test_runs_of_several_experts_on_stdout_are_those_of_the_folder(run: Run, runs: list[Path], tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for path in runs:
        path.rename(tmp_path / "in" / path.name)
    assert run("convert", tmp_path / "in", tmp_path / "out", "--quiet").code == 0
    lines = [line for path in (tmp_path / "out").iterdir() for line in path.read_text().splitlines()]
    assert sorted(run("convert", tmp_path / "in", "-").out.splitlines()) == sorted(lines)


@pytest.mark.parametrize("ending", ["run", "run.gz", "trec.zst", "txt"])
def test_a_streamed_file_reads_back_as_what_is_printed(run: Run, runs: list[Path], tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"out.{ending}"
    assert run("fuse", *runs, "--memory", "1MB", "-o", out, "--quiet").code == 0
    assert load(out).data.decode().removesuffix("\n") == run("fuse", *runs).out.removesuffix("\n")
    if ending.startswith("run"):
        assert run("fuse", *runs, "-o", tmp_path / f"whole.{ending}", "--quiet").code == 0
        assert out.read_bytes() == (tmp_path / f"whole.{ending}").read_bytes()


def test_a_streamed_table_is_refused_before_the_work(run: Run, runs: list[Path], tmp_path: Path) -> None:
    failed = run("fuse", *runs, "--memory", "1MB", "-o", tmp_path / "out.csv")
    assert (failed.code, "written as a TREC run" in failed.err, failed.out) == (1, True, "")
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("memory", [[], ["--memory", "1MB"]], ids=["whole", "streamed"])
def test_a_link_stays_a_link(run: Run, runs: list[Path], tmp_path: Path, memory: list[str]) -> None:
    (tmp_path / "target.run").write_text("old\n")
    (tmp_path / "link.run").symlink_to(tmp_path / "target.run")
    assert run("fuse", *runs, *memory, "-o", tmp_path / "link.run", "--quiet").code == 0
    assert (tmp_path / "link.run").is_symlink()
    assert (tmp_path / "target.run").read_text() == run("fuse", *runs).out


def test_a_name_of_a_query_is_refused_too(run: Run, tmp_path: Path) -> None:
    failed = run("fuse", table(tmp_path / "data.parquet", "b", "two words"))
    assert (failed.code, failed.out) == (1, "")
    assert "query 'two words'" in failed.err


@pytest.mark.parametrize("name", [*NAMES.values()], ids=NAMES)
def test_text_in_python_is_refused_the_same_way(name: str) -> None:
    consensus = juryrank.method("rrf").fit_predict(from_dicts({"e": {"q": ["good", name]}}))
    with pytest.raises(
        DataError, match=f"a TREC run cannot represent {'whitespace in a name' if name else 'an empty name'}"
    ):
        consensus.to_trec()


def test_a_tag_must_be_one_word_too() -> None:
    consensus = juryrank.method("rrf").fit_predict(from_dicts({"e": {"q": ["good"]}}))
    with pytest.raises(DataError, match="a TREC run cannot represent whitespace in a name: expert 'my tag'"):
        consensus.to_trec("my tag")


@pytest.mark.parametrize("command", [["fuse"], ["fuse", "--memory", "1MB"], ["rank", "--method", "copeland"]], ids=str)
def test_a_dash_is_stdout_with_the_bytes_of_a_file(
    run: Run, runs: list[Path], tmp_path: Path, command: list[str]
) -> None:
    assert run(*command, *runs, "-o", tmp_path / "out.run").code == 0
    printed = run(*command, *runs)
    assert printed == run(*command, *runs, "-o", "-")
    assert printed.out == (tmp_path / "out.run").read_text()
    assert (printed.code, printed.err) == (0, "")


def test_a_dash_is_stdout_for_reports_too(run: Run, runs: list[Path], qrels: Path) -> None:
    command = ["evaluate", *runs, "--labels", qrels, "--format", "csv"]
    assert run(*command) == run(*command, "-o", "-")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-16"])
def test_stdout_is_utf8_whatever_the_locale(tmp_path: Path, encoding: str) -> None:
    names = ["žluťoučký", "日本", "naïve", "𝔘"]
    path = tmp_path / "x.run"
    path.write_text("".join(f"q Q0 {name} {n} {9 - n} é\n" for n, name in enumerate(names, 1)), encoding="utf-8")
    (tmp_path / "x.qrels").write_text("q 0 日本 1\n", encoding="utf-8")
    environment = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    for command in (["fuse", path], ["evaluate", path, "--labels", tmp_path / "x.qrels", "--format", "csv"]):
        done = subprocess.run(
            [sys.executable, "-m", "juryrank", *map(str, command)], capture_output=True, env=environment, check=False
        )
        assert (done.returncode, done.stderr) == (0, b"")
        text = done.stdout.decode("utf-8")
        assert all(name in text for name in names) if command[0] == "fuse" else "é,AP,0.5,\n" in text.replace("\r", "")


@pytest.mark.parametrize(
    "command", [["export", "--to", "csv", "--depth", "2"], ["explain"], ["explain", "--format", "markdown"]], ids=str
)
def test_models_are_told_in_utf8_whatever_the_locale(tmp_path: Path, command: list[str]) -> None:
    model = juryrank.method("rrf", weights={"žluť日本": 2.0}).fit(from_dicts({"žluť日本": {"q": ["a", "b"]}}))
    juryrank.save(model, tmp_path / "model.json")
    environment = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "juryrank", command[0], str(tmp_path / "model.json"), *command[1:]],
        capture_output=True,
        env=environment,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert "žluť日本" in done.stdout.decode("utf-8")


@pytest.mark.parametrize("command", [["fuse"], ["rank", "--method", "borda"], ["fuse", "--memory", "1MB"]], ids=str)
def test_a_terminal_gets_control_characters_as_escapes(tmp_path: Path, command: list[str]) -> None:
    import pty

    data = table(tmp_path / "data.parquet", "\x1b]0;owned\x07\x9b31mred")
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "juryrank", *command, str(data)], stdout=theirs, stderr=subprocess.DEVNULL, timeout=120
    )
    os.close(theirs)
    shown = os.read(ours, 10_000)
    os.close(ours)
    assert done.returncode == 0
    assert rb"\x1b]0;owned\x07\x9b31mred" in shown
    assert not {0x1B, 0x07, 0x9B} & set(shown)


def test_errors_and_notes_show_control_characters_as_escapes(run: Run, tmp_path: Path) -> None:
    failed = run("fuse", tmp_path / "\x1b[31mno-such-file.run")
    assert failed.code == 1
    assert r"\x1b[31mno-such-file.run" in failed.err
    assert "\x1b" not in failed.err


@pytest.mark.parametrize("command", [["rank", "--method", "rrf", "-o"], ["convert"]], ids=str)
def test_a_path_that_cannot_exist_is_an_error_about_the_path(run: Run, tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    data = table(tmp_path / "data.parquet", "bad")
    for path, reason in ((tmp_path / "loop.csv", "symbolic links"), (tmp_path / f"{'x' * 300}.csv", "too long")):
        written = run(command[0], str(data), *command[1:], str(path))
        assert (written.code, written.out) == (1, "")
        assert f"{path.name}: cannot be written" in written.err
        assert reason in written.err
        read = run("rank", str(path), "--method", "rrf")
        assert (read.code, read.out) == (1, "")
        assert f"{path.name}: cannot be read" in read.err
        assert reason in read.err
