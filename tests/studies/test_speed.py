"""The benchmark compares like with like: on small data, peers give what we give, and differences are noticed."""

import json
from collections.abc import Callable
from functools import partial
from itertools import combinations, pairwise, permutations
from pathlib import Path

import numpy as np
import pytest

import juryrank
from juryrank.errors import UnknownNameError
from peers import peer as installed_peer
from studies import speed
from studies.speed import files, queries, scaling
from studies.speed.agreement import compare_scores, compare_values
from studies.speed.clock import Effort, Repeated, Timing, time_call
from studies.speed.evaluation import METRICS as THREE
from studies.speed.evaluation import pytrec_values, without_ties
from studies.speed.inputs import Inputs, orders_of, random_dataset
from studies.speed.kemeny import every_order, ours, plain_milp
from studies.speed.leaderboard import plackett_luce
from studies.speed.peers import Peer, load, silent
from studies.speed.single_query import loop_without_tie_order, plain_loop, plain_loop_of_scores, random_lists
from studies.speed.table import Benchmark, Row, Series, in_turns, side_by_side
from studies.speed.targets import at_least


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    return Inputs(random_dataset(n_queries=12, n_experts=4), "twelve queries", tmp_path_factory.mktemp("bench"))


def peer(package: str) -> None:
    if load(package) is None:
        pytest.skip(f"{package} is not installed")


def test_pytrec_eval_gives_our_values(inputs: Inputs) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    consensus = without_ties(juryrank.method("borda").fit_predict(inputs.data))
    values = juryrank.evaluate(consensus, inputs.data, THREE).values[0]
    assert compare_values(values, pytrec_values(pytrec_eval, inputs.labels, consensus.to_dict())())[1]


def test_the_plain_loops_give_what_fuse_gives() -> None:
    lists = random_lists(2, 30)
    scored = {expert: {item: -float(n) for n, item in enumerate(items)} for expert, items in lists.items()}
    assert list(juryrank.fuse(lists).items()) == list(plain_loop(lists).items())
    assert list(juryrank.fuse(scored).items()) == list(plain_loop_of_scores(scored).items())
    assert juryrank.fuse(lists) == loop_without_tie_order(lists)


@pytest.mark.parametrize("kind", ["mallows", "uniform"])
def test_the_plain_integer_program_finds_the_best_of_all_orders(kind: str) -> None:
    orders = orders_of(kind, 5, seed=3)
    disagreements = [
        sum(order.index(b) < order.index(a) for order in orders for a, b in combinations(candidate, 2))
        for candidate in permutations(range(5))
    ]
    assert plain_milp(orders) == ours(orders) == min(disagreements)


def test_choix_finds_our_strengths_whatever_the_order_of_the_names() -> None:
    peer("choix")
    (row,) = plackett_luce(n_lists=300, n_items=20, length=5)
    assert row.agrees


def test_pref_voting_finds_as_many_disagreements() -> None:
    installed_peer("pref_voting.other_methods")
    orders = orders_of("uniform", 5, seed=4)
    with silent():
        theirs = every_order(orders)
    assert theirs == ours(orders)


def test_agreement_is_said_as_strongly_as_it_is_true(inputs: Inputs) -> None:
    scores = juryrank.method("borda").fit_predict(inputs.data).to_dict()
    stretched = {q: {item: 2 * s + 3 for item, s in of.items()} for q, of in scores.items()}
    reversed_ = {q: {item: -s for item, s in of.items()} for q, of in scores.items()}
    fewer = {q: dict(list(of.items())[1:]) for q, of in scores.items()}
    told = [compare_scores(scores, other, inputs.data) for other in (scores, stretched, reversed_, fewer)]
    assert [agrees for _, agrees in told] == [True, True, None, False]
    assert told[2][0].startswith("τ-b -1.00")


def test_random_data_has_the_shape_of_the_real_one() -> None:
    data = random_dataset()
    assert (len(data), len(data.experts)) == (784, 25)
    assert data.rankings.n_entries == pytest.approx(132_955, rel=0.2)


def test_the_first_call_is_timed_apart_and_a_slow_call_is_not_repeated() -> None:
    calls: list[int] = []
    timing, result = time_call(lambda: calls.append(1) or len(calls), most=3)
    assert (timing.runs, result, len(calls)) == (3, 4, 4)
    assert time_call(lambda: None, budget=0.0)[0].runs == 1


def test_a_peer_that_is_not_installed_is_skipped_by_name(inputs: Inputs) -> None:
    absent = Peer("no_such_package", lambda package: lambda: None)
    rows = side_by_side("a task", lambda: 1, [absent], lambda a, b: ("equal", True))
    report = Benchmark(rows, [], "nothing.", 0.0, 0.0)
    assert "skipped: no_such_package is not installed" in str(report)
    assert report.to_dict()["rows"][0]["ratio"] is None


