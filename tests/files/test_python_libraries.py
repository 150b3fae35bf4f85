"""Runs and qrels of other libraries in, in every form and with every mistake; ranx has a file of its own."""

import gzip
from collections import namedtuple
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
from ir_measures import Qrel, ScoredDoc

from juryrank import Borda, evaluate, fit, from_dicts, judging_plan, read
from juryrank.errors import DataError, DataWarning
from juryrank.models import to_json

from .sameness import assert_same, labels_of, slots_of

RUN = {"1": {"d9": 0.5, "d10": 2.0, "d2": 0.5}, "q2": {"d1": -1.0, "d9": 3.0}}
OTHER = {"1": {"d2": 7.0, "d10": 1.0}, "q3": {"d5": 1.0}}
QRELS = {"1": {"d10": 2, "d77": 1}, "q2": {"d1": 0, "d9": 1}}
METRICS = ["nDCG@10", "AP", "RR", "P@5", "R@100"]


class Record(NamedTuple):
    """The fields of a scored document in another order, and another one."""

    iteration: str
    score: float
    doc_id: str
    query_id: str


class Handler:
    """An iterable that is no sequence, as the qrels and scoreddocs of a dataset of ir_datasets."""

    def __init__(self, rows) -> None:
        self.rows = rows

    def __iter__(self):
        return iter(self.rows)


def rows_of(by_query):
    return [(query, item, number) for query, listed in by_query.items() for item, number in listed.items()]


RUN_FORMS = {
    "dict": lambda run: run,
    "tuples": rows_of,
    "lists": lambda run: list(map(list, rows_of(run))),
    "generator": lambda run: (row for row in rows_of(run)),
    "scored-docs": lambda run: [ScoredDoc(*row) for row in rows_of(run)],
    "iterator-of-scored-docs": lambda run: iter([ScoredDoc(*row) for row in rows_of(run)]),
    "records": lambda run: [Record("0", score, item, query) for query, item, score in rows_of(run)],
    "iterable": lambda run: Handler([ScoredDoc(*row) for row in rows_of(run)]),
    "numpy": lambda run: [(np.str_(query), item, np.float32(score)) for query, item, score in rows_of(run)],
}
LABEL_FORMS = {
    "dict": lambda qrels: qrels,
    "tuples": rows_of,
    "generator": lambda qrels: (list(row) for row in rows_of(qrels)),
    "qrels": lambda qrels: [Qrel(*row) for row in rows_of(qrels)],
    "iterator-of-qrels": lambda qrels: (Qrel(*row, iteration="Q0") for row in rows_of(qrels)),
    "iterable": lambda qrels: Handler([Qrel(*row) for row in rows_of(qrels)]),
    "frame": lambda qrels: pl.DataFrame(rows_of(qrels), schema=["query_id", "doc_id", "relevance"], orient="row"),
}
run_forms = pytest.mark.parametrize("form", RUN_FORMS.values(), ids=RUN_FORMS)
label_forms = pytest.mark.parametrize("labels", LABEL_FORMS.values(), ids=LABEL_FORMS)


@run_forms
def test_one_run_is_one_expert(form) -> None:
    assert_same(read(form(RUN)), from_dicts({"run": RUN}))


@run_forms
def test_runs_by_name_are_experts_in_read_and_fit(form) -> None:
    wanted = from_dicts({"a": RUN, "b": OTHER})
    assert_same(read({"a": form(RUN), "b": form(OTHER)}), wanted)
    fitted = fit({"a": form(RUN), "b": OTHER}, "borda-fuse", labels=QRELS)
    assert dict(fitted.expert_weights()) == dict(fit(wanted, "borda-fuse", labels=QRELS).expert_weights())


@label_forms
def test_labels_are_the_same_in_every_form(labels) -> None:
    assert labels_of(read(RUN, labels=labels(QRELS))) == {(q, i): n for q, i, n in rows_of(QRELS)}
    plan = judging_plan({"a": RUN, "b": OTHER}, labels=labels(QRELS), budget=2)
    assert plan.n_judged == 3  # d77 is not ranked


@run_forms
@label_forms
def test_evaluate_takes_what_read_takes(form, labels) -> None:
    wanted = evaluate(RUN, QRELS, METRICS).means()
    assert evaluate(form(RUN), labels(QRELS), METRICS).means() == pytest.approx(wanted, rel=1e-12)
    named = evaluate({"x": form(RUN), "y": {**RUN}}, labels(QRELS), METRICS).means()
    assert named["x"] == named["y"] == pytest.approx(wanted, rel=1e-12)


def test_an_iterator_of_labels_serves_training_and_validation() -> None:
    qrels = [Qrel(*row) for row in rows_of(QRELS)]
    train, valid = {"a": {"1": RUN["1"]}}, {"a": {"q2": RUN["q2"]}}
    found = fit(train, "lambdarank", labels=iter(qrels), valid=valid)
    assert to_json(found) == to_json(fit(train, "lambdarank", labels=qrels, valid=valid))


