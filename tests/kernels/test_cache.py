"""Compiled code is kept, and nothing that happens to it changes a result or ends the process."""

import ast
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from juryrank.kernels import cache

pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")

# Scales three scores to the unit interval and prints them with the remarks and warnings.
CODE = """
import resource, sys, warnings
import numpy as np
from juryrank.kernels.scaling import extremes, rescale
from juryrank.progress import show_remarks

if len(sys.argv) > 1:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
remarks = []
with show_remarks(remarks.append), warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    low, high = np.empty(1), np.empty(1)
    lists, entries, score = np.array([0, 1]), np.array([0, 3]), np.array([2.0, 5.0, 3.0])
    extremes(lists, entries, score, low, high)
    rescale(lists, entries, score, low, high - low, np.zeros(1), score)
print([score.tolist(), remarks, [f"{w.category.__name__}: {w.message}" for w in warned]])
"""
SCALED = [0.0, 1.0, 1 / 3]
FIRST = "compiling, first run only"
SOURCES = str(Path(cache.__file__).parents[2])


def run(home, *args, spare, before=(), **environment):
    """Scores, remarks and warnings of a process with these folders for the cache and for temporary files."""
    paths = {"PYTHONPATH": SOURCES, "TMPDIR": str(spare), "JURYRANK_KERNELS": "numba"}
    paths |= {} if home is None else {"XDG_CACHE_HOME": str(home)}
    command = [*before, sys.executable, "-c", CODE, *args]
    done = subprocess.run(command, capture_output=True, text=True, env=paths | environment, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    scores, remarks, warned = ast.literal_eval(done.stdout)
    assert scores == SCALED
    return remarks, warned


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """A folder with the compiled code of two kernels."""
    folder = tmp_path_factory.mktemp("warm")
    assert run(folder, spare=folder) == ([FIRST], [])
    return folder


def files_in(folder):
    return sorted(path for path in (folder / "juryrank").rglob("*") if path.is_file())


def copied(warm, tmp_path):
    shutil.copytree(warm, tmp_path / "copy", copy_function=shutil.copy2)
    return tmp_path / "copy"


def test_compiled_code_is_read_again(warm, tmp_path):
    assert len(files_in(warm)) == 2
    assert run(warm, spare=tmp_path) == ([], [])
    assert list(tmp_path.iterdir()) == []


GENERIC = {"NUMBA_CPU_NAME": cache.GENERIC, "NUMBA_CPU_FEATURES": ""}


def test_code_for_the_generic_cpu_is_loaded_on_another_one(tmp_path):
    assert run(tmp_path, spare=tmp_path, **GENERIC) == ([FIRST], [])
    before = files_in(tmp_path)
    assert run(tmp_path, spare=tmp_path) == ([], [])
    assert run(tmp_path, spare=tmp_path, NUMBA_CPU_NAME="x86-64") == ([], [])
    assert files_in(tmp_path) == before
    code = "from juryrank.kernels.cache import USE; USE.accepts_portable = False"
    other = with_code_at_start(tmp_path, code)
    assert run(tmp_path, spare=tmp_path, **other) == ([FIRST], [])
    assert len(files_in(tmp_path)) == 2 * len(before)


def with_code_at_start(folder, code):
    """The environment of a process that runs this code first."""
    (folder / "sitecustomize.py").write_text(code)
    return {"PYTHONPATH": os.pathsep.join([str(folder), SOURCES])}


def test_code_for_one_cpu_is_not_loaded_on_another_one_and_preferred_on_its_own(warm, tmp_path):
    folder = copied(warm, tmp_path)
    native = files_in(folder)
    assert run(folder, spare=tmp_path, **GENERIC) == ([FIRST], [])
    for path in set(files_in(folder)) - set(native):
        path.write_bytes(b"read only where there is no code for this CPU")
    assert run(folder, spare=tmp_path) == ([], [])
    for path in native:
        path.unlink()
    assert run(folder, spare=tmp_path)[0] == [FIRST]


def test_code_of_another_version_of_numba_is_compiled_again(warm, tmp_path):
    folder = copied(warm, tmp_path)
    other = with_code_at_start(tmp_path, "import numba; numba.__version__ = '0.0.0'")
    assert run(folder, spare=tmp_path, **other) == ([FIRST], [])
    assert len(files_in(folder)) == 4
    assert run(folder, spare=tmp_path) == ([], [])


DAMAGE = {
    "cut short": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "garbage": lambda data: bytes(n * 97 % 251 for n in range(len(data))),
    "one bit": lambda data: data[:-2000] + bytes([data[-2000] ^ 1]) + data[-1999:],
    "longer": lambda data: data + b"\0",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_code_is_compiled_again_with_one_warning(warm, tmp_path, damage):
    folder = copied(warm, tmp_path)
    before = [path.read_bytes() for path in files_in(folder)]
    for path, data in zip(files_in(folder), before, strict=True):
        path.write_bytes(DAMAGE[damage](data))
    remarks, warned = run(folder, spare=tmp_path)
    assert remarks == [FIRST]
    assert len(warned) == 1
    assert warned[0].startswith(f"CacheWarning: damaged compiled code is compiled again: {folder}/juryrank/")
    assert run(folder, spare=tmp_path) == ([], [])


def test_one_damaged_file_among_good_ones_is_named(warm, tmp_path):
    folder = copied(warm, tmp_path)
    damaged = files_in(folder)[0]
    damaged.write_bytes(b"x")
    _, (warning,) = run(folder, spare=tmp_path)
    assert warning.endswith(f"{damaged}: its content is not what was written")


def test_a_folder_in_the_place_of_a_file_is_no_trouble(warm, tmp_path):
    folder = copied(warm, tmp_path)
    for path in files_in(folder):
        path.unlink()
        path.mkdir()
    _, (warning,) = run(folder, spare=tmp_path)
    assert "it cannot be read: Is a directory" in warning
    assert len(list((tmp_path / f"juryrank-{os.geteuid()}").rglob("scaling.*"))) == 2


def test_a_file_in_the_place_of_the_folder_moves_the_cache(tmp_path):
    (tmp_path / "juryrank").write_text("in the way")
    spare = tmp_path / f"juryrank-{os.geteuid()}"
    remark = f"{FIRST}; stored in {spare}, because {tmp_path}/juryrank is not a folder; {cache.ADVICE}"
    assert run(tmp_path, spare=tmp_path) == ([remark], [])
    assert run(tmp_path, spare=tmp_path) == ([], [])


def test_a_disk_without_room_costs_a_warning(tmp_path):
    """A limit on the size of files stands for the full disk: both end a write half-way with an OSError."""
    remarks, (warning,) = run(tmp_path, "1000", spare=tmp_path)
    assert remarks == [FIRST]
    reasons = f"{tmp_path}/juryrank: File too large; {tmp_path}/juryrank-{os.geteuid()}: File too large"
    lost = "compiled code cannot be stored, and is compiled on every run"
    assert warning == f"CacheWarning: {lost}: {reasons}; {cache.ADVICE}"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_full_file_system_moves_the_cache(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", str(disk)], capture_output=True)
    if mounted.returncode:
        pytest.skip("a small file system cannot be mounted here: needs root")
    try:
        assert run(disk, spare=tmp_path) == ([FIRST], [])
        assert run(disk, spare=tmp_path) == ([], [])
        assert len(list((tmp_path / f"juryrank-{os.geteuid()}").rglob("scaling.*"))) >= 1
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o707])
def test_a_folder_that_others_may_write_to_is_not_used(warm, tmp_path, mode):
    folder = copied(warm, tmp_path)
    (folder / "juryrank").chmod(mode)
    (remark,), warned = run(folder, spare=tmp_path)
    problem = "may be written by other users, whose code would be run (chmod go-w makes it safe)"
    assert f"{folder}/juryrank {problem}; {cache.ADVICE}" in remark
    assert warned == []


@pytest.fixture
def shared(warm):
    """A folder that other users may write to, with the folder of compiled code in it."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o1777)  # tmp_path is below a folder that others may not even enter
        shutil.copytree(warm, Path(name) / "copy")
        yield Path(name)


def another_user():
    """The beginning of a command that runs it as a user without a name and without a home, who may read everything."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("to become another user needs root and setpriv")
    reads = ["--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search"]
    return ["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups", *reads]


def test_a_user_without_a_home_keeps_code_among_temporary_files(shared):
    before = another_user()
    (remark,), warned = run(None, spare=shared, before=before)
    assert remark == (
        f"{FIRST}; stored in {shared}/juryrank-54321, because ~/.cache/juryrank is not available: this user has no "
        f"home folder; {cache.ADVICE}"
    )
    assert warned == []
    assert run(None, spare=shared, before=before) == ([], [])


def test_a_home_that_cannot_be_written_is_named_with_what_to_do(shared):
    home, before = shared / "copy", another_user()
    (remark,), warned = run(None, spare=shared, before=before, HOME=str(home))
    why = f"{home}/.cache/juryrank cannot be created: Permission denied"
    assert remark == f"{FIRST}; stored in {shared}/juryrank-54321, because {why}; {cache.ADVICE}"
    assert warned == []
    assert run(None, spare=shared, before=before, HOME=str(home)) == ([], [])


def test_a_folder_of_another_user_is_not_used_unless_it_is_root(shared):
    folder, before = shared / "copy", another_user()
    assert run(folder, spare=shared, before=before) == ([], [])  # an image filled by root, a service without rights
    for path in folder.rglob("*"):
        os.chown(path, 12345, 12345)
    (remark,), _ = run(folder, spare=shared, before=before)
    assert "juryrank belongs to another user, whose code would be run" in remark


def test_a_planted_link_among_temporary_files_is_not_followed(warm, tmp_path):
    (tmp_path / "file").write_text("no folder can be made below this")
    (tmp_path / f"juryrank-{os.geteuid()}").symlink_to(warm / "juryrank")
    (remark,), (warning,) = run(tmp_path / "file", spare=tmp_path)
    assert remark.startswith(f"compiling, on every run: {tmp_path}/file/juryrank cannot be created: ")
    assert remark.endswith(f"juryrank-{os.geteuid()} is not a folder; {cache.ADVICE}")
    assert "cannot be stored" in warning