def test_a_ratio_that_only_a_busy_machine_gives_does_not_meet_a_target() -> None:
    idle = Row("a task", "peer", Timing(None, 1.0, 1, 1.0), Timing(None, 30.0, 1, 25.0), "equal", True)
    busy = Row("a task", "peer", Timing(None, 1.0, 1, 1.0), Timing(None, 50.0, 1, 15.0), "equal", True)
    assert [at_least("≥ 20×", [row], ("a task",), "peer", 20)[0].met for row in (idle, busy)] == [True, False]


@pytest.mark.parametrize("package", ["polars", "duckdb"])
def test_a_query_over_files_gives_our_scores(package: str, inputs: Inputs, tmp_path: Path) -> None:
    peer(package)
    theirs = {"polars": queries.polars_to_file, "duckdb": queries.duckdb_to_file}[package]
    found = theirs(sorted(inputs.run_files.iterdir()), tmp_path / "theirs.run")
    ours = files.file_to_file(inputs.run_files, tmp_path / "ours.run")
    assert compare_scores(files.scores_in(ours), files.scores_in(found), inputs.data)[1]


def test_a_slope_is_that_of_the_large_sizes() -> None:
    sizes = [1_000, 10_000, 100_000, 1_000_000]
    assert Series("linear", sizes, [0.009, 0.01, 0.1, 1.0], [None] * 4).slope == pytest.approx(1.0)
    assert Series("square", sizes, [0.0, 0.01, 1.0, 100.0], [None] * 4).slope == pytest.approx(2.0)


def test_memory_is_the_peak_of_a_call() -> None:
    timing, _ = time_call(lambda: np.ones(4_000_000).sum(), most=2)
    if timing.memory is None:
        pytest.skip("this system does not tell the peak of a process")
    assert 25_000_000 < timing.memory < 80_000_000


@pytest.mark.parametrize("name", scaling.without_labels())
def test_every_method_ranks_the_data_that_grows(name: str) -> None:
    data = scaling.growing_dataset(2)
    assert juryrank.method(name).fit(data).predict(data).scores.shape == (2 * scaling.POOL,)


def test_growing_data_has_the_entries_it_should_have() -> None:
    data = scaling.growing_dataset(10).rankings
    assert data.n_entries == 10 * scaling.N_EXPERTS * scaling.LENGTH
    assert all(len(set(data.entry_slot[lo:hi])) == hi - lo for lo, hi in pairwise(data.entry_ptr))


def test_a_report_is_written_as_text_numbers_and_pictures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    spent = Timing(0.2, 0.1, 3, 0.1, 1 << 20)
    series = Series("rrf", [1_000, 10_000], [0.001, 0.01], [None, None])
    rows = [
        Row("a task", "a peer", spent, Timing(None, 1.0, 1), "equal", True, 0.05),
        Row("b", "–", spent, None, "", series=series),
    ]
    written = speed.write(Benchmark(rows, [], "nothing.", 0.0, 0.0), tmp_path)
    assert [path.name for path in written] == ["speed.md", "speed.json", "scaling.svg", "speed.svg"]
    row = json.loads(written[1].read_text())["rows"][0]
    assert (row["ratio"], row["limit"], row["ours"]["memory"]) == (10.0, 0.05, 1 << 20)
    assert " 10× | " in written[0].read_text()


def test_a_task_that_does_not_exist_is_said(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="no task 'fussion'"):
        speed.run(["fussion"], tmp_path)


def test_a_peer_that_breaks_does_not_take_the_others_along() -> None:
    def broken(package: object) -> Callable[[], None]:
        def call() -> None:
            raise RuntimeError("out of order")

        return call

    peers = [Peer("json", broken), Peer("json", lambda package: lambda: 1, title="whole")]
    rows = side_by_side("a task", lambda: 1, peers, lambda a, b: ("equal", a == b))
    assert [row.agreement for row in rows] == ["failed: RuntimeError: out of order", "equal"]


def test_a_task_that_fails_is_a_target_that_is_not_met(tmp_path: Path) -> None:
    def fail(inputs: Inputs, effort: Effort) -> None:
        raise RuntimeError("out of order")

    report = speed.measure({"kemeny": fail}, Inputs(random_dataset(2, 2), "two queries.", tmp_path))
    assert [(t.measured, t.met) for t in report.targets] == [("RuntimeError: out of order", False)]


def test_calls_are_timed_in_turns_and_a_slow_one_stops_first() -> None:
    log: list[str] = []
    quick, slow = (Repeated(partial(log.append, name), most=most) for name, most in (("quick", 4), ("slow", 2)))
    in_turns(quick, slow)
    assert log == ["quick", "slow"] * 3 + ["quick"] * 2
    assert (quick.timing.runs, slow.timing.runs) == (4, 2)


def test_a_short_call_runs_for_the_time_of_a_batch() -> None:
    calls: list[int] = []
    repeated = Repeated(lambda: calls.append(1), most=1, batch=0.01)
    assert [repeated.again(), repeated.again()] == [True, False]
    assert len(calls) > 2
    assert repeated.timing.seconds < 0.01
