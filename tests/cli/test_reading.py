"""What the command line reads, and how it speaks about it."""

import io
import sys
from pathlib import Path

import pytest

from cli.conftest import BM25, DENSE, QRELS, Run, items


class Stdin:
    """Bytes that stand at stdin."""

    def __init__(self, content: str) -> None:
        self.buffer = io.BytesIO(content.encode())


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> object:
    return lambda content: monkeypatch.setattr(sys, "stdin", Stdin(content))


def write(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "args", "complaint"),
    [
        ("query,docs,rank\n1,a,1\n", (), "use --columns item=HEADER\n"),
        ("item,model,source,rank\na,x,y,1\n", (), "choose one: --columns expert=model\n"),
        ("item,value\na,1\n", (), "use --values rank or --values score, or --values distance for"),
        ("a,w,1\n", (), "--columns item=1,expert=2,score=3"),
        ("item,rank\na,1\n", ("--columns", "doc=x"), "--columns does not take 'doc' here"),
        ("item,rank\na,1\n", ("--values", "score"), "--values score, but the table has no column"),
        ("item,bm25\na,0.5\n", (), "use --columns score=bm25 or --columns rank=bm25\n"),
        ("query,item,score\n", (), "the table has a header and no rows\n"),
        ("query,item,score\n1,a,NaN\n", (), "so there is nothing to rank by; no row has a rank or a score\n"),
        ("what is this?\n", ("--from", "trec-run"), "expected 6 columns"),
    ],
)
def test_errors_name_the_option(run: Run, tmp_path: Path, text: str, args: tuple[str, ...], complaint: str) -> None:
    failed = run("fuse", write(tmp_path, "some.csv", text), *args)
    assert (failed.code, failed.out) == (1, "")
    assert complaint in failed.err
    assert "={" not in failed.err


def test_what_an_error_advises_is_an_option_that_works(run: Run, tmp_path: Path) -> None:
    path = write(tmp_path, "some.csv", "query,item,my engine,score\n1,a,x,2\n1,b,x,1\n1,a,y,7\n")
    failed = run("fuse", path)
    assert "use --columns 'expert=my engine', or --columns expert= to ignore it\n" in failed.err
    assert items(run("fuse", path, "--columns", "expert=my engine").out) == {"1": ["a", "b"]}
    assert run("fuse", path, "--columns", "expert=").code == 0


def test_warnings_name_the_option(run: Run, tmp_path: Path) -> None:
    path = write(tmp_path, "wide.csv", "item,x,y\na,0.5,\nb,1.5,2.5\n")
    warned = run("fuse", path)
    assert warned.err.endswith("to confirm or choose, use --columns expert=x,expert=y and --values score\n")
    assert items(warned.out) == {"all": ["b", "a"]}
    told = run("fuse", path, "--columns", "expert=x,expert=y", "--values", "score")
    assert (told.code, told.out, told.err) == (0, warned.out, "")


@pytest.mark.parametrize("command", ["fuse", "rank", "evaluate", "compare", "leaderboard"])
def test_qrels_in_place_of_a_run_are_told_from_runs(run: Run, qrels: Path, command: str) -> None:
    failed = run(command, qrels, *(["--method", "rrf"] if command == "rank" else []))
    assert (failed.code, failed.out) == (1, "")
    assert "it looks like qrels: give the runs as the data and this file with --labels\n" in failed.err


def test_qrels_in_place_of_a_run_are_told_from_runs_with_little_memory(run: Run, qrels: Path) -> None:
    failed = run("fuse", qrels, "--memory", "50MB")
    assert failed.code == 1
    assert "it looks like qrels: give the runs as the data and this file with --labels\n" in failed.err


def test_qrels_of_beir_are_labels(run: Run, runs: list[Path], qrels: Path, tmp_path: Path) -> None:
    rows = [line.split() for line in QRELS.splitlines()]
    beir = write(
        tmp_path, "test.tsv", "query-id\tcorpus-id\tscore\n" + "".join(f"{q}\t{d}\t{r}\n" for q, _, d, r in rows)
    )
    odd = write(tmp_path, "odd.tsv", "frage\tseite\tnote\n" + "".join(f"{q}\t{d}\t{r}\n" for q, _, d, r in rows))
    told = ("--label-columns", "query=frage,item=seite,label=note")
    wanted = run("evaluate", *runs, "--labels", qrels, "--json").out
    assert run("evaluate", *runs, "--labels", beir, "--json").out == wanted
    assert run("evaluate", *runs, "--labels", odd, *told, "--json").out == wanted


@pytest.mark.parametrize("memory", [[], ["--memory", "50MB"]])
def test_weights_go_by_the_names_of_files_too(run: Run, tmp_path: Path, memory: list[str]) -> None:
    paths = [write(tmp_path, "bm25.run", BM25.replace("bm25", "run-1")), write(tmp_path, "dense.run", DENSE)]
    by_file = run("fuse", *paths, "--weights", "bm25=3", *memory)
    assert (by_file.code, by_file.err) == (0, "")
    assert by_file.out == run("fuse", *paths, "--weights", "run-1=3").out
    assert by_file.out != run("fuse", *paths).out


def test_a_weight_by_file_is_saved_under_the_tag(run: Run, tmp_path: Path, qrels: Path) -> None:
    path = write(tmp_path, "bm25.run", BM25.replace("bm25", "run-1"))
    model = tmp_path / "model.json"
    assert run("fit", path, "--method", "rrf", "--weights", "bm25=3", "-o", model).code == 0
    assert '"run-1": 3' in model.read_text()


def test_a_dash_is_stdin_for_data_and_for_labels(run: Run, runs: list[Path], qrels: Path, stdin: object) -> None:
    assert callable(stdin)
    wanted = run("fuse", *runs).out
    stdin(BM25 + DENSE)
    assert run("fuse", "-").out == wanted
    stdin(DENSE)
    assert run("fuse", runs[0], "-").out == wanted
    wanted = run("evaluate", *runs, "--labels", qrels, "--json").out
    stdin(QRELS)
    assert run("evaluate", *runs, "--labels", "-", "--json").out == wanted
    stdin("query,item,engine,rank\n1,a,x,1\n")
    assert items(run("rank", "-", "--method", "borda").out) == {"1": ["a"]}
    stdin("")
    assert run("fuse", "-").err == "error: stdin: the file is empty\n"


def test_labels_from_stdin_are_for_validation_too(run: Run, runs: list[Path], stdin: object, tmp_path: Path) -> None:
    assert callable(stdin)
    stdin(QRELS)
    fitted = run("fit", runs[0], "--valid", runs[0], "--labels", "-", "--method", "ridge", "-o", tmp_path / "m.json")
    assert fitted.code == 0


def test_stdin_is_read_once_only(run: Run, runs: list[Path], stdin: object) -> None:
    assert callable(stdin)
    stdin(BM25)
    for args in (["fuse", "-", "-"], ["evaluate", "-", "--labels", "-"], ["fuse", "-", "--memory", "50MB"]):
        failed = run(*args)
        assert (failed.code, failed.out) == (2, "")
        assert "stdin" in failed.err
