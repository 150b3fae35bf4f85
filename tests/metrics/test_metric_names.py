"""A metric is a value: equal by content, and the same text everywhere."""

import re
from pathlib import Path

import ir_measures
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

import juryrank.metrics
from juryrank.cli import completion
from juryrank.errors import ParameterError, UnknownNameError
from juryrank.metrics import (
    ALIASES,
    ERR,
    METRICS,
    NDCG,
    RBO,
    RBP,
    AveragePrecision,
    KendallTau,
    Precision,
    ReciprocalRank,
    Success,
    parse_metric,
)
from juryrank.params import parameters

TREC_NAMES = {
    "nDCG": "ndcg", "nDCG@10": "ndcg_cut_10", "AP": "map", "AP@10": "map_cut_10", "P@5": "P_5", "R@5": "recall_5",
    "R@1000": "recall_1000", "RR": "recip_rank", "Success@5": "success_5", "Bpref": "bpref", "infAP": "infAP",
}  # fmt: skip
VALUES = {
    "cutoff": st.integers(1, 2000),
    "rel": st.integers(1, 9),
    "dcg": st.sampled_from(["log2", "exp-log2"]),
    "variant": st.sampled_from(["a", "b"]),
    "p": st.floats(0.01, 0.99),
    "max_rel": st.integers(1, 20),
}


@st.composite
def metrics(draw):
    cls = METRICS[draw(st.sampled_from(sorted(METRICS)))]
    names = [f.name for f in parameters(cls)]
    kept = [n for n in names if (n == "cutoff" and cls.needs_cutoff) or draw(st.booleans())]
    return cls(**{name: draw(VALUES[name]) for name in kept})


@given(metrics())
def test_a_metric_is_read_back_from_its_text(metric):
    assert parse_metric(str(metric)) == metric
    assert hash(parse_metric(str(metric))) == hash(metric)


@given(metrics())
def test_case_and_blanks_do_not_matter(metric):
    name, _, rest = str(metric).partition("(")
    assert parse_metric(f"  {name.upper()}{'(' + rest if rest else ''} ") == metric


@pytest.mark.parametrize(
    "text",
    ["nDCG@10", "nDCG(dcg='exp-log2')@10", "nDCG", "P@5", "P(rel=2)@5", "R@100", "AP", "AP(rel=2)@100", "RR", "RR@10",
     "ERR@20", "RBP", "RBP(p=0.5)", "Success@1", "Success(rel=2)@5", "Bpref", "Bpref(rel=2)", "infAP", "Judged@10"],
)  # fmt: skip
def test_text_is_that_of_ir_measures(text):
    assert str(parse_metric(text)) == str(ir_measures.parse_measure(text)) == text


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("ndcg@10", NDCG(cutoff=10)),
        ("nDCG(dcg=exp-log2)@10", NDCG(cutoff=10, dcg="exp-log2")),
        ("P(rel=2) @ 5", Precision(cutoff=5, rel=2)),
        ("map", AveragePrecision()),
        ("MRR@10", ReciprocalRank(cutoff=10)),
        ("hits@3", Success(cutoff=3)),
        ("RBP(p=0.8)", RBP()),
        ("RBO(p=0.9)", RBO(p=0.9)),
        ("tau(variant='a')", KendallTau(variant="a")),
        ("ERR(max_rel=2)@20", ERR(cutoff=20, max_rel=2)),
    ],
)
def test_texts_mean_what_they_say(text, metric):
    assert parse_metric(text) == metric


def test_a_metric_is_itself_and_takes_a_cutoff_by_at():
    assert parse_metric(NDCG() @ 10) == NDCG(cutoff=10)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("nDGC@10", UnknownNameError, "no metric 'nDGC'; did you mean 'nDCG'"),
        ("P", ParameterError, "P needs a cutoff, for example P@10"),
        ("P@0", ParameterError, "cutoff of Precision must be >= 1, got 0"),
        ("P@2.5", ParameterError, "must be a whole number, got 2.5"),
        ("P@x", ParameterError, "must be a number, got 'x'"),
        ("P(rel=0)@5", ParameterError, "rel of Precision must be >= 1"),
        ("AP(depth=3)", ParameterError, "AP has no parameter 'depth'; it has cutoff, rel"),
        ("AP(3)", ParameterError, "written name=value, got '3'"),
        ("RBO@10", ParameterError, "RBO has no parameter 'cutoff'; it has p"),
        ("RBP(p=1.5)", ParameterError, "p of RBP must be <= "),
        ("nDCG(dcg='ln')@10", ParameterError, "dcg of NDCG must be one of log2, exp-log2"),
        ("", ParameterError, "a metric is written"),
        ("nDCG@10@5", ParameterError, "a metric is written"),
    ],
)
def test_a_wrong_text_says_what_is_wrong(text, error, message):
    with pytest.raises(error) as caught:
        parse_metric(text)
    assert message in str(caught.value)


def test_every_alias_leads_to_a_metric():
    assert set(ALIASES.values()) <= set(METRICS)
    assert not {name.lower() for name in METRICS} & set(ALIASES)


@pytest.mark.parametrize(("ours", "theirs"), TREC_NAMES.items())
def test_metrics_may_be_spelled_as_trec_eval_does(ours, theirs):
    dotted = re.sub(r"_(?=\d)", ".", theirs)
    for text in (theirs, dotted, theirs.upper(), f" {theirs} "):
        assert str(parse_metric(text)) == ours


@pytest.mark.parametrize("name", sorted(pytrec_eval.supported_measures))
def test_every_metric_of_trec_eval_is_read_or_refused_by_name(name):
    if name in TREC_NAMES.values():
        assert parse_metric(name)
    elif f"{name}_5" in TREC_NAMES.values() or f"{name}_10" in TREC_NAMES.values():
        assert parse_metric(f"{name}_1000").cutoff == 1000
        with pytest.raises(ParameterError, match="needs a cutoff"):
            parse_metric(name)
    else:
        with pytest.raises(UnknownNameError, match=f"^{name} of trec_eval is not available; known: AP, Bpref, "):
            parse_metric(name)


@pytest.mark.parametrize("name", ["set_F.0.5", "relative_P_10", "iprec_at_recall_0.10", "Rndcg", "rprec"])
def test_a_metric_of_trec_eval_with_a_number_is_refused_by_name_too(name):
    with pytest.raises(UnknownNameError, match=f"{name} of trec_eval is not available"):
        parse_metric(name)


@pytest.mark.parametrize("cls", METRICS.values())
def test_one_line_adds_a_metric_to_the_catalogue(cls):
    code = Path(juryrank.metrics.__file__).read_text().partition("ALIASES")[0]
    lines = [line for line in code.splitlines() if re.search(rf"\b{cls.__name__}\b", line)]
    assert lines == [f"from {cls.__module__} import {cls.__name__} as {cls.__name__}"]
    wanted = f"{cls.name}@10" if cls.needs_cutoff else cls.name
    assert type(parse_metric(wanted)) is cls
    assert wanted in completion.metrics(cls.name)
