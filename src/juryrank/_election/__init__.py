"""Elections: winners by several rules side by side, rounds, pairwise majorities, and why the rules disagree."""

from juryrank._election.contests import Elections, elections
from juryrank._election.election import election
from juryrank._election.result import Election
from juryrank._election.rule_result import RuleResult

__all__ = ["Election", "Elections", "RuleResult", "election", "elections"]
