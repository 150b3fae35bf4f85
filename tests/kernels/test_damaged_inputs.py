"""Readers of bytes and of Python's objects answer or raise an error, whatever they are given.

With SANITIZED=COUNT, as in ``make attack``, they are compiled with AddressSanitizer and UBSan, and read COUNT inputs.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("damaged_inputs.py")
FEW = 2000
COUNT = int(os.environ.get("SANITIZED", 0))


@pytest.mark.parametrize("what", ["runs", "lists"])
def test_damaged_input_is_read_or_refused(what):
    assert sum(ends_of([sys.executable, str(SCRIPT), what, str(FEW)]).values()) == FEW


@pytest.mark.skipif(not COUNT, reason="SANITIZED is not set; make attack sets it")
@pytest.mark.parametrize("what", ["runs", "lists"])
def test_no_sanitizer_reports_anything(what, sanitized):
    folder, libraries = sanitized
    command = [sys.executable, str(SCRIPT), what, str(COUNT), str(folder)]
    options = {"ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1", "UBSAN_OPTIONS": "halt_on_error=1:abort_on_error=1"}
    ends = ends_of(command, LD_PRELOAD=libraries, PYTHONMALLOC="malloc", **options)
    print(what, ends)
    assert sum(ends.values()) == COUNT


@pytest.fixture(scope="module")
def sanitized():
    """The folder of modules with sanitizers, and their libraries, which must be loaded first."""
    if shutil.which("g++") is None:
        pytest.skip("no g++, whose sanitizers these are")
    folder = ROOT / "build" / "sanitized"
    setup = [
        "meson",
        "setup",
        str(folder),
        "--buildtype=debugoptimized",
        "-Db_sanitize=address,undefined",
        "-Db_lundef=false",
    ]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command in ([] if (folder / "build.ninja").exists() else [setup], [["ninja", "-C", str(folder)]]):
        for line in command:
            subprocess.run(line, cwd=ROOT, env={**os.environ, "PATH": path}, check=True, capture_output=True)
    names = [
        subprocess.check_output(["g++", f"-print-file-name={name}"], text=True).strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    return folder, ":".join(names)


def ends_of(command, **environment):
    """How often the inputs ended in each way."""
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    return {end: int(n) for end, n in re.findall(r"'(\w+)': (\d+)", done.stdout)}
