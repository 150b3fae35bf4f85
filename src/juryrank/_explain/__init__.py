"""Explain a fitted model: expert weights, contributions to each item, agreement of experts, leave-one-out."""

from juryrank._explain.contributions import contributions
from juryrank._explain.explain import explain
from juryrank._explain.explanation import Explanation

__all__ = ["Explanation", "contributions", "explain"]
