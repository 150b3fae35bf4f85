"""The same cases through the command line: in this process, or in one of their own."""

from __future__ import annotations

import csv
import io
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from everyday.cases import Case, check_answer, check_refusal, check_warnings
from juryrank import cli
from juryrank.errors import JuryrankWarning

Ended = tuple[int, str, str]  # exit code, stdout, stderr
NOTE = re.compile(r"\d+ of \d+ queries with labels are in no run; left out")


def outcome(case: Case, run: Callable[[list[str]], Ended]) -> str:
    """answered, warned or refused, as for the library."""
    where = f"{case.kind} {case.seed} on the command line: {case.text}"
    code, out, err = run(case.command)
    lines = [line for line in err.splitlines() if not NOTE.fullmatch(line)]
    said = [line.removeprefix("warning: ") for line in lines if line.startswith("warning: ")]
    errors = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    assert code in (0, 1, 2), f"{where}: exit code {code}, {err[-500:]}"
    assert len(said) + len(errors) == len(lines), f"{where}: other words on stderr: {err[-500:]}"
    expected = case.expected
    if any(len(name.split()) != 1 for name in _names(expected.answer)):  # a TREC run cannot represent whitespace
        other = expected.refused if expected.either else ()
        expected = replace(expected, answer=None, either=False, refused=("cannot represent whitespace", *other))
    if code:
        assert (len(errors), out) == (1, ""), f"{where}: exit code {code} with {err!r} and {out[:200]!r}"
        check_refusal(errors[0], expected, where)
        return "refused"
    assert expected.answer is not None, f"{where}: done, though it must be refused: {out[:200]!r}"
    assert not errors, f"{where}: exit code 0 with {err!r}"
    check_warnings(said, expected, where)
    answer = _values(out) if case.kind == "labels" else _run(out)
    if case.kind != "labels":  # a query without items has no line
        expected = replace(expected, may_lack={q for q, scores in expected.answer.items() if not scores})
    check_answer(answer, expected, where)
    return "warned" if said else "answered"


def _names(answer: Any) -> set[str]:
    return {str(name) for query, scores in (answer or {}).items() for name in (query, *scores)}


def _run(text: str) -> dict[str, dict[str, float]]:
    answer: dict[str, dict[str, float]] = {}
    for line in text.splitlines() if "\u2028" not in text else text.split("\n")[:-1]:
        query, _, item, _, score, _ = line.split(" ")
        answer.setdefault(query, {})[item] = float(score)
    return answer


def _values(text: str) -> dict[str, dict[str, float]]:
    answer: dict[str, dict[str, float]] = {}
    for row in csv.DictReader(io.StringIO(text)):
        answer.setdefault(row["name"], {})[row["metric"]] = float(row["mean"])
    return answer


def here(args: list[str]) -> Ended:
    """The command line in this process."""
    before = sys.argv, sys.stdout, sys.stderr
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="ascii") for _ in range(2))
    sys.argv, sys.stdout, sys.stderr = ["juryrank", *args], out, err
    code = 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", JuryrankWarning)
            cli.main()
    except SystemExit as stopped:
        code = int(stopped.code or 0)
    finally:
        sys.argv, sys.stdout, sys.stderr = before
    for stream in (out, err):
        stream.flush()
    texts = [stream.buffer.getvalue().decode("utf-8") for stream in (out, err)]  # type: ignore[attr-defined]
    return code, texts[0], texts[1]


def elsewhere(args: list[str]) -> Ended:
    """The command line in a process of its own, in a locale without letters of other scripts."""
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "juryrank", *args]
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    return done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
