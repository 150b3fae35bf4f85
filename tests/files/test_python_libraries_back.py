"""A consensus back in other libraries, whose metrics and ours agree; their names of metrics."""

from importlib.resources import files

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from ir_measures import AP, ERR, RBP, RR, Bpref, Judged, P, Qrel, R, Rprec, ScoredDoc, Success, infAP, nDCG

from conftest import random_dataset
from juryrank import RRF, Borda, compare, evaluate, from_dicts, parse_metric, read
from juryrank.data import Consensus, Dataset
from juryrank.errors import MissingExtraError, ParameterError, UnknownNameError
from juryrank.io.dataset_frames import entries_of, labels_frame

DEMO = files("juryrank") / "demo" / "trec-covid"
TREC_NAMES = [
    "ndcg_cut_10", "ndcg_cut.100", "ndcg", "map", "map_cut_10", "recip_rank", "P_5", "P.20", "recall_100", "success_10",
    "bpref", "infAP",
]  # fmt: skip
MEASURES = [nDCG @ 10, AP, AP(rel=2), RR, P @ 5, P(rel=2) @ 10, R @ 100, Success @ 1, Bpref, infAP, Judged @ 10]


@pytest.fixture(scope="module")
def data() -> Dataset:
    return read(str(DEMO / "runs.parquet"), labels=str(DEMO / "qrels.parquet"))


@pytest.fixture(scope="module")
def consensus(data: Dataset) -> Consensus:
    return RRF().fit_predict(data)  # with many ties


@pytest.fixture(scope="module")
def qrels(data: Dataset) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for query, item, label in labels_frame(data).iter_rows():
        found.setdefault(query, {})[item] = int(label)
    return found


@pytest.mark.parametrize("name", TREC_NAMES)
def test_metrics_by_the_names_of_trec_eval_have_its_values(consensus: Consensus, qrels, name: str) -> None:
    key = name.replace(".", "_")
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {name.replace("_1", ".1")}).evaluate(consensus.to_dict())
    found = evaluate(consensus, qrels, name)
    for query, value in zip(found.queries, next(iter(found.per_query.values())), strict=True):
        assert value == pytest.approx(theirs[query][key], abs=1e-12)
    assert found[name] == pytest.approx(np.mean([values[key] for values in theirs.values()]), abs=1e-12)


def test_ties_are_in_the_demo(consensus: Consensus) -> None:
    """Or the tests here would not show how they are handled."""
    assert sum(len(listed) - len(set(listed.values())) for listed in consensus.to_dict().values()) > 1000


def test_measures_of_ir_measures_are_metrics_and_have_the_same_values(consensus: Consensus, qrels) -> None:
    rows = [Qrel(query, item, label) for query, judged in qrels.items() for item, label in judged.items()]
    theirs = ir_measures.calc_aggregate(MEASURES, rows, consensus.to_scored_docs())
    found = evaluate(consensus.to_scored_docs(), iter(rows), MEASURES)
    assert found.means() == pytest.approx({str(measure): value for measure, value in theirs.items()}, abs=1e-12)
    by_dict = ir_measures.calc_aggregate([nDCG @ 10], qrels, consensus.to_dict())
    assert evaluate(consensus, qrels, nDCG @ 10)[nDCG @ 10] == pytest.approx(by_dict[nDCG @ 10], abs=1e-12)


def test_a_measure_is_the_metric_of_the_same_text() -> None:
    for measure in (*MEASURES, ERR @ 20, RBP(p=0.5), nDCG(dcg="exp-log2") @ 5):
        assert str(parse_metric(measure)) == str(measure)
    with pytest.raises(UnknownNameError, match="Rprec of trec_eval is not available"):
        parse_metric(Rprec)
    with pytest.raises(ParameterError, match="AP has no parameter 'judged_only'"):
        evaluate({"q": {"a": 1.0}}, {"q": {"a": 1}}, [AP(judged_only=True)])
    data = from_dicts({"a": {"q": ["x", "y"]}, "b": {"q": ["y", "x"]}}, labels={"q": {"x": 1}})
    assert compare(["rrf", "borda"], data, nDCG @ 10).mean("borda", "nDCG@10") == pytest.approx(
        compare(["rrf", "borda"], data, "ndcg_cut_10").mean("borda", "nDCG@10")
    )


@pytest.mark.parametrize("name", ["judged_10", "Judged.10", "Judged@10"])
def test_the_share_of_judged_items_has_the_name_of_pyserini_too(name: str) -> None:
    assert str(parse_metric(name)) == "Judged@10"


def tied(seed: int) -> Consensus:
    return Borda().fit_predict(random_dataset(seed, n_queries=4))


@pytest.mark.parametrize("seed", range(5))
def test_order_and_ties_survive_the_way_out_and_back(seed: int) -> None:
    ours = tied(seed)
    wanted = ours.to_dict()
    docs = ours.to_scored_docs()
    assert [tuple(doc) for doc in docs] == [(q, i, s) for q, listed in wanted.items() for i, s in listed.items()]
    assert docs[0]._fields == ScoredDoc._fields
    frame = ours.to_pandas()
    assert frame.columns.tolist() == ["query", "item", "rank", "score"]
    assert list(map(tuple, frame.to_numpy().tolist())) == ours.to_frame().rows()
    for back in (read(docs), read(wanted), read(iter(docs)), read([tuple(doc) for doc in docs]), read(frame)):
        rows = entries_of(back.rankings).select("query", "item", "score").iter_rows()
        assert {(query, item): score for query, item, score in rows} == {(q, i): s for q, i, s in docs}


def test_the_first_items_alone() -> None:
    ours = tied(0)
    best = ours.top(2)
    kept: dict[str, list[str]] = {}
    for query, item, _ in ours.to_scored_docs(top=2):
        kept.setdefault(query, []).append(item)
    assert kept == best
    assert ours.to_pandas(top=2)["item"].tolist() == [item for items in best.values() for item in items]
    assert ours.to_frame(top=2)["rank"].max() == 2


def test_the_order_of_trec_eval_is_that_of_its_definition() -> None:
    ours = tied(3)
    for query, listed in ours.to_dict().items():
        slots = ours[query].trec_order
        r = ours[query].rankings
        wanted = sorted(listed, key=lambda item, of=listed: (np.float32(of[item]), item.encode()), reverse=True)
        assert r.items[r.slot_item[slots]].tolist() == wanted


def test_without_the_library_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pandas", "ranx"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
        with pytest.raises(MissingExtraError, match=f"^to_{name} needs {name}: pip install {name}$"):
            getattr(tied(0), f"to_{name}")()