def test_a_list_of_one_query_stays_a_list() -> None:
    """Dicts of lists in ``evaluate`` are runs, also where the lists are generators, pairs or text of three letters."""
    wanted = evaluate({"1": ["d9", "d10"], "q2": ["d9"]}, QRELS, "AP").means()
    assert evaluate({"1": iter(["d9", "d10"]), "q2": ("d9",)}, QRELS, "AP").means() == wanted
    assert evaluate({"1": [("d9", 2.0), ("d10", 1.5)], "q2": ["d9"]}, QRELS, "AP").means() == wanted


def test_qrels_as_the_source_are_labels() -> None:
    data = read(iter([Qrel(*row) for row in rows_of(QRELS)]))
    assert data.experts == ()
    assert labels_of(data) == {(q, i): n for q, i, n in rows_of(QRELS)}
    assert evaluate(RUN, data, "AP").means() == evaluate(RUN, QRELS, "AP").means()


@run_forms
def test_candidates_get_slots(form) -> None:
    data = read({"a": form(RUN)}, candidates={"q2": ["new"]})
    assert slots_of(data) == {(q, i) for q, i, _ in rows_of(RUN)} | {("q2", "new")}
    assert read(form(RUN), candidates={"q2": ["new"]}).rankings.n_entries == 5


def test_numbers_may_be_ranks() -> None:
    assert read([("q", "a", 2), ("q", "b", 1)], values="rank").rankings.entry_rank.tolist() == [1.0, 2.0]
    assert read({"e": {"q": {"a": 2, "b": 1}}}, values="rank").rankings.items[0] == "a"


def test_scores_need_not_be_sorted_and_items_are_in_natural_order() -> None:
    data = read([ScoredDoc("10", "d10", 1.0), ScoredDoc("9", "x", 1.0), ScoredDoc("10", "d9", 3.0)])
    assert data.queries == ("9", "10")
    assert Borda().fit_predict(data).top() == {"9": ["x"], "10": ["d9", "d10"]}
    tied = read([("q", "10", 1.0), ("q", "9", 1.0)])
    assert Borda().fit_predict(tied).top() == {"q": ["9", "10"]}


def test_whole_numbers_are_names() -> None:
    rows = [(1, 7, 0.5), (1.0, np.int64(8), 0.25)]
    assert_same(read(rows), from_dicts({"run": {"1": {"7": 0.5, "8": 0.25}}}))
    assert_same(read({1: {7: 0.5, 8: 0.25}}), read(rows))
    assert labels_of(read(rows, labels=[(1, 7, 2)])) == {("1", "7"): 2.0}


def test_what_is_dropped_is_counted() -> None:
    rows = [("q", "a", float("nan")), ("q", "b", None), ("q", "c", 1.0), ("q", "d", float("inf"))]
    with pytest.warns(DataWarning, match="3 entries without a score are dropped"):
        assert read(rows).rankings.n_entries == 1
    with pytest.raises(DataError, match="3 entries without a score are dropped; refused because strict"):
        read([ScoredDoc(*row) for row in rows], strict=True)
    with pytest.warns(DataWarning, match="2 entries repeat an item of their list; the best is kept"):
        data = read([ScoredDoc("q", "a", 1.0), ScoredDoc("q", "a", 3.0), ScoredDoc("q", "a", 2.0)])
    assert data.rankings.entry_score is not None
    assert data.rankings.entry_score.tolist() == [3.0]
    with pytest.warns(DataWarning, match="1 items have several labels; the highest is kept"):
        data = read(RUN, labels=[Qrel("1", "d9", 1), Qrel("1", "d9", 2), Qrel("1", "d2", 1), Qrel("1", "d2", 1)])
    assert labels_of(data) == {("1", "d9"): 2.0, ("1", "d2"): 1.0}
    with pytest.warns(DataWarning, match="1 ids are given in several types"):
        read([("q", 7, 1.0), ("p", "7", 1.0)])


