"""What tests of the studies share: the commands run in this process."""

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from studies import __main__ as studies


@dataclass
class Outcome:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # else ``reproduce`` sets it for all later tests

    def run_main(*args: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["studies", *map(str, args)])
        monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)
        with pytest.raises(SystemExit) as stopped:
            studies.main()
        out, err = capsys.readouterr()
        return Outcome(int(stopped.value.code or 0), out, err)

    return run_main
