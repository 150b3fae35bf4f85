"""``juryrank warm`` fills the cache of compiled code, for this CPU or for any, so that later runs compile nothing."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import juryrank
from cli.conftest import Run
from juryrank.cli.warm import check_stored, chosen_methods
from juryrank.errors import ParameterError
from juryrank.kernels.cache import CacheUse
from juryrank.methods import METHODS, consensus_methods

SOURCES = str(Path(juryrank.__file__).parents[1])
compiles = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")


def command(cache: Path, *args: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own, with this parent folder of the cache."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    paths = {"PYTHONPATH": SOURCES, "XDG_CACHE_HOME": str(cache), "TMPDIR": str(cache.parent)}
    paths["JURYRANK_KERNELS"] = "numba"  # not the library that came with the package
    return subprocess.run(
        [sys.executable, "-m", "juryrank", *map(str, args)],
        env=kept | paths | environment, capture_output=True, text=True, timeout=600,
    )  # fmt: skip


def files_in(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def portable(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A cache filled for any CPU with what rrf needs, and what the command printed."""
    folder = tmp_path_factory.mktemp("portable") / "cache"
    elsewhere = folder.parent / "unused"
    return folder, command(elsewhere, "warm", "--portable", "--methods", "rrf", "--cache", folder)


@compiles
def test_the_folder_the_number_of_kernels_their_size_and_the_time_are_printed(
    portable: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    folder, done = portable
    assert done.returncode == 0, done.stderr
    stored = files_in(folder)
    size = sum(os.path.getsize(path) for path in stored) / 1e6
    expected = f"{folder}/juryrank: {len(stored)} kernels, {size:.1f} MB; {len(stored)} compiled now, for any "
    assert done.stdout.startswith(expected)
    assert re.search(r"for any \w+ CPU; bytecode of \d+ modules, \d+ compiled now, in [\d.]+ s\n$", done.stdout)
    assert re.search(r"^evaluate: \d+ kernels? compiled in [\d.]+ s$", done.stderr, re.MULTILINE)
    assert not (folder.parent / "unused").exists()


@compiles
@pytest.mark.parametrize(
    "cpu", [{}, {"NUMBA_CPU_NAME": "x86-64"}, {"NUMBA_CPU_FEATURES": "+sse2"}], ids=["this CPU", "name", "features"]
)
def test_portable_code_is_loaded_on_another_cpu(
    portable: tuple[Path, subprocess.CompletedProcess[str]], runs: list[Path], cpu: dict[str, str]
) -> None:
    folder, _ = portable
    before = files_in(folder)
    done = command(folder, "fuse", *runs, **cpu)
    assert (done.returncode, done.stderr) == (0, "")  # nothing says that it compiles
    assert done.stdout.startswith("1 Q0 b 1 ")
    assert files_in(folder) == before
    assert list(folder.parent.glob("juryrank-*")) == []


@compiles
def test_large_runs_are_also_read_without_compiling(
    portable: tuple[Path, subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    folder, _ = portable
    before = files_in(folder)
    for expert in ("bm25", "dense"):
        lines = (f"{q} Q0 document-{i} {i + 1} {1000 - i} {expert}\n" for q in range(20) for i in range(1000))
        (tmp_path / f"{expert}.run").write_text("".join(lines))  # 600 kB: the reader for large runs, in two threads
    done = command(folder, "fuse", tmp_path / "bm25.run", tmp_path / "dense.run", "--top", 1, JURYRANK_THREADS="2")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("document-0 1 ") == 20
    assert files_in(folder) == before


@compiles
def test_a_second_time_nothing_is_compiled(portable: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, _ = portable
    before = files_in(folder)
    done = command(folder, "warm", "--portable", "--methods", "rrf")
    assert done.stderr == ""
    assert f"{len(before)} kernels, " in done.stdout
    assert re.search(r" MB; 0 compiled now, .* modules, 0 compiled now, in ", done.stdout)
    assert files_in(folder) == before


def test_code_that_was_not_stored_in_the_folder_is_an_error() -> None:
    use = CacheUse()
    use.misses, use.stored = 2, ["/cache/juryrank/a", "/tmp/juryrank-0/b"]
    with pytest.raises(ParameterError, match=r"^1 kernel could not be stored in /cache/juryrank; choose"):
        check_stored(use, "/cache/juryrank")
    use.stored.append("/cache/juryrank/b")
    check_stored(use, "/cache/juryrank")


def test_a_folder_that_cannot_be_used_is_an_error_before_anything_is_compiled(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # --cache replaces it, for the whole process
    (tmp_path / "file").write_text("no folder can be made below this")
    done = run("warm", "--cache", tmp_path / "file")
    assert (done.code, done.out) == (1, "")
    problem = f"error: the cache {tmp_path}/file/juryrank cannot be created: File exists"
    assert done.err == f"{problem}; choose another folder with --cache DIR\n"


def test_an_unknown_method_is_an_error(run: Run, tmp_path: Path) -> None:
    done = run("warm", "--methods", "rrf,bordo", "--cache", tmp_path / "cache")
    assert done.code == 2
    assert "no method 'bordo'; did you mean 'borda'?" in done.err
    assert not (tmp_path / "cache").exists()


def test_portable_code_needs_a_process_without_numba(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("numba")
    done = run("warm", "--portable", "--methods", "rrf", "--cache", tmp_path)
    assert (done.code, done.err) == (
        1,
        "error: portable code needs a process that has not imported Numba yet\n",
    )


def test_the_default_methods_are_those_of_the_commands_and_all_is_every_method() -> None:
    assert set(chosen_methods(None)) == {"rrf", "jury", *consensus_methods()}
    assert list(chosen_methods(["all"])) == list(METHODS)
    assert list(chosen_methods(["rrf:k=10,borda", "mc4"])) == ["rrf:k=10", "borda", "mc4"]


@pytest.mark.parametrize("name", [name for name, cls in METHODS.items() if cls.needs_scores or cls.needs_features])
def test_methods_that_need_more_than_lists_get_it(run: Run, tmp_path: Path, name: str) -> None:
    assert run("warm", "--methods", name, "--cache", tmp_path).code == 0
