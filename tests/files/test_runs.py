"""A Dataset of runs is what their rows make, and there is none where rows repair or report something."""

import random
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from juryrank.data import Dataset
from juryrank.errors import JuryrankError
from juryrank.io import read, write
from juryrank.io.files import load
from juryrank.io.formats.trec_run import run_columns
from juryrank.io.runs import Runs
from juryrank.io.source import Source
from juryrank.io.sources import join_rows, load_sources, read_runs
from juryrank.methods import method

from .test_fuzz import damaged

FLAT = (
    "slot_ptr", "slot_item", "list_ptr", "list_expert", "list_weight", "entry_ptr", "entry_slot", "entry_rank",
    "entry_score",
)  # fmt: skip


def lines(
    seed: int, tag: str, n_queries: int = 6, separator: str = " ", *, ranks: bool = True, shuffled: bool = False
) -> str:
    """A run with ties, long and short numbers, and names of any script; ranks count from 0, or are ``shuffled``."""
    rng = random.Random(seed)
    out = []
    for q in rng.sample(["10", "9", "q1", "ä2", "07", "0"], n_queries):
        names = [*(f"d{i}" for i in range(9)), "ß", "日本", "D-1", "d10", '"a,"', "x\u2028y\x7f"]
        items = rng.sample(names, rng.randint(1, 9))
        scores = sorted(
            (rng.choice([rng.random(), 0.5, 17 * rng.random(), -rng.random()]) for _ in items), reverse=True
        )
        numbers = rng.sample(range(len(items)), len(items)) if shuffled else range(len(items))
        for n, item, score in zip(numbers, items, scores, strict=True):
            out.append(separator.join([q, "Q0", item, *([str(n)] if ranks else []), repr(score), tag]))
    return "\n".join(out) + "\n"


def sources(*texts: str | bytes) -> list[Source]:
    return [Source(Path(f"{n}.run"), t if isinstance(t, bytes) else t.encode()) for n, t in enumerate(texts)]


