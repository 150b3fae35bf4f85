"""The command line: what it prints, writes and returns, run in this process through ``main``."""

import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import juryrank
from juryrank import cli
from juryrank.cli import options, screen
from juryrank.errors import DataWarning, JuryrankWarning
from juryrank.methods import METHODS
from juryrank.params import parameters

DEMO = Path(juryrank.__file__).parent / "demo" / "cooking.csv"
BM25 = "1 Q0 a 1 9.0 bm25\n1 Q0 b 2 8.0 bm25\n1 Q0 c 3 7.0 bm25\n2 Q0 x 1 5.0 bm25\n"
DENSE = "1 Q0 b 1 0.9 dense\n1 Q0 c 2 0.8 dense\n2 Q0 y 1 0.5 dense\n2 Q0 x 2 0.4 dense\n"
QRELS = "1 0 a 0\n1 0 b 2\n1 0 c 1\n2 0 x 1\n2 0 y 0\n"


@dataclass
class Outcome:
    """What a run of the command line left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def run_main(*args: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["juryrank", *map(str, args)])
        with warnings.catch_warnings():
            warnings.simplefilter("always", JuryrankWarning)
            with pytest.raises(SystemExit) as stopped:
                cli.main()
        return Outcome(int(stopped.value.code or 0), *capsys.readouterr())

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


def test_methods_lists_the_whole_catalogue(run: Run) -> None:
    shown = run("methods")
    assert shown.code == 0
    assert [line.split()[0] for line in shown.out.splitlines()[1:]] == list(METHODS)


@pytest.mark.parametrize("name", METHODS)
def test_methods_explains_every_parameter_of_a_method(run: Run, name: str) -> None:
    shown = run("methods", name)
    assert shown.code == 0
    assert (METHODS[name].__doc__ or "").partition("\n")[0] in shown.out
    for f in parameters(METHODS[name]):
        assert f.name in shown.out
    assert ":math:" not in shown.out


def test_an_unknown_method_ends_with_2_and_the_nearest_name(run: Run) -> None:
    for args in (["methods", "rff"], ["rank", DEMO, "--method", "rff"], ["compare", DEMO, "--methods", "rff"]):
        failed = run(*args)
        assert failed.code == 2
        assert failed.err.startswith("error: no method 'rff'; did you mean 'rrf'?")
        assert failed.err.count("\n") == 1


def test_fuse_prints_a_trec_run(run: Run, runs: list[Path]) -> None:
    fused = run("fuse", *runs)
    assert (fused.code, fused.err) == (0, "")
    assert items(fused.out) == {"1": ["b", "c", "a"], "2": ["x", "y"]}
    assert float(fused.out.split()[4]) == pytest.approx(1 / 62 + 1 / 61)


def test_fuse_writes_the_same_run_that_it_prints(run: Run, runs: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "fused.run"
    written = run("fuse", *runs, "-o", out)
    assert (written.code, written.out) == (0, "")
    assert written.err.startswith(f"{out}: 2 queries")
    assert items(out.read_text()) == items(run("fuse", *runs).out)


def test_quiet_says_nothing(run: Run, runs: list[Path], tmp_path: Path) -> None:
    assert run("fuse", *runs, "-o", tmp_path / "fused.run", "--quiet") == Outcome(0, "", "")


def test_fuse_writes_a_table_when_the_ending_says_so(run: Run, runs: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "fused.csv"
    assert run("fuse", *runs, "-o", out).code == 0
    header, first, *_ = out.read_text().splitlines()
    assert header.split(",")[:2] == ["query", "item"]
    assert first.split(",")[:2] == ["1", "b"]


def test_weights_and_parameters_reach_the_method(run: Run, runs: list[Path]) -> None:
    fused = run("fuse", *runs, "--weights", "bm25=2,dense=0", "-p", "k=10")
    assert float(fused.out.split()[4]) == pytest.approx(2 / 11)
    assert items(fused.out)["1"] == ["a", "b", "c"]


def test_a_weight_for_a_stranger_is_one_line_of_warning(run: Run, runs: list[Path]) -> None:
    warned = run("fuse", *runs, "--weights", "splade=2")
    assert warned.code == 0
    assert warned.err == "warning: rrf: weights for experts that are not in the data: splade\n"


@pytest.mark.parametrize(
    ("args", "code", "complaint"),
    [
        (["-p", "k=-5"], 1, "error: k of RRF must be > "),
        (["-p", "k=many"], 1, "error: k of RRF must be a number, got 'many'\n"),
        (["-p", "j=1"], 1, "error: rrf has no parameter 'j'; it has"),
        (["--weights", "bm25=-1"], 1, "error: weight of expert 'bm25' must be"),
    ],
)
def test_a_wrong_parameter_is_one_line_without_traceback(
    run: Run, runs: list[Path], args: list[str], code: int, complaint: str
) -> None:
    failed = run("fuse", *runs, *args)
    assert (failed.code, failed.out) == (code, "")
    assert failed.err.startswith(complaint)
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


def test_a_failed_command_leaves_the_old_output(run: Run, runs: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "fused.run"
    out.write_text("old")
    assert run("fuse", *runs, "-p", "k=-5", "-o", out).code == 1
    assert out.read_text() == "old"


def test_rank_equals_the_library(run: Run) -> None:
    data = juryrank.read(DEMO)
    ranked = run("rank", DEMO, "--method", "rrf", "-p", "missing=last")
    expected = juryrank.method("rrf", missing="last").fit(data).predict(data).top(1000)
    assert items(ranked.out) == expected


def test_version(run: Run) -> None:
    assert run("--version").out == f"juryrank {juryrank.__version__}\n"


@pytest.mark.parametrize("command", ["methods", "fuse", "rank", "evaluate", "compare", "convert", "demo"])
def test_every_command_has_help(run: Run, command: str) -> None:
    assert command in run("--help").out
    shown = run(command, "--help")
    assert shown.code == 0
    assert "--help" in shown.out


def test_ctrl_c_ends_quietly(run: Run, runs: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("juryrank.readers.read", interrupt)
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

    monkeypatch.setattr("juryrank.readers.read", stumble)
    monkeypatch.setattr(sys, "argv", ["juryrank", "fuse", str(runs[0])])
    with warnings.catch_warnings(), pytest.raises(ZeroDivisionError):
        cli.main()


def test_other_warnings_are_shown_as_ever(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    others = []
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr(warnings, "showwarning", lambda *args: others.append(str(args[0])))
        screen.show_warnings_as_lines()
        warnings.warn("3 entries dropped", DataWarning, stacklevel=1)
        warnings.warn("something else", RuntimeWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: 3 entries dropped\n"
    assert others == ["something else"]


@pytest.mark.parametrize(
    ("terminal", "quiet", "bar"), [(True, False, True), (True, True, False), (False, False, False)]
)
def test_a_bar_moves_only_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], terminal: bool, quiet: bool, bar: bool
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    assert list(screen.tracked("comparing", quiet=quiet)(["a", "b"])) == ["a", "b"]
    assert ("comparing" in capsys.readouterr().err) == bar


@pytest.mark.parametrize(
    ("text", "value"),
    [("k=10", 10), ("k=1e-3", 1e-3), ("k=last", "last"), ("k=true", True), ("k=null", None), ('k={"a": 2}', {"a": 2})],
)
def test_a_parameter_is_json_where_it_can_be(text: str, value: object) -> None:
    assert options.named_values([text], "--param") == {"k": value}


def test_a_weight_may_name_an_expert_with_an_equals_sign() -> None:
    assert options.named_values(["a=b=2"], "--weights") == {"a=b": 2}
