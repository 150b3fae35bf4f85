"""The tests that ``make quick`` leaves out, by measured time; ``@pytest.mark.slow`` in a file marks further ones."""

import re

import pytest

# Files whose tests start processes, build the site, compile, simulate, or compare thousands of cases.
FILES = {
    "tests/cli/test_broken_stdout.py",
    "tests/cli/test_interrupts.py",
    "tests/cli/test_stdout.py",
    "tests/everyday/test_everyday.py",
    "tests/everyday/test_planted.py",
    "tests/files/test_fuzz.py",
    "tests/files/test_growth.py",
    "tests/files/test_hostile_names.py",
    "tests/files/test_round_trips.py",
    "tests/kernels/test_cache.py",
    "tests/methods/test_auto.py",
    "tests/methods/test_kemeny.py",
    "tests/test_add_a_method.py",
    "tests/test_determinism.py",
    "tests/test_docs.py",
    "tests/test_figures.py",
    "tests/test_forks.py",
    "tests/test_import_is_light.py",
    "tests/test_leaderboard_intervals.py",
    "tests/test_model_damage.py",
    "tests/test_readme.py",
    "tests/test_streamed_equals_whole.py",
    "tests/test_streaming.py",
    "tests/training/test_alternation.py",
    "tests/training/test_linear_algebra.py",
}
# Methods that train for long: their cases of tests over all methods.
METHODS = re.compile(r"\[.*\b(auto|blend|boosted|crf|monotone-retargeting|theta-mpm|theta-cps)\b")


def is_slow(item: pytest.Item) -> bool:
    """Whether a test reads the large data sets, or is one of those above."""
    file, _, name = item.nodeid.partition("::")
    return "shared_data" in getattr(item, "fixturenames", ()) or file in FILES or METHODS.search(name) is not None
