"""How kernels are compiled and handed to threads."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from juryrank.errors import ParameterError
from juryrank.kernels import jit


def test_kernels_are_imported_without_numba():
    code = "import sys, juryrank.kernels.pairwise, juryrank.kernels.chain; print('numba' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False"


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_a_driver_covers_every_query_once(n_threads, monkeypatch):
    monkeypatch.setenv("JURYRANK_THREADS", str(n_threads))
    monkeypatch.setattr(jit, "THREADED_FROM", 0)
    seen = []

    def count(first, last, ptr, out):
        seen.append((first, last))
        out[first:last] += 1

    driver = jit.over_queries(count)
    driver.compiled = count
    jit.KERNELS.remove(driver)
    out = np.zeros(11)
    driver(np.arange(12), out)
    assert (out == 1).all()
    assert len(seen) == (1 if n_threads == 1 else -(-11 // -(-11 // (4 * n_threads))))


def test_an_error_in_a_thread_is_not_lost(monkeypatch):
    monkeypatch.setenv("JURYRANK_THREADS", "2")
    monkeypatch.setattr(jit, "THREADED_FROM", 0)

    def fail(first, last, ptr):
        raise ZeroDivisionError

    driver = jit.over_queries(fail)
    driver.compiled = fail
    jit.KERNELS.remove(driver)
    with pytest.raises(ZeroDivisionError):
        driver(np.arange(9))


def test_the_cache_folder_changes_with_the_file_and_with_what_it_imports(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    inner, outer, other = (tmp_path / name for name in ("inner.py", "outer.py", "other.py"))
    inner.write_text("x = 1")
    outer.write_text("from juryrank.kernels.inner import x")
    other.write_text("y = 1")

    def folders():
        jit.cache_folder.cache_clear()
        return [jit.cache_folder(file) for file in (inner, outer, other)]

    before = folders()
    assert len(set(before)) == 3
    assert all(folder.parent == tmp_path / "juryrank" for folder in before)
    inner.write_text("x = 2")
    after = folders()
    assert [a == b for a, b in zip(after, before, strict=True)] == [False, False, True]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_nothing_is_cached_where_nothing_can_be_written(tmp_path, monkeypatch):
    tmp_path.chmod(0o500)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    jit.cache_folder.cache_clear()
    assert jit.cache_folder(Path(jit.__file__)) is None


def test_a_file_in_the_way_of_the_cache_is_no_trouble(tmp_path, monkeypatch):
    (tmp_path / "juryrank").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    jit.cache_folder.cache_clear()
    assert jit.cache_folder(Path(jit.__file__)) is None


@pytest.mark.parametrize("wanted", ["two", "0", "-1", "1.5"])
def test_a_number_of_threads_that_is_none_is_named(wanted, monkeypatch):
    monkeypatch.setenv("JURYRANK_THREADS", wanted)
    with pytest.raises(ParameterError, match=f"whole number of 1 or more, got '{wanted}'"):
        jit.threads()


EXTREMES = """
import sys
import numpy as np
from contextlib import nullcontext
from juryrank.kernels.scaling import extremes, scaled
from juryrank.progress import heard

with heard(print) if "listen" in sys.argv else nullcontext():
    low, high = np.empty(1), np.empty(1)
    lists, entries, score = np.array([0, 1]), np.array([0, 3]), np.array([2.0, 5.0, 3.0])
    extremes(lists, entries, score, low, high)
    scaled(lists, entries, score, low, high - low, np.zeros(1), score)
print(score.tolist())
"""


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_compilation_is_remarked_once_where_somebody_listens_and_not_when_the_cache_is_warm(tmp_path):
    def run(*args, cache):
        environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
        command = [sys.executable, "-c", EXTREMES, *args]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        assert done.stderr == ""
        return done.stdout.splitlines()

    scaled = str([0.0, 1.0, 1 / 3])
    assert run("listen", cache=tmp_path / "a") == ["compiling, first run only", scaled]
    assert run("listen", cache=tmp_path / "a") == [scaled]
    assert run(cache=tmp_path / "b") == [scaled]
    (tmp_path / "file").write_text("a folder cannot be made here")
    remarked, _ = run("listen", cache=tmp_path / "file")
    assert remarked == f"compiling, on every run: {tmp_path / 'file' / 'juryrank'} is not writable"
