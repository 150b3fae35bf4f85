"""Builds the library of kernels when the package is built; hatchling runs it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent))
import build


class KernelsHook(BuildHookInterface[Any]):
    """The library of kernels as a part of the wheel, and of the source tree of an editable installation."""

    def dependencies(self) -> list[str]:
        """What the build needs beside hatchling."""
        if build.unsupported_machine():
            return []
        return ["numba>=0.61", *([] if build.linker() else ["ziglang"])]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the library, unless the one in the source tree is up to date."""
        if reason := build.unsupported_machine() or build.no_linker():
            self.app.display_warning(f"no library of kernels is built: {reason}; Numba compiles them on first use")
            return
        try:
            build.update()
        except Exception as error:  # the library makes juryrank start faster; it works without
            self.app.display_warning(
                f"the library of kernels could not be built: {error}; Numba compiles them on first use"
            )
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{build.PLATFORM}"
