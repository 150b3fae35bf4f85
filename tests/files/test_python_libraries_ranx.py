"""Runs and Qrels of ranx in, and a consensus out as a Run that ranx evaluates as we do."""

from importlib.resources import files

import numpy as np
import pytest

pytest.importorskip("ranx")

import ranx

from juryrank import RRF, Borda, evaluate, fit, from_dicts, judging_plan, read
from juryrank.data import Consensus, Rankings
from juryrank.data.ties import falling
from juryrank.errors import DataError, DataWarning
from juryrank.io.dataset_frames import labels_frame

from .sameness import assert_same, labels_of

pytestmark = [
    pytest.mark.slow,  # ranx compiles on its first use
    pytest.mark.filterwarnings("ignore:.*unsafe cast from uint64 to int64"),  # of Numba, in code of ranx
]

# ranx compiles anew for ids of another length, so all have 8 characters, as those of the demo, and for each metric.
RUN = {"q1": {"aaaaaaaa": 0.5, "bbbbbbbb": 2.0, "cccccccc": 0.5}, "q2": {"aaaaaaaa": -1.0, "dddddddd": 3.0}}
OTHER = {"q1": {"cccccccc": 7.0, "bbbbbbbb": 1.0}, "q3": {"eeeeeeee": 1.0}}
QRELS = {"q1": {"bbbbbbbb": 2, "xxxxxxxx": 1}, "q2": {"aaaaaaaa": 0, "dddddddd": 1}}
NAMES = {"ndcg@10": "nDCG@10", "map": "AP", "mrr": "RR", "recall@100": "R@100"}


def test_a_run_is_an_expert_of_its_name() -> None:
    assert_same(read(ranx.Run(RUN, name="bm25")), from_dicts({"bm25": RUN}))
    assert_same(read(ranx.Run(RUN)), from_dicts({"run": RUN}))


def test_several_runs_are_experts() -> None:
    a, b = ranx.Run(RUN, name="a"), ranx.Run(OTHER, name="b")
    wanted = from_dicts({"a": RUN, "b": OTHER})
    assert_same(read([a, b]), wanted)
    assert_same(read(iter([a, b])), wanted)
    assert_same(read({"a": ranx.Run(RUN), "b": OTHER}), wanted)
    assert fit([a, b], "borda").predict(wanted).to_dict() == Borda().fit_predict(wanted).to_dict()


@pytest.mark.parametrize("names", [(None, "b"), ("b", "b"), (None, None)])
def test_runs_of_a_list_need_names(names) -> None:
    with pytest.raises(DataError, match="each Run of a list needs a name of its own, or give"):
        read([ranx.Run(run, name=name) for run, name in zip((RUN, OTHER), names, strict=True)])


def test_an_unsorted_run_and_scores_that_are_not_numbers() -> None:
    run = ranx.Run(name="x")
    for query, item, score in (("q", "a", 1.0), ("q", "b", 3.0), ("q", "c", float("nan")), ("p", "a", 1.0)):
        run.add_score(query, item, score)
    assert not run.sorted
    with pytest.warns(DataWarning, match="1 entries without a score are dropped"):
        data = read(run)
    assert Borda().fit_predict(data).top() == {"p": ["a"], "q": ["b", "a"]}


def test_qrels_are_labels_everywhere() -> None:
    qrels = ranx.Qrels(QRELS)
    assert labels_of(read(RUN, labels=qrels)) == labels_of(read(RUN, labels=QRELS)) == labels_of(read(qrels))
    assert judging_plan({"a": RUN}, labels=qrels, budget=1).n_judged == 3
    wanted = evaluate(RUN, QRELS, ["AP", "nDCG"]).means()
    assert evaluate(ranx.Run(RUN), qrels, ["AP", "nDCG"]).means() == wanted
    assert evaluate({"x": ranx.Run(RUN)}, qrels, ["AP", "nDCG"]).means() == {"x": wanted}