def with_warnings(call: Callable[[], Dataset | None]) -> tuple[Dataset | None, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return call(), [str(warning.message) for warning in caught]


def dataset(given: list[Source]) -> Dataset | None:
    return Runs(given, list(map(run_columns, given)), bytes_per_thread=1).dataset()


def built(given: list[Source]) -> Dataset:
    """The Dataset that the rows of all sources make, as of every other format."""
    return join_rows(Runs(given, list(map(run_columns, given))).rows(), given).build()


def assert_read_alike(given: list[Source]) -> bool:
    """Whether the sources make a Dataset at once, after a comparison with their rows if they do."""
    fast, reported = with_warnings(lambda: dataset(given))
    if fast is None:
        assert not reported
        return False
    general, expected = with_warnings(lambda: built(given))
    assert general is not None
    assert_identical(fast, general)
    assert reported == expected
    return True


def assert_identical(one: Dataset, other: Dataset) -> None:
    a, b = one.rankings, other.rankings
    assert (a.queries, a.experts, a.items.tolist()) == (b.queries, b.experts, b.items.tolist())
    assert one.aliases == other.aliases
    for name in FLAT:
        mine, theirs = getattr(a, name), getattr(b, name)
        assert mine.dtype == theirs.dtype, name
        np.testing.assert_array_equal(mine, theirs, err_msg=name)


@pytest.mark.parametrize("separator", [" ", "\t"])
@pytest.mark.parametrize("ranks", [True, False])
@pytest.mark.parametrize("n_threads", ["1", "2", "3"])
def test_both_ways_give_the_same_dataset(
    separator: str, ranks: bool, n_threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JURYRANK_THREADS", n_threads)
    for seed in range(20):
        given = sources(*(lines(10 * seed + n, f"e{n}", separator=separator, ranks=ranks) for n in range(4)))
        assert assert_read_alike(given)


def test_the_number_of_threads_changes_no_byte(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given, read_before, written = sources(*(lines(n, f"e{n}", shuffled=n % 3 == 0) for n in range(9))), [], set()
    for n_threads in ("1", "2", "7"):
        monkeypatch.setenv("JURYRANK_THREADS", n_threads)
        data, reported = with_warnings(lambda: dataset(given))
        assert data is not None
        assert len(reported) == 3
        read_before.append((data, reported))
        assert_identical(data, read_before[0][0])
        assert reported == read_before[0][1]
        write(method("rrf").fit(data).predict(data), tmp_path / "fused.run")
        written.add((tmp_path / "fused.run").read_bytes())
    assert len(written) == 1


@pytest.mark.parametrize("n_threads", ["2", "7"])
@pytest.mark.parametrize(
    "last", ["9 Q0 a 1 2 x\n9 Q0 a 2 1 x\n", "9 Q0 a 1 1 x\n9 Q0 b 2 2 x\n", "9 Q0 a 1 1e999 x\n", "9 Q0 a 1\n"]
)
def test_what_one_thread_finds_is_left_to_the_rows_of_all(
    last: str, n_threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JURYRANK_THREADS", n_threads)
    assert dataset(sources(*(lines(n, f"e{n}") for n in range(8)), last)) is None


def test_ranks_that_contradict_scores_are_counted_in_each_file() -> None:
    reported = 0
    for seed in range(20):
        given = sources(*(lines(10 * seed + n, f"e{n}", shuffled=n % 2 == 0) for n in range(4)))
        assert assert_read_alike(given)
        reported += len(with_warnings(lambda given=given: dataset(given))[1])  # type: ignore[misc]
    assert reported == 40


def test_ranks_of_tied_entries_are_in_any_order() -> None:
    given = sources("1 Q0 a 2 2.5 x\n1 Q0 b 1 2.5 x\n1 Q0 c 4 1e-9 x\n1 Q0 d 3 0.000000001 x\n")
    assert assert_read_alike(given)
    assert with_warnings(lambda: dataset(given))[1] == []


def test_lines_that_begin_or_end_differently_are_other_lists() -> None:
    text = (
        "1 Q0 a 1 3 x\n1 Q0 b 2 2 x\n1 0 c 3 1 x\n12 Q0 a 1 3 x\n12 Q0 b 2 2 xy\n12 Q0 d 3 1 xy\n\n12 Q0 a 4 .5 xy\n"
        "1 Q0 a 1 3. y\n1 Q0 longer-name-than-eight 1 -0 y\n1 Q0 longer-name-than-eighty 1 -00.5 y\n"
    )
    assert assert_read_alike(sources(text, "12 Q0 a 1 123456789012345678 z\n12 Q0 e 007 12345678.12345678 z"))


def test_many_names_are_numbered() -> None:
    rng = random.Random(3)
    texts = [
        "".join(f"{q} Q0 {rng.choice('ab')}{i} {i} {-i} e{n}\n" for q in range(3) for i in range(800)) for n in (1, 2)
    ]
    assert assert_read_alike(sources(*texts))


def test_files_of_one_expert_about_different_queries_are_one_expert() -> None:
    given = sources("1 Q0 a 1 2.5 x\n", "2 Q0 a 1 2.5 x\n2 Q0 b 2 1e-3 x")
    fast = dataset(given)
    assert fast is not None
    assert fast.experts == ("x",)
    assert_identical(fast, built(given))


@pytest.mark.parametrize(
    "text",
    [
        "\n",
        "1 Q0 a 1 2.5 x y\n",
        "1 Q0 a 1 2.5\n1 Q0 a 1 2.5 x\n",
        "1 Q0 a 1 nan x\n",
        "1 Q0 a 1 1e999 x\n",
        "1 Q0 a 1 2.5 x\n1 Q0 a 2 2.0 x\n",  # twice in a list
        "1 Q0 a 1 2.5 x\n1 Q0 b 2 3.0 x\n",  # rises
        "1 Q0 a 1 2.5 x\n2 Q0 a 1 2.5 x\n1 Q0 b 2 2.0 x\n",  # a list in two places
    ],
)
def test_what_rows_repair_or_report_makes_no_dataset_at_once(text: str) -> None:
    assert dataset(sources(text)) is None


@pytest.mark.parametrize(
    "text",
    [
        "1  Q0 a 1 2.5 x\n1 Q0  b 2 2 x\n1 Q0 c 3 1 x \n",
        "1 Q0 a\t1 2.5 x\n1 Q0 b 2 2.5 x\n",
        " 1 Q0 a 1 2.5 x\n",
        "1 Q0 a first 2.5 x\n1 Q0 b - +1 x\n",
        "my query\tQ0\ta b\t1\t2.5\tmy tag\nmy query\tQ0\tc\t2\t2\tmy tag\n",
        "1 Q0 a 1 2.5 x\r\n1 Q0 b 2 2 x\r\n",
    ],
)
def test_a_list_goes_on_whatever_the_form_of_its_lines(text: str) -> None:
    assert assert_read_alike(sources(text))
    data = dataset(sources(text))
    assert data is not None
    assert data.rankings.n_lists == 1


def test_two_files_that_share_an_expert_and_a_query_make_no_dataset_at_once() -> None:
    assert dataset(sources("1 Q0 a 1 2.5 x\n", "1 Q0 b 1 2.5 x\n")) is None


def test_a_damaged_run_is_never_read_differently(tmp_path: Path) -> None:
    rng = random.Random(0)
    compared = 0
    for n in range(1500):
        whole = lines(1, "e", shuffled=n % 2 == 0).encode()
        path = tmp_path / "damaged.run"
        path.write_bytes(damaged(whole, rng))
        try:
            given = [load(path)]
        except JuryrankError:
            continue
        compared += assert_read_alike(given)
    assert compared > 100


def test_runs_are_read_at_once(tmp_path: Path) -> None:
    for n in range(3):
        (tmp_path / f"{n}.run").write_text(lines(n, f"e{n}"))
    runs = read_runs(load_sources([tmp_path]), None, {})
    assert runs is not None
    data = runs.dataset()
    assert data is not None
    assert_identical(data, read(tmp_path))


@pytest.mark.parametrize(("folder", "n_files"), [("trec-covid-round1", 12), ("robust03", 3)])
def test_runs_of_trec_participants_are_read_at_once(folder: str, n_files: int, shared_data: Path) -> None:
    given = load_sources(sorted((shared_data / folder / "runs").iterdir())[:n_files])
    assert len(given) == n_files
    assert assert_read_alike(given)
