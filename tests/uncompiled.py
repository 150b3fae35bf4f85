"""Kernels as they are written, in place of the compiled modules: real tracebacks, and NumPy checks bounds."""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

KERNELS = Path(__file__).parents[1] / "src" / "juryrank" / "kernels"


class UncompiledKernels(MetaPathFinder):
    """Finds the modules of kernels in the source tree; those in .pyx files stay compiled."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The source file of a module of kernels."""
        package, _, name = fullname.rpartition(".")
        file = KERNELS / f"{name}.py"
        return spec_from_file_location(fullname, file) if package == "juryrank.kernels" and file.is_file() else None


def use_uncompiled_kernels() -> None:
    """From now on, kernels are imported uncompiled."""
    sys.meta_path.insert(0, UncompiledKernels())