def test_runs_and_qrels_are_not_mistaken_for_each_other() -> None:
    with pytest.raises(DataError, match="labels: labels need a relevance, and these are scores of a ranking"):
        read(RUN, labels=ranx.Run(RUN))
    with pytest.raises(DataError, match="expert 'a': rankings need a score, and these are labels"):
        read({"a": ranx.Qrels(QRELS)})
    with pytest.raises(DataError, match="read takes a path"):
        read([ranx.Run(RUN, name="a"), ranx.Qrels(QRELS)])


@pytest.fixture(scope="module")
def consensus() -> Consensus:
    demo = files("juryrank") / "demo" / "trec-covid"
    return RRF().fit_predict(read(str(demo / "runs.parquet")))


@pytest.mark.parametrize("comparable", [False, True])
def test_ranx_evaluates_our_run_as_we_do(consensus: Consensus, comparable: bool) -> None:
    demo = files("juryrank") / "demo" / "trec-covid"
    labels = read(str(demo / "qrels.parquet"))
    qrels: dict[str, dict[str, int]] = {}
    for query, item, label in labels_frame(labels).iter_rows():
        qrels.setdefault(query, {})[item] = int(label)
    theirs = ranx.evaluate(ranx.Qrels(qrels), consensus.to_ranx(), list(NAMES), make_comparable=comparable)
    ours = evaluate(consensus, qrels, list(NAMES.values()))
    for their_name, our_name in NAMES.items():
        assert theirs[their_name] == pytest.approx(ours[our_name], abs=1e-12)


def test_the_run_has_the_order_of_trec_eval_and_the_same_scores(consensus: Consensus) -> None:
    run = consensus.to_ranx(name="fused")
    assert run.name == "fused"
    wanted = consensus.to_dict()
    for query, listed in run.to_dict().items():
        assert listed.keys() == wanted[query].keys()
        for item, score in listed.items():
            assert score == pytest.approx(wanted[query][item], rel=1e-6)  # as in single precision
        order = sorted(wanted[query], key=lambda item, of=wanted[query]: (np.float32(of[item]), item), reverse=True)
        assert list(listed) == order
        assert len(set(listed.values())) == len(listed)


def test_our_run_comes_back_in_its_order(consensus: Consensus) -> None:
    run = consensus.to_ranx()
    back = read(run)
    assert back.experts == ("juryrank",)
    assert Borda().fit_predict(back).top(5000) == {query: list(listed) for query, listed in run.to_dict().items()}


def test_a_query_without_items_is_left_out_of_the_run() -> None:
    r = from_dicts({"a": {"q1": ["xxxxxxxx"], "q2": ["yyyyyyyy"]}}).rankings
    empty = Rankings(
        queries=(*r.queries, "q3"),
        experts=r.experts,
        items=r.items,
        slot_ptr=np.append(r.slot_ptr, r.n_slots),
        slot_item=r.slot_item,
        list_ptr=np.append(r.list_ptr, r.list_ptr[-1]),
        list_expert=r.list_expert,
        list_weight=r.list_weight,
        entry_ptr=r.entry_ptr,
        entry_slot=r.entry_slot,
        entry_rank=r.entry_rank,
    )
    assert list(Consensus(empty, np.zeros(2)).to_ranx().keys()) == ["q1", "q2"]


def test_scores_fall_and_those_that_fall_already_stay() -> None:
    scores = np.array([1.0, 1.0, 1.0, 0.5, 3.0, 0.0, 0.0, -1e300])
    found = falling(np.array([0, 4, 8]), scores)
    assert found[[0, 3, 4, 5, 7]].tolist() == [1.0, 0.5, 3.0, 0.0, -1e300]
    assert (np.diff(found[:4]) < 0).all()
    assert (np.diff(found[4:]) < 0).all()
    assert found[1] == np.nextafter(1.0, 0.0)
    assert abs(found[6]) < 1e-300
