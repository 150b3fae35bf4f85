"""A copy of the package as an installation has it: an editable one keeps its compiled modules elsewhere."""

import os
import shutil
import sysconfig
from importlib.util import find_spec
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
# Without the start files of libraries, one of which makes Python import the editable installation first.
ALONE = "-S"


def copy_package(folder: Path) -> None:
    """Copy the package, and the name that Haystack shares, with the compiled modules."""
    for name in ("juryrank", "haystack_integrations"):
        shutil.copytree(SOURCE / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    spec = find_spec("juryrank.kernels.fuse")
    assert spec is not None
    assert spec.origin is not None
    for file in Path(spec.origin).parent.glob(f"*{''.join(Path(spec.origin).suffixes)}"):
        shutil.copy(file, folder / "juryrank" / "kernels")


def search_path(*folders: Path) -> str:
    """PYTHONPATH for a process that is started with ``ALONE``: these folders, then the libraries."""
    return os.pathsep.join([*map(str, folders), sysconfig.get_path("platlib")])
