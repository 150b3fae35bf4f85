"""Kernels of the library that is built with the package: results are those of Numba, which commands do not need."""

import importlib
import json
import os
import platform
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest

import juryrank
from juryrank.errors import CacheWarning, ParameterError
from juryrank.kernels import jit, library
from juryrank.kernels.linear_ordering import round_to_units
from juryrank.kernels.ragged import descending_order

ROOT = Path(juryrank.__file__).parents[2]
DEMO = ROOT / "src/juryrank/demo"
QRELS = DEMO / "trec-covid/qrels.parquet"
EXPORTS = ROOT / "native/exports.txt"
compiled = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="kernels run as plain Python")
built = pytest.mark.skipif(
    library.open_library() is None or os.environ.get("NUMBA_DISABLE_JIT") == "1",
    reason="no library of kernels for this machine; `make kernels` builds it",
)


def python(code: str, cwd: Path, **environment: str) -> str:
    """What a program prints, run in a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")} | environment
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def listed() -> list[tuple[str, str]]:
    lines = [line.split() for line in EXPORTS.read_text().splitlines() if not line.startswith("#")]
    return [(name, types) for name, types in lines]


def test_types_of_arguments_are_written_with_layout_and_names_of_fields():
    pair = namedtuple("Pair", "a b")
    matrix = np.zeros((4, 3))
    args = (1, np.int64(2), 0.5, True, None, matrix, matrix.T, matrix[:, 1], (np.zeros(2, bool),), pair(1, 2.0))
    types, numbers = library.represent(args)
    assert types == "i,i,f,b,n,f8.2C,f8.2F,f8.1A,(b1.1C,),Pair(i,f,),"
    assert numbers[:4] == [1, 2, int(np.array(0.5).view(np.int64)), 1]
    assert numbers[4] == id(matrix)


@pytest.mark.parametrize(
    "value", ["text", [1], np.int32(1), np.frombuffer(b"123456789", np.uint8)[1:].view("f8"), np.ma.array([1.0])]
)
def test_an_argument_of_another_type_is_left_to_numba(value):
    assert library.represent((1, value)) == ("", [])


def test_numbers_of_another_byte_order_are_not_mistaken_for_those_of_this_machine():
    assert library.represent((np.zeros(2, ">f8"),))[0] == ">f8.1C,"


def test_every_line_of_the_list_names_a_kernel_with_as_many_arguments():
    for name, types in listed():
        module, function = name.split(".")
        importlib.import_module(f"juryrank.kernels.{module}")
        found = [k.function for k in jit.KERNELS if k.function.__module__.endswith(f".{module}")]
        arguments = [f.__code__.co_argcount for f in found if f.__name__ == function]
        depth, count = 0, 0
        for letter in types:
            depth += {"(": 1, ")": -1}.get(letter, 0)
            count += letter == "," and depth == 0
        assert arguments == [count], f"{name}: run native/record.py"


@built
def test_the_library_has_every_kernel_of_the_list():
    _, kernels = library.open_library()
    there = {(name, types) for name, entry in kernels.items() for types in entry["versions"]}
    assert set(listed()) <= there, "run `make kernels`"


@built
def test_results_are_those_of_the_plain_function():
    values, ptr = np.array([1.0, np.nan, 3.0, 3.0, -1.0]), np.array([0, 2, 5])
    ours, plain = np.empty(5, np.int64), np.empty(5, np.int64)
    assert library.entries(descending_order.function), "run `make kernels`"
    descending_order(ptr, values, ours)
    descending_order.function(0, 2, ptr, values, plain)
    assert ours.tolist() == plain.tolist() == [0, 1, 2, 3, 4]


@built
def test_a_returned_array_belongs_to_the_caller():
    margins = np.array([[0.0, 2.0, 4.0], [-2.0, 0.0, 2.0], [-4.0, -2.0, 0.0]])
    results = [round_to_units(margins * sign, 1e-9) for sign in (1, -1, 1)]
    plain = [round_to_units.function(margins * sign, 1e-9) for sign in (1, -1, 1)]
    assert [(units.tolist(), unit) for units, unit in results] == [(units.tolist(), unit) for units, unit in plain]
    assert results[0][0].flags.owndata


@built
def test_arrays_of_every_layout_are_read():
    scores = np.array([[1.0, 5.0], [2.0, 4.0], [3.0, 9.0]])
    for values in (scores[:, 0].copy(), scores[:, 1], scores[::-1, 1], scores.T[1]):
        out = np.empty(3, np.int64)
        descending_order(np.array([0, 3]), values, out)
        assert out.tolist() == np.argsort(-values, kind="stable").tolist()


def test_a_kernel_that_fails_is_run_again_by_numba_for_its_exception():
    def fail(number):
        raise ZeroDivisionError

    def failing_entry(numbers):
        raise library.KernelError

    kernel = jit.kernel(fail)
    jit.KERNELS.remove(kernel)
    kernel.compiled, kernel.entries = fail, {"i,": failing_entry}
    with pytest.raises(ZeroDivisionError):
        kernel(1)
    kernel.compiled = lambda number: number
    with pytest.raises(library.KernelError):  # not a result of a second run on arrays that the first has changed
        kernel(1)


def index_in(folder: Path, **changes: object) -> Path:
    content = {"format": library.FORMAT, "machine": platform.machine(), "kernels": {}} | changes
    (folder / library.INDEX).write_text(json.dumps(content))
    return folder


def test_without_a_library_numba_compiles(tmp_path):
    assert library.open_library(tmp_path) is None


@pytest.mark.parametrize("changes", [{"machine": "pdp11"}, {"format": -1}])
def test_a_library_for_another_machine_or_version_is_not_opened(tmp_path, changes):
    (tmp_path / library.NAME).write_bytes(b"not a library")
    assert library.open_library(index_in(tmp_path, **changes)) is None


def test_a_library_that_cannot_be_loaded_is_reported(tmp_path):
    (tmp_path / library.NAME).write_bytes(b"not a library")
    with pytest.warns(CacheWarning, match="cannot be loaded: .*; Numba compiles them"):
        assert library.open_library(index_in(tmp_path)) is None


def test_a_list_that_cannot_be_read_is_reported(tmp_path):
    (tmp_path / library.INDEX).write_text('{"format": 2, "ker')
    with pytest.warns(CacheWarning, match="kernels.json of compiled kernels cannot be read: .*; Numba compiles them"):
        assert library.open_library(tmp_path) is None


def test_the_environment_chooses_numba(monkeypatch):
    monkeypatch.setenv("JURYRANK_KERNELS", "numba")
    assert library.entries(descending_order.function) == {}
    monkeypatch.setenv("JURYRANK_KERNELS", "cython")
    with pytest.raises(ParameterError, match="JURYRANK_KERNELS must be 'library' or 'numba', got 'cython'"):
        library.entries(descending_order.function)


FAULTS = """
import resource
import numpy as np
from juryrank.kernels.ragged import descending_order
descending_order(np.array([0, 2]), np.array([1.0, 2.0]), np.empty(2, np.int64))
fill = lambda: [np.full(125_000, 1.0) for _ in range(8)]  # several arrays of 1 MB at a time
fill()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(100):
    fill()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="about the C library of GNU")
