"""The commands of the README and the documentation, as the benchmark runs them."""

import sys
from pathlib import Path

import pytest

from studies.speed.clock import process
from studies.speed.commands import CommandError, run_command
from studies.speed.documented import README, Shown, pages, prepare_folder, shown_commands

PAGE = """
```console
$ juryrank fuse a.run b.run | head -2
q1 Q0 x 1 0.5 juryrank
$ ls
$ juryrank convert - labels.csv < labels.qrels --quiet
```
```sh
juryrank rank DATA
```
"""


def test_commands_are_those_of_console_blocks_without_output_and_redirections() -> None:
    fuse, convert = shown_commands(PAGE, "a page")
    assert (fuse.args, fuse.stdin) == (["fuse", "a.run", "b.run"], None)
    assert (convert.args, convert.stdin) == (["convert", "-", "labels.csv", "--quiet"], "labels.qrels")


@pytest.mark.parametrize(
    ("text", "default"),
    [
        ("juryrank fuse a b", True),
        ("juryrank fit data.csv -o model.json", True),
        ("juryrank rank data.csv --method rrf", True),
        ("juryrank rank data.csv --method mc4", False),
        ("juryrank fuse a b --method rrf", False),
        ("juryrank rank data.csv --model model.json", False),
        ("juryrank fuse a -p k=10", False),
        ("juryrank demo", False),
        ("juryrank --help", False),
    ],
)
def test_a_command_uses_its_default_method_unless_another_is_named(text: str, default: bool) -> None:
    assert Shown("a page", text).uses_default is default


def test_every_command_of_the_program_is_measured() -> None:
    measured = {shown.args[0] for shown in (shown for page in pages().values() for shown in page)}
    assert measured >= {
        "fuse", "rank", "fit", "evaluate", "compare", "leaderboard", "demo", "convert", "methods", "explain", "export",
        "--help",
    }  # fmt: skip
    defaults = {shown.args[0] for page in pages().values() for shown in page if shown.uses_default}
    assert defaults == {"fuse", "rank", "fit", "evaluate"}
    assert list(pages([README])) == [README]


def test_the_demo_data_is_where_the_commands_expect_it(tmp_path: Path) -> None:
    assert (prepare_folder(tmp_path) / "src/juryrank/demo/battles.csv").is_file()


def test_a_command_is_measured_without_the_memory_of_the_benchmark(tmp_path: Path) -> None:
    ballast = bytearray(b"x" * 300_000_000)
    timing = run_command([sys.executable, "-c", "pass"], tmp_path)
    assert timing.memory is not None
    assert 0 < timing.memory < len(ballast) / 3
    assert timing.seconds > 0


def test_what_is_measured_stores_bytecode_so_that_later_runs_find_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").touch()
    run_command([sys.executable, "-c", "import a"], tmp_path)
    process(f"import sys; sys.path.append({str(tmp_path)!r}); import b")
    assert sorted(path.name.split(".")[0] for path in (tmp_path / "__pycache__").iterdir()) == ["a", "b"]


def test_a_command_reads_its_input_and_fails_with_its_last_line(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("3")
    code = "import pathlib, sys; pathlib.Path('out.txt').write_text(sys.stdin.read()); sys.exit('no such thing\\n----')"
    with pytest.raises(CommandError, match="exit code 1: no such thing"):
        run_command([sys.executable, "-c", code], tmp_path, tmp_path / "in.txt")
    assert (tmp_path / "out.txt").read_text() == "3"
    assert len(list(tmp_path.iterdir())) == 2
