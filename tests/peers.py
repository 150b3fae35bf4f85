"""Other libraries that results are compared with, from the folder that ``make peers`` fills."""

import sys
import warnings
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

PEERS = Path(__file__).parents[1] / "build" / "peers"
# pref_voting imports this solver, which nothing here calls, and whose library is at odds with the solver of SciPy.
SOLVER = "ortools.linear_solver"


def peer(name: str) -> Any:
    """The module with this name; skips the test, or the file of tests, that asks for it where it is not there.

    The folder comes last in the path, so that what both have is that of the environment.
    """
    if str(PEERS) not in sys.path:
        sys.path.append(str(PEERS))
    if SOLVER not in sys.modules:
        sys.modules["ortools"], sys.modules[SOLVER] = ModuleType("ortools"), ModuleType(SOLVER)
        vars(sys.modules[SOLVER])["pywraplp"] = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other libraries, about versions newer than theirs
        try:
            return import_module(name)
        except ImportError as error:
            reason = f"*** NOTHING IS COMPARED WITH {name.upper()}: {error}. Run make peers ***"
            pytest.skip(reason, allow_module_level=True)