def test_arrays_after_the_first_call_of_a_kernel_do_not_take_new_pages_each_time(tmp_path):
    assert int(python(FAULTS, tmp_path)) < 20_000  # 800 arrays have 196,000 pages


RUN = """
import sys
{before}
from juryrank.cli import main
for command in {commands!r}:
    sys.argv = ["juryrank", *command.split()]
    try:
        main()
    except SystemExit as end:
        assert not end.code, (command, end.code)
{after}
"""
COMMANDS = {
    "fuse": [f"convert {DEMO}/trec-covid/runs.parquet runs --to trec-run", "fuse runs -o fused.run"],
    "rank": [f"rank {DEMO}/trec-covid/runs.parquet --method rrf -o ranked.csv"],
    "evaluate": [f"rank {DEMO}/trec-covid/runs.parquet --method rrf -o r.run", f"evaluate r.run --qrels {QRELS}"],
    "fit": [f"fit {DEMO}/trec-covid/runs.parquet --labels {QRELS} -o model.json"],
    "compare": [f"compare {DEMO}/trec-covid/runs.parquet --labels {QRELS} --methods rrf,jury --folds 5 -m nDCG@10"],
    "leaderboard": [f"leaderboard {DEMO}/battles.csv"],
    "intervals": [
        f"leaderboard {DEMO}/battles.csv --method {method} --interval {kind}"
        for method in ("bradley-terry", "plackett-luce")
        for kind in ("fisher", "sandwich")
    ],
    "demo": ["demo"],
    "election": [f"election {DEMO}/ballots.csv --matrix pairs.csv -o result.html"],
    "judge": [f"judge {DEMO}/trec-covid/runs.parquet --budget 10 -o to-judge.csv"],
    "methods": ["methods", "methods rrf"],
    "parameters": [  # whole numbers for parameters that may be fractions
        f"rank {DEMO}/cooking.csv --method outranking -p preference=0 -o ranked.csv",
        f"rank {DEMO}/cooking.csv --method mc4 -p teleport=0 -o ranked.csv",
    ],
    "fuse tables": [f"fuse {DEMO}/trec-covid/runs.parquet --memory 64MB -o fused.parquet"],
}


