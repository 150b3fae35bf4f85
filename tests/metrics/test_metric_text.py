"""A metric is a value: equal by content, and the same text everywhere."""

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
     "ERR@20", "RBP", "RBP(p=0.5)", "Success@1", "Success(rel=2)@5"],
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
        ("P", ParameterError, "P needs a cutoff: P@10"),
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
