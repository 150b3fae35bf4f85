"""Targets: met or not met, by clock and by CPU, from made-up measurements."""

import pytest

from studies.speed import slow_methods, warm_commands
from studies.speed.clock import Timing
from studies.speed.cold_start import start_targets
from studies.speed.commands import CommandRow, commands_table, fastest
from studies.speed.documented import Shown
from studies.speed.fuser import LARGE, OTHERS, REPEATED, SMALL, WITHIN_LIMIT, fuser_targets, task_of
from studies.speed.table import Benchmark, Row, Series
from studies.speed.targets import Target, at_least, at_most, at_most_times, targets_table


def spent(clock: float, cpu: float | None = None, memory: int | None = None) -> Timing:
    return Timing(None, clock, 1, cpu, memory)


@pytest.mark.parametrize(
    ("by_clock", "by_cpu", "met", "verdict"),
    [
        (True, True, True, "met"),
        (True, None, True, "met"),
        (False, False, False, "NOT met"),
        (False, None, False, "NOT met"),
        (True, False, False, "met by clock only"),
        (False, True, False, "met by CPU only"),
        (None, None, None, "not measured"),
    ],
)
def test_a_target_is_met_if_neither_clock_nor_cpu_exceeds_the_limit(by_clock, by_cpu, met, verdict) -> None:
    target = Target("a target", "1 s", by_clock, "1 s", by_cpu)
    assert (target.met, target.verdict) == (met, verdict)
    assert target.to_dict()["verdict"] == verdict
    assert targets_table([target]).rows[0][-1] == verdict


def test_seconds_are_compared_by_clock_and_by_cpu() -> None:
    target = at_most("a command", spent(0.5, 0.2), 0.3)
    assert (target.by_clock, target.by_cpu, target.verdict) == (False, True, "met by CPU only")
    assert (target.target, target.measured, target.cpu) == ("a command ≤ 300 ms", "500 ms", "200 ms")
    assert at_most("a command", spent(0.3), 0.3).verdict == "met"


def test_ratios_show_the_time_of_the_peer() -> None:
    row = Row("reading", "polars", spent(3.0, 4.0), spent(2.0, 1.0), "equal", True)
    (faster,) = at_least("faster", [row], ["reading"], "polars", 0.5)
    (slower,) = at_most_times("reading ≤ 2×", [row], ["reading"], "polars", 2.0)
    assert (faster.measured, faster.cpu, faster.verdict) == ("0.67×", "0.25×", "met by clock only")
    assert (slower.measured, slower.cpu, slower.verdict) == ("1.50×", "4.00×", "met by clock only")
    assert slower.peer == "polars: 2 s (1 s)"


def test_a_target_against_a_peer_that_is_not_installed_is_not_measured() -> None:
    row = Row("reading", "polars", spent(3.0), None, "skipped: polars is not installed")
    (target,) = at_least("faster", [row], ["reading"], "polars", 1.0)
    assert (target.met, target.verdict, target.peer) == (None, "not measured", "skipped: polars is not installed")


def test_a_ratio_of_results_that_disagree_does_not_meet_a_target() -> None:
    row = Row("reading", "polars", spent(1.0, 1.0), spent(9.0, 9.0), "another number of entries", False)
    assert at_least("faster", [row], ["reading"], "polars", 1.0)[0].verdict == "NOT met"


def test_the_first_run_of_a_default_method_has_the_stricter_limit() -> None:
    fuse, demo = Shown("README.md", "juryrank fuse a b"), Shown("README.md", "juryrank demo")
    row = CommandRow("", "README.md", spent(1.0, 1.0), spent(3.0, 1.5))
    strict, usual = start_targets([(fuse, row), (demo, row)])
    assert (strict.by_clock, strict.by_cpu, usual.verdict) == (False, True, "met")
    assert (strict.measured, strict.cpu) == ("warm + 2 s", "warm + 500 ms")


def test_other_pages_are_judged_by_their_slowest_command() -> None:
    rows = [
        (Shown("docs/cli.md", f"juryrank {name}"), CommandRow(name, "docs/cli.md", spent(1.0, 1.0), spent(*cold)))
        for name, cold in {"one": (2.0, 2.0), "two": (9.0, 8.0), "three": (3.0, 3.0)}.items()
    ]
    (target,) = start_targets(rows)
    assert ": two " in target.target
    assert target.verdict == "NOT met"


def test_a_command_that_fails_does_not_meet_its_target() -> None:
    failed = CommandRow("juryrank demo", "README.md", spent(float("nan")), remark="exit code 1")
    (target,) = start_targets([(Shown("README.md", "juryrank demo"), failed)])
    assert (target.verdict, target.measured) == ("NOT met", "exit code 1")


def test_the_table_of_commands_shows_cold_warm_and_the_difference() -> None:
    row = CommandRow("juryrank demo", "README.md", spent(1.0, 0.5, 1 << 20), spent(3.0, 0.4, 1 << 20))
    cells = commands_table([row]).rows[0]
    assert cells == [
        "juryrank demo",
        "README.md",
        "3 s",
        "1 s",
        "2 s",
        "400 ms",
        "500 ms",
        "−100 ms",
        "1.0 MiB",
        "",
    ]
    report = Benchmark([], [], "nothing.", 0.0, 0.0, [row])
    assert "juryrank demo" in str(report)


def test_the_fastest_run_counts_for_clock_cpu_and_memory() -> None:
    assert fastest([spent(2.0, 1.0, 5), spent(1.0, 1.5, 4)]) == Timing(None, 1.0, 2, 1.0, 4)
    assert fastest([spent(2.0), spent(1.0)]) == Timing(None, 1.0, 2, None, None)


def test_memory_of_the_libraries_is_not_ours() -> None:
    limit = warm_commands.OWN_MEMORY
    small, large = (
        warm_commands.memory_targets(spent(1, 1, 100 + n), spent(1, 1, 100), "a") for n in (limit, limit + 1)
    )
    assert [target.met for target in (*small, *large)] == [True, False]


def test_warm_commands_are_shown_next_to_the_imports_of_libraries() -> None:
    times = {name: spent(limit, limit + 0.01) for name, limit in warm_commands.LIMITS.items()}
    targets = warm_commands.command_targets({**times, warm_commands.BARE: spent(0.2, 0.1)})
    assert {target.verdict for target in targets} == {"met by clock only"}
    assert {target.peer for target in targets} == {"import numpy, polars: 200 ms (100 ms)"}


def test_a_fuser_has_a_target_for_every_shape() -> None:
    rows = [
        Row(task_of(size, shape), "careful loop", spent(30e-6, 30e-6), spent(35e-6, 25e-6), "")
        for size in (SMALL, LARGE)
        for shape in (*WITHIN_LIMIT, *OTHERS, REPEATED)
    ]
    verdicts = [target.verdict for target in fuser_targets(rows)]
    assert verdicts == ["met by clock only"] * 2 + ["met"] * (len(rows) // 2)


def test_growth_must_be_linear_up_to_the_largest_size() -> None:
    sizes = [10_000, 100_000, 1_000_000]
    linear, square = (
        Series("a", sizes, [0.1, 1.0, 10.0], [None] * 3),
        Series("b", sizes, [0.1, 10.0, 1000.0], [None] * 3),
    )
    short = Series("c", sizes[:2], [0.1, 1.0], [None] * 2)  # its largest size would take too long
    found = [slow_methods.growth_target("linear", series, sizes[-1]) for series in (linear, square, short)]
    assert [target.met for target in found] == [True, False, None]
    assert "larger sizes need --slow" in found[-1].measured