@built
@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_an_everyday_command_compiles_nothing(command, tmp_path):
    blocked = "sys.modules['numba'] = None  # an attempt to import it fails"
    after = "print('numba:', sys.modules['numba'])"
    printed = python(RUN.format(before=blocked, commands=COMMANDS[command], after=after), tmp_path)
    assert printed.splitlines()[-1] == "numba: None"


CHOICES = """
import sys, warnings
from pathlib import Path
sys.modules["numba"] = None
sys.path.insert(0, {native!r})
warnings.simplefilter("ignore")
import record
from juryrank.cli import warm
from juryrank.errors import JuryrankError
done = 0
for label, work in warm.jobs(warm.chosen_methods(["all", *record.every_choice()]), Path.cwd()):
    try:
        work()
        done += 1
    except JuryrankError:
        pass
    except ModuleNotFoundError as error:
        assert error.name == "numba", error
        print(label.split(":")[0])
print("done", done)
"""


@built
@pytest.mark.slow
def test_no_method_waits_for_numba_with_any_of_its_choices(tmp_path):
    *waiting, done = python(CHOICES.format(native=str(ROOT / "native")), tmp_path).splitlines()
    assert waiting == []
    assert int(done.split()[1]) > 200


# What the first run of a command compiles where there is no library; a longer list makes newcomers wait longer.
READING = {"run_lines.scan_runs", "slots.fill_slots", "slots.gather_lists", "words.name_places"}
FUSING = {"positional.add_reciprocals", "ragged.descending_order"}
CALLED = {
    "fuse": READING | FUSING | {"words.merge_names"},  # the last for more than one thread
    "rank": FUSING,
    "evaluate": READING | FUSING | {"gains.discounted_gain", "gains.precision_sum", "slots.spread_labels"},
}
RECORD = """
from juryrank.kernels import jit
called, call = set(), jit.CompiledFunction.__call__
def record(self, *args):
    called.add(self.function.__module__.rpartition(".")[2] + "." + self.function.__name__)
    return call(self, *args)
jit.CompiledFunction.__call__ = record
"""


@compiled
@pytest.mark.slow
@pytest.mark.parametrize("command", CALLED)
def test_no_kernel_outside_a_short_list_is_called(command, tmp_path):
    after = "print('called:', *sorted(called))"
    printed = python(RUN.format(before=RECORD, commands=COMMANDS[command], after=after), tmp_path)
    assert set(printed.splitlines()[-1].split()[1:]) <= CALLED[command]


def test_fusing_one_query_calls_no_kernel(tmp_path):
    code = RECORD + "import juryrank; juryrank.Fuser('rrf')({'a': ['x', 'y', 'x'], 'b': ['y']}); print(len(called))"
    assert python(code, tmp_path) == "0\n"


SCORES = """
import hashlib, sys, warnings
sys.path.insert(0, {tests!r})
warnings.simplefilter("ignore")
from conftest import random_dataset
from juryrank.errors import JuryrankError
from juryrank.evaluation.method_specs import parse_method
from juryrank.methods import METHODS
for name in [*METHODS, *{choices!r}]:
    for seed in (0, 1):
        data = random_dataset(seed)
        try:
            scores = parse_method(name).fit(data).predict(data).scores
        except JuryrankError as error:
            print(name, seed, type(error).__name__)
        else:
            print(name, seed, hashlib.sha256(scores.tobytes()).hexdigest())
"""


OTHER_KERNELS = (  # choices by which a method calls a kernel that its defaults do not call
    "cps:distance=footrule",
    "cps:distance=spearman",
    "mpm:theta=learned",
    "mpm:variances=true",
    "theta-mpm:theta=agreement",
)


@built
@pytest.mark.slow
def test_every_method_has_the_same_bits_with_the_library_and_with_numba(tmp_path):
    code = SCORES.format(tests=str(ROOT / "tests"), choices=OTHER_KERNELS)
    ours, numbas = (python(code, tmp_path, JURYRANK_KERNELS=choice).splitlines() for choice in ("library", "numba"))
    assert len(ours) == 2 * (len(juryrank.METHODS) + len(OTHER_KERNELS))
    assert ours == numbas