Unknown = namedtuple("Unknown", "qid docno score")
Both = namedtuple("Both", "query_id doc_id score relevance")
Query = namedtuple("Query", "query_id text")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([("q", "a")], r"row 1: expected \(query, item, number\), got \('q', 'a'\); from_orders takes orders of items"),
        ([("q", "a", 1.0), ("q", "a", "1")], r"row 2: expected \(query, item, number\), got \('q', 'a', '1'\)"),
        ([("q", "a", 1.0), 7], r"row 2: expected \(query, item, number\), got 7"),
        ([("q", "a", 1.0), ScoredDoc("q", "b", 1.0)], r"row 2: expected \(query, item, number\), got ScoredDoc"),
        ([["a", "b", "c"]], "from_orders takes orders of items"),
        ([(3, 1, 2), (1, 2, 3)], r"whole numbers may be \(query, item, score\) or orders of items; make the scores fl"),
        ([(None, "a", 1.0)], "row 1: the query must be text or a whole number, got None"),
        ([("q", 7.5, 1.0)], "row 1: the item must be text or a whole number, got 7.5"),
        ([("q", True, 1.0)], "row 1: the item must be text or a whole number, got True"),
        ([(1, "a", 1.0), ("1", "b", 1.0)], "query '1' is given twice, as text and as a number"),
        ([ScoredDoc("q", "a", "best")], "the score of item 'a' must be a number, got 'best'"),
        ([Unknown("q", "a", 1.0)], "row 1: expected a record with query_id, doc_id and score, got Unknown"),
        ([Query("q", "text")], "row 1: expected a record with query_id, doc_id and score or relevance, got Query"),
        ([Both("q", "a", 1.0, 1)], "a record has a score or a relevance, and Both has both"),
        ([ScoredDoc("q", "a", 1.0), Qrel("q", "b", 1)], "row 2: expected a record with query_id, doc_id and score"),
        (ScoredDoc("q", "a", 1.0), "read takes a path, .*, got ScoredDoc"),
        ({"q": {"a": 1.0}, "e": {"q": {"a": 1.0}}}, "a dict must be .*, but 'q' has scores of items and 'e' has not"),
        ({"q": {"a": 1.0}, "e": ["a"]}, "a dict must be .*, but 'q' has scores of items and 'e' has not"),
        ({"q": ["a", "b"]}, r"expert 'q': \{query: list\} is needed, got list"),
        ({"e": [Qrel("q", "a", 1)]}, "expert 'e': rankings need a score, and these are labels; give them with labels="),
        ({"e": pl.DataFrame({"item": ["a"], "rank": [1]}), "f": RUN}, "expert 'e': a frame among other runs needs col"),
        ({}, "nothing to read"),
        (iter([]), "read takes a path, .*, got list"),
        ({("q", "a", 1.0)}, "read takes a path, .*, got set"),
        (from_dicts({"e": RUN}), "read takes a path, .*, got Dataset"),
    ],
)  # fmt: skip
def test_what_is_no_ranking_is_one_line_of_error(source: object, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read(source)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([ScoredDoc("1", "d9", 1.0)], "labels: labels need a relevance, and these are scores of a ranking"),
        ([("1", "d9", float("nan"))], "labels must be numbers .* leave out the labels of items that are not judged"),
        ([("1", "0", "d9", 1)], r"labels: row 1: expected \(query, item, number\), got \('1', '0', 'd9', 1\)"),
        ([Qrel("1", "d9", "good")], "the label of item 'd9' must be a number, got 'good'"),
        ([Qrel("x", "d9", 1)], "none of the 1 queries with labels is in"),
        (7, "read takes a path, .*, got int"),
    ],
)
@pytest.mark.parametrize("take", [lambda labels: read(RUN, labels=labels), lambda labels: evaluate(RUN, labels, "AP")])
def test_what_are_no_labels_is_one_line_of_error(take, labels: object, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        take(labels)
    assert "\n" not in str(caught.value)


def test_columns_and_format_are_for_tables() -> None:
    for option in ({"columns": {"query": "q"}}, {"format": "table"}):
        with pytest.raises(DataError, match="format= and columns= are for files and dataframes"):
            read(RUN, **option)


@pytest.mark.parametrize("ending", [".tsv", ".tsv.gz"])
def test_qrels_of_beir(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"test{ending}"
    text = "query-id\tcorpus-id\tscore\n" + "".join(f"{q}\t{i}\t{n}\n" for q, i, n in rows_of(QRELS))
    path.write_bytes(gzip.compress(text.encode()) if ending.endswith(".gz") else text.encode())
    assert labels_of(read(RUN, labels=path)) == labels_of(read(RUN, labels=QRELS)) == labels_of(read(path))
    assert evaluate(RUN, path, METRICS).means() == pytest.approx(evaluate(RUN, QRELS, METRICS).means())


def test_frames_by_name_are_experts() -> None:
    frames = {
        name: pl.DataFrame(rows_of(run), schema=["query_id", "doc_id", "score"], orient="row")
        for name, run in (("a", RUN), ("b", OTHER))
    }
    assert_same(read(frames), read({"a": RUN, "b": OTHER}))
    assert fit(frames, "borda").predict(read(frames)).top() == Borda().fit_predict(read(frames)).top()
    assert_same(read({"a": frames["a"], "b": OTHER}), read({"a": RUN, "b": OTHER}))
    with pytest.raises(DataError, match="expert 'a': its frame has a column of experts, too"):
        read({"a": frames["a"].with_columns(run=pl.lit("x"))})
    with pytest.raises(DataError, match="could all be the query; choose one"):
        read({"a": frames["a"], "b": frames["b"].rename({"query_id": "qid"})})


def test_records_of_ir_datasets() -> None:
    formats = pytest.importorskip("ir_datasets.formats")
    docs = [formats.GenericScoredDoc(*row) for row in rows_of(RUN)]
    assert_same(read(docs), read(RUN))
    for qrels in (
        [formats.GenericQrel(*row) for row in rows_of(QRELS)],
        [formats.TrecQrel(*row, "0") for row in rows_of(QRELS)],
        [formats.TrecSubQrel(*row, "1") for row in rows_of(QRELS)],
    ):
        assert evaluate(iter(docs), iter(qrels), METRICS).means() == evaluate(RUN, QRELS, METRICS).means()
