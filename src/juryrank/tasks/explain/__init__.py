"""Explain a fitted model: expert weights, contributions to each item, agreement of experts, leave-one-out."""

from juryrank.tasks.explain.contributions import contributions
from juryrank.tasks.explain.explain import explain
from juryrank.tasks.explain.explanation import Explanation

__all__ = ["Explanation", "contributions", "explain"]
