"""The attack: every part of the tests that damages, injects, kills or forks, with large counts (``make attack``).

Each part runs in a process of its own with a limit of time; a crash, a hang or a wrong answer fails it. Parts may be
named: ``python tests/attack.py models forks``.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
LIMIT = 1800  # seconds for one part


class Part(NamedTuple):
    """Tests, how many cases the environment asks of them, and what they do."""

    tests: tuple[str, ...]
    counts: dict[str, str]
    text: str


PARTS = {
    "sanitizers": Part(
        ("tests/kernels/test_damaged_inputs.py",),
        {"SANITIZED": "200000"},
        "damaged runs and lists, read by modules with AddressSanitizer and UBSan",
    ),
    "everyday": Part(
        ("tests/everyday",),
        {"EVERYDAY": "40000"},
        "shapes, TREC runs, tables, labels and comparisons, damaged or not, beside a slow independent reading",
    ),
    "text": Part(
        ("tests/files/test_fuzz.py", "tests/files/test_sources.py"),
        {"JURYRANK_TEXT": "1000"},
        "damaged text of every format",
    ),
    "parquet": Part(
        ("tests/files/test_damaged_parquet.py",), {"JURYRANK_PARQUET": "10000"}, "damaged Parquet beside pyarrow"
    ),
    "streamed": Part(
        ("tests/tasks/files/test_streamed_equals_whole.py",),
        {"JURYRANK_STREAMED": "3000"},
        "streamed reading beside whole reading",
    ),
    "limits": Part(
        ("tests/files/test_limits.py", "tests/files/test_growth.py"), {}, "bombs, endless files, colliding names"
    ),
    "models": Part(
        ("tests/test_model_damage.py",), {"JURYRANK_DAMAGE": "400"}, "damaged models of every method, bounds checked"
    ),
    "names": Part(
        (
            "tests/files/test_hostile_names.py",
            "tests/report/test_report_escapes.py",
            "tests/tasks/export",
            "tests/report/test_figures.py",
        ),
        {},
        "hostile names over all writers, reports and exports",
    ),
    "writes": Part(("tests/files/test_atomic.py",), {}, "kills, threads, links and modes during writes"),
    "forks": Part(("tests/test_forks.py",), {}, "forked children and a pre-fork server"),
    "service": Part(
        ("tests/server/test_hostile.py", "tests/server/test_openapi.py", "tests/server/test_faults.py"),
        {"RAW": "50000", "SCHEMATHESIS": "500"},
        "raw bytes, requests from the OpenAPI document, kills and full disks against juryrank serve",
    ),
    "interrupts": Part(("tests/cli/test_interrupts.py", "tests/cli/test_broken_stdout.py"), {}, "Ctrl-C, full stdout"),
}


def attack(name: str) -> bool:
    """Run a part and print how it ended."""
    part, start = PARTS[name], time.monotonic()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rf", *part.tests]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env={**os.environ, **part.counts}, capture_output=True, text=True, timeout=LIMIT
        )
        passed, said = done.returncode == 0, done.stdout
    except subprocess.TimeoutExpired:
        passed, said = False, f"no end within {LIMIT} seconds"
    counts = ", ".join(f"{key}={value}" for key, value in part.counts.items())
    found = re.findall(r"^\d+ (?:passed|failed).*$", said, re.MULTILINE)
    ending = found[-1] if found else said[-2000:]
    seconds = time.monotonic() - start
    print(
        f"{'held' if passed else 'BROKE':5} {name:10} {part.text} {f'({counts})' * bool(counts)}: {ending}", flush=True
    )
    if not passed:
        print(said[-4000:], f"after {seconds:.0f} s", flush=True)
    return passed


if __name__ == "__main__":
    held = [attack(name) for name in sys.argv[1:] or PARTS]
    print(f"{sum(held)} passed, {len(held) - sum(held)} failed")
    sys.exit(not all(held))
